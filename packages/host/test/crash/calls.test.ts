/**
 * A real host is killed with SIGKILL while a call runs. Afterwards the call says that it was interrupted while running,
 * and everything that a client had seen of it is there: the approval, the output, what its terminal showed.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Client, connect, type OpenSession, webSocketTransport } from '@atrium/client';
import type { SessionState as OlderSessionState } from '@atrium/protocol';
import { type ChatState, defaultChatUri, type ToolCallState } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { crashFolder, HostProcess } from '../support/crash-child.js';
import { snapshotsOf } from '../support/crash-observer.js';

const SESSION = 'ahp-session:/calls';
const PATIENCE_MS = 20_000;

interface Fixture {
  readonly client: Client;
  readonly session: OpenSession;
  readonly host: HostProcess;
  readonly dataDir: string;
  /** Where the session works. */
  readonly folder: string;
}

async function enter(text: string): Promise<Fixture> {
  const { dataDir, remove } = crashFolder();
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-calls-'));
  onTestFinished(() => {
    remove();
    rmSync(folder, { recursive: true, force: true });
  });
  const host = new HostProcess({ dataDir });
  onTestFinished(() => host.kill());
  const { port } = (await host.serving()) ?? {};
  if (port === undefined) throw new Error(`the host does not start: ${host.complaints}`);
  const client = await connect({ clientId: 'desk', transport: webSocketTransport({ url: `ws://127.0.0.1:${port}` }) });
  onTestFinished(() => client.close());
  await client.createSession({ channel: SESSION, workingDirectories: [pathToFileURL(folder).href] });
  const session = await client.open(SESSION);
  await until('the session is ready', () => session.session.confirmed.lifecycle === 'ready');
  if (text !== 'client') ask(session, text);
  return { client, session, host, dataDir, folder };
}

function ask(session: OpenSession, text: string): void {
  const message = { text, origin: { kind: 'user' } } as const;
  void session.dispatch({ type: 'chat/turnStarted', turnId: 'turn-1', message });
}

function approve(session: OpenSession): void {
  const { toolCallId } = callIn(session.chat.confirmed) ?? { toolCallId: '' };
  const answer = { approved: true, confirmed: 'user-action', selectedOptionId: 'approve' } as const;
  void session.dispatch({ type: 'chat/toolCallConfirmed', turnId: 'turn-1', toolCallId, ...answer });
}

/** What a new client sees of the conversation: as a chat, or in older versions as the session. */
type Seen = Pick<ChatState, 'turns' | 'activeTurn'>;

/** Kills the host, starts it again on the same folder, and gives what a new client sees. */
async function killAndLook({ host, dataDir, client }: Fixture, version = '1.0.0'): Promise<Seen> {
  await host.kill();
  client.close();
  const next = new HostProcess({ dataDir });
  onTestFinished(() => next.kill());
  const { port } = (await next.serving()) ?? {};
  if (port === undefined) throw new Error(`the host does not start again: ${next.complaints}`);
  const channel = version === '1.0.0' ? defaultChatUri(SESSION) : SESSION;
  const [snapshot] = await snapshotsOf(port, [channel], [version]);
  return snapshot?.state as unknown as Seen;
}

function callIn({ activeTurn, turns }: Seen): ToolCallState | undefined {
  const parts = (activeTurn ?? turns.at(-1))?.responseParts ?? [];
  return parts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : [])).at(-1);
}

/** Why the first turn failed: its last part says so, or in older versions a member of the turn. */
function errorIn({ turns }: Seen) {
  const part = turns[0]?.responseParts.at(-1);
  return part?.kind === 'error' ? part.error : (turns as unknown as OlderSessionState['turns'])[0]?.error;
}

function outputOf(call: ToolCallState | undefined): string {
  const content = call && 'content' in call ? (call.content ?? []) : [];
  return content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
}

async function until(what: string, test: () => boolean): Promise<void> {
  const limit = performance.now() + PATIENCE_MS;
  while (!test()) {
    if (performance.now() > limit) throw new Error(`not before time ran out: ${what}`);
    await delay(2);
  }
}

const isWaiting = (session: OpenSession) => callIn(session.chat.confirmed)?.status === 'pending-confirmation';

/** The processes whose command line has this text. */
function processesOf(text: string): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return line.includes(text) ? Number(pid) : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(process.platform === 'win32')('a call that runs when its host is killed', { timeout: 60_000 }, () => {
  it.each([['1.0.0'], ['0.3.0'], ['0.2.0']])(
    '[REL-062] says on %s that it was interrupted while running, with its approval and the output that was seen',
    async (version) => {
      const fixture = await enter('started');
      const { session, folder } = fixture;
      await until('the call asks', () => isWaiting(session));
      approve(session);
      await until('its output is seen', () => outputOf(callIn(session.chat.confirmed)).includes('STARTED'));
      expect(existsSync(path.join(folder, 'started.txt'))).toBe(true);

      const state = await killAndLook(fixture, version);
      const call = callIn(state);
      expect(call).toMatchObject({
        status: 'completed',
        success: false,
        confirmed: 'user-action',
        selectedOption: { id: 'approve' },
        error: { code: 'INTERRUPTED', message: expect.stringContaining('Interrupted while running') },
      });
      expect(outputOf(call)).toContain('STARTED');
      expect(state.activeTurn).toBeUndefined();
      const error = errorIn(state);
      expect(error?.errorType).toBe('host-restarted');
      expect(error?.message).toContain('interrupted while it ran');
    },
  );

  it('[REL-062] keeps what was seen in its terminal alone', async () => {
    const fixture = await enter('half');
    const { session, client } = fixture;
    await until('the call asks', () => isWaiting(session));
    approve(session);
    const terminalOf = () => {
      const call = callIn(session.chat.confirmed);
      const content = call?.status === 'running' ? (call.content ?? []) : [];
      return content.flatMap((block) => (block.type === 'terminal' ? block.resource : []))[0];
    };
    await until('it has a terminal', () => terminalOf() !== undefined);
    const terminal = await client.subscribe(terminalOf() as `ahp-terminal:/${string}`);
    const shown = () =>
      terminal.confirmed.content.map((part) => (part.type === 'command' ? part.output : part.value)).join('');
    await until('half a line is shown', () => shown().includes('half a line'));
    expect(outputOf(callIn(session.chat.confirmed))).not.toContain('half a line');

    expect(outputOf(callIn(await killAndLook(fixture)))).toContain('half a line');
  });

  it.runIf(process.platform === 'linux')('[REL-062] has its processes ended, and says so', async () => {
    const fixture = await enter('stubborn');
    const { session } = fixture;
    await until('the call asks', () => isWaiting(session));
    approve(session);
    await until('its output is seen', () => outputOf(callIn(session.chat.confirmed)).includes('STUBBORN'));
    const before = processesOf('sleep 61');
    expect(before.length).toBeGreaterThan(0);

    const call = callIn(await killAndLook(fixture));
    expect(call).toMatchObject({ error: { message: expect.stringContaining('have been ended') } });
    expect(processesOf('sleep 61').filter((pid) => before.includes(pid))).toEqual([]);
  });

  it('[REL-062] says that it never started when nobody had allowed it', async () => {
    const fixture = await enter('started');
    const { session, folder } = fixture;
    await until('the call asks', () => isWaiting(session));

    const state = await killAndLook(fixture);
    expect(callIn(state)).toMatchObject({
      status: 'cancelled',
      reason: 'skipped',
      reasonMessage: expect.stringContaining('never started'),
    });
    expect(errorIn(state)?.message).not.toContain('interrupted while it ran');
    expect(existsSync(path.join(folder, 'started.txt'))).toBe(false);
  });

  it('[REL-062] says so of a call that a client was running, with what the client had shown', async () => {
    const fixture = await enter('client');
    const { session, client } = fixture;
    const tools = [{ name: 'lookup', description: 'Looks up a word.', inputSchema: { type: 'object' as const } }];
    await session.dispatch({
      type: 'session/activeClientSet',
      activeClient: { clientId: client.clientId, displayName: 'Desk', tools },
    });
    ask(session, 'client');
    await until('the call is there', () => callIn(session.chat.confirmed)?.status !== undefined);
    await until('it runs', () =>
      ['running', 'pending-confirmation'].includes(callIn(session.chat.confirmed)?.status ?? ''),
    );
    if (isWaiting(session)) approve(session);
    await until('it runs', () => callIn(session.chat.confirmed)?.status === 'running');
    const { toolCallId = '' } = callIn(session.chat.confirmed) ?? {};
    const content = [{ type: 'text' as const, text: 'a fox is' }];
    await session.dispatch({ type: 'chat/toolCallContentChanged', turnId: 'turn-1', toolCallId, content });

    const call = callIn(await killAndLook(fixture));
    expect(call).toMatchObject({
      status: 'completed',
      error: { code: 'INTERRUPTED', message: expect.stringContaining('The client desk was running it') },
    });
    expect(outputOf(call)).toBe('a fox is');
  });
});
