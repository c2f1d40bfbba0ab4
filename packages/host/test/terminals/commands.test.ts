import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { SHELL_OUTPUT_MAX_BYTES } from '@atrium/core/contracts/tool.js';
import type { Log } from '@atrium/core/log/log.js';
import { systemClock } from '@atrium/core/util/clock.js';
import type { TerminalCommandPart, TerminalInfo, ToolCallRunningState, ToolResultContent } from '@atrium/protocol';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { FINISHED_KEPT_PER_SESSION } from '../../src/workspace/terminals/open-terminals.js';
import { loadPty } from '../../src/workspace/terminals/pty.js';
import type { TerminalsOptions } from '../../src/workspace/terminals/terminals.js';
import { type ShellOptions, shellTool } from '../../src/workspace/tools/shell.js';
import { KeptLog } from '../support/logs.js';
import { chatState, nativeClient } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { callsIn, refusalOf, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import {
  catalogue,
  fileUri,
  isAlive,
  pidIn,
  stateIn,
  textIn,
  type,
  until,
  untilText,
} from '../support/terminal-fixture.js';
import type { RawClient } from '../support/test-host.js';

const INTERACTIVE = { interactive: true };

/** A session whose agent can use the shell without asking, with its turn in the hands of the test. */
interface FixtureOptions {
  readonly shell?: ShellOptions;
  readonly terminals?: TerminalsOptions | false;
  readonly log?: Log;
}

async function openFixture({ shell = {}, terminals = {}, log }: FixtureOptions = {}) {
  const folder = await tempFolder();
  const agent = new PuppetAgent();
  const { confirmation: _asks, ...tool } = shellTool(shell);
  const toolOutputMaxCharacters = 2 * SHELL_OUTPUT_MAX_BYTES;
  const host = await startHost({
    clock: systemClock,
    agents: [agent],
    tools: [tool],
    terminals,
    toolOutputMaxCharacters,
    ...(log && { log }),
  });
  const client = await host.client('desk');
  const uri = await client.session(undefined, { provider: 'puppet', workingDirectory: fileUri(folder) });
  client.dispatch(uri, turnStarted('t1'));
  const { turn } = await agent.turn(0);
  let calls = 0;
  return {
    host,
    client,
    uri,
    folder,
    run: (command: string, input: object = {}) =>
      turn.callTool({ id: `c${++calls}`, name: 'shell', input: { command, ...input } }),
    /** The terminal that the running call shows. */
    terminal: async (call = calls): Promise<string> => {
      const isShown = (content: readonly ToolResultContent[]) => content.some((block) => block.type === 'terminal');
      const { action } = await client.action(
        uri,
        ({ type: kind, toolCallId, content }) =>
          kind === 'session/toolCallContentChanged' && toolCallId === `c${call}` && isShown(content ?? []),
      );
      const [block] = action.content as { resource: string }[];
      return block?.resource ?? '';
    },
  };
}

/** A shell that is just starting a program may miss the first Ctrl+C, as anywhere. */
function pressUntilOver(client: RawClient, uri: string): Promise<unknown> {
  const press = async () => {
    type(client, uri, '\x03');
    await new Promise((resolve) => setTimeout(resolve, 100));
    return (await stateIn(client, uri)).exitCode;
  };
  return expect.poll(press, { timeout: 4_000, interval: 300 }).toBe(130);
}

type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** All processes that share the terminal of one. */
async function inTerminalOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('sh', ['-c', `ps -o pid= -s "$(ps -o sid= -p ${pid} | tr -d ' ')"`]);
  return stdout.trim().split(/\s+/).map(Number);
}

describe('a command of the agent in a terminal', () => {
  it('[AHP-231] [AHP-232] can be watched while it runs; its terminal is claimed by the call, and then by the session', async () => {
    const { host, client, uri, run, terminal } = await openFixture();
    const outcome = run('echo begun; sleep 0.4; echo "$PWD"; ps -o tty= -p $$');
    const resource = await terminal();
    const phone = await host.client('phone');
    expect(await stateIn(phone, resource)).toMatchObject({
      title: 'echo begun; sleep 0.4; echo "$PWD"; ps -o tty= -p $$',
      claim: { kind: 'session', session: uri, turnId: 't1', toolCallId: 'c1' },
    });
    const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts) as ToolCallRunningState[];
    expect(call?.content?.[0]).toMatchObject({ type: 'terminal', resource });
    expect(await outcome).toMatchObject({ success: true });
    const state = await until(
      phone,
      resource,
      ({ claim }) => claim.kind === 'session' && claim.toolCallId === undefined,
    );
    expect(state).toMatchObject({ exitCode: 0, claim: { kind: 'session', session: uri } });
    const [command] = state.content as TerminalCommandPart[];
    expect(command).toMatchObject({ type: 'command', commandId: 'c1', isComplete: true, exitCode: 0 });
    expect(command?.output).toMatch(/begun\r\n[\s\S]*pts\/\d+\r\n/);
  });

  it('gives the model plain text, and how it ended', async () => {
    const { run } = await openFixture();
    const red = await run("printf '\\033[31mred\\033[0m\\n 1%%\\r99%%\\nend'; exit 7");
    expect(red).toMatchObject({ success: false, text: expect.stringContaining('red\n99%\nend\n[exit code 7]') });
    expect(await run('echo a; kill -9 $$')).toMatchObject({ text: expect.stringContaining('a\n[exit code 137]') });
    const { text } = (await run('env')) as { text: string };
    expect(text).toMatch(/^TERM=dumb$/m);
    expect(text).toMatch(/^GIT_PAGER=cat$/m);
    expect(text).not.toContain('ATRIUM_');
    const long = (await run(`head -c ${SHELL_OUTPUT_MAX_BYTES + 1018} /dev/zero | tr '\\0' x`)) as { text: string };
    expect(long.text).toContain('[Cut: the first 1018 bytes are left out.]');
    expect(long.text).toContain('x'.repeat(SHELL_OUTPUT_MAX_BYTES));
  });

  it('reads as it would with pipes: nothing asks, pages, draws or breaks lines', async () => {
    const commands = [
      'for fd in 0 1 2; do test -t $fd && echo "$fd is a terminal"; done; cat; echo read',
      'mkdir -p d; touch d/a d/b d/c; ls d',
      `git init -q .; git -c user.name=n -c user.email=e commit -q --allow-empty -m 'first'; git log --format=%s; git status`,
      "node -e \"console.log(process.stdout.isTTY, process.stdin.isTTY); process.stdin.on('end', () => console.log('end')).resume()\"",
      'printf "no new line"; exit 3',
      'seq 1 3000',
      'sleep 100 & echo started',
      'no-such-command',
    ];
    const [terminal, pipes] = [await openFixture(), await openFixture({ terminals: false })];
    for (const command of commands) {
      const [one, other] = [await terminal.run(command), await pipes.run(command)];
      expect(one).toMatchObject({ kind: 'completed', text: (other as { text: string }).text });
    }
  });

  it('keeps both of its streams in order, and only the last state of a line', async () => {
    const { run } = await openFixture();
    expect(await run('echo 1; echo 2 >&2; echo 3; echo 4 >&2')).toMatchObject({ text: '1\n2\n3\n4\n[exit code 0]' });
    const bar = "for i in 1 2 3; do printf '\\033[2K\\033[1G%s of 3' $i; done; echo; printf '\\033]0;t\nmore\n'";
    expect(await run(bar)).toMatchObject({ text: '3 of 3\n\nmore\n[exit code 0]' });
  });

  it('can be stopped by a person with Ctrl+C, and says so', async () => {
    const { client, run, terminal } = await openFixture();
    const outcome = run('echo begun; sleep 300; echo never');
    const resource = await terminal();
    await untilText(client, resource, 'begun');
    await pressUntilOver(client, resource);
    expect(await outcome).toMatchObject({
      success: false,
      text: expect.stringMatching(/^begun\n(\^C)+\n\[exit code 130\]$/),
    });
  });

  it('has a title without anything that a screen would act upon', async () => {
    const { run, terminal, client } = await openFixture();
    const outcome = run("echo '\x1b]0;fake\x07'\n# more");
    const resource = await terminal();
    expect((await stateIn(client, resource)).title).toBe("echo ' ]0;fake ' # more");
    await outcome;
  });

  it('does not begin when it was cancelled before its terminal was there', async () => {
    const load = async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return loadPty();
    };
    const { client, uri, folder, run } = await openFixture({ terminals: { load } });
    const outcome = run('touch begun; sleep 300').catch(() => 'cut off');
    await new Promise((resolve) => setTimeout(resolve, 100));
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await outcome;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await readdir(folder)).toEqual([]);
    expect(await catalogue(client)).toEqual([]);
  });

  it('is gone when it is cancelled, also when it does not listen', async () => {
    const { client, uri, run, terminal } = await openFixture();
    const outcome = run("trap '' TERM HUP INT; echo deaf=$$.; while :; do sleep 0.05; done").catch(() => 'cut off');
    const pid = pidIn(await untilText(client, await terminal(), /deaf=\d+\./), 'deaf');
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await outcome;
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });

  it('is heard to its last words when it has to end', async () => {
    const { run } = await openFixture({ shell: { timeoutMs: 600 } });
    const outcome = await run("trap 'sleep 0.2; echo last words; exit' TERM; echo begun; while :; do sleep 0.05; done");
    expect(outcome).toMatchObject({ text: expect.stringMatching(/begun\n[\s\S]*last words\n\[stopped after 0.6 s/) });
  });

  it('is over also when it kills the process that started it', async () => {
    const { run } = await openFixture({ shell: { timeoutMs: 5_000 } });
    expect(await run('kill -9 $PPID; echo a')).toMatchObject({ text: 'a\n[exit code 137]' });
  });

  it('can be answered by a person, whichever client has the claim', async () => {
    const { host, client, run, terminal } = await openFixture();
    const outcome = run('printf "name? "; read name; echo "hello $name"', INTERACTIVE);
    const resource = await terminal();
    await untilText(client, resource, 'name? ');
    type(await host.client('phone'), resource, 'world\r');
    expect(await outcome).toMatchObject({ success: true, text: expect.stringContaining('hello world\n[exit code 0]') });
  });

  it('waits for no input where nobody watches', async () => {
    const { client, uri, run } = await openFixture();
    await client.request('unsubscribe', { channel: uri }).catch(() => {});
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await run('cat; read x; echo "$?"; echo "$GIT_TERMINAL_PROMPT"', INTERACTIVE)).toMatchObject({
      success: true,
      text: '1\n0\n[exit code 0]',
    });
  });

  it('[AHP-231] goes on in the background when a client narrows the claim, and the call is over', async () => {
    const { host, client, uri, run, terminal } = await openFixture();
    const outcome = run('echo begun; echo pid=$$.; sleep 300');
    const resource = await terminal();
    const pid = pidIn(await untilText(client, resource, /pid=\d+\./), 'pid');
    const phone = await host.client('phone');
    const claim = { kind: 'session', session: uri } as const;
    expect(await refusalOf(phone, resource, { type: 'terminal/claimed', claim })).toBeUndefined();
    expect(await outcome).toMatchObject({
      success: true,
      text: expect.stringMatching(/begun[\s\S]*into the background/),
    });
    expect(isAlive(pid)).toBe(true);
    expect((await stateIn(client, resource)).claim).toEqual(claim);
    await client.request('disposeSession', { channel: uri });
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  /** A command that a person has put into the background, and what its chat lists. */
  async function inBackground(options: FixtureOptions = {}) {
    const fixture = await openFixture(options);
    const { host, client, uri, run, terminal } = fixture;
    const command = 'echo pid=$$.; while [ ! -f over ]; do sleep 0.05; done';
    const outcome = run(command);
    const resource = await terminal();
    await untilText(client, resource, /pid=\d+\./);
    const claim = { kind: 'session', session: uri } as const;
    expect(await refusalOf(client, resource, { type: 'terminal/claimed', claim })).toBeUndefined();
    const watcher = await nativeClient(host, 'watcher');
    const listed = async (by = watcher) => (await chatState(by, defaultChatUri(uri))).backgroundWork;
    await outcome;
    return { ...fixture, command, resource, watcher, listed };
  }

  it('[UP-139] is listed by its chat while it goes on in the background, and not after its end', async () => {
    const { command, resource, listed, folder, watcher, uri } = await inBackground();
    expect(await listed()).toMatchObject([{ kind: 'shell', id: resource, terminal: resource, command }]);
    const [{ label, startedAt } = { label: '', startedAt: '' }] = (await listed()) ?? [];
    expect([label, Number.isNaN(Date.parse(startedAt))]).toEqual([expect.stringContaining('echo pid'), false]);
    await watcher.request('subscribe', { channel: defaultChatUri(uri) });
    await writeFile(path.join(folder, 'over'), '');
    await watcher.action(defaultChatUri(uri), 'chat/backgroundWorkRemoved');
    expect(await listed()).toEqual([]);
  });

  it('[UP-139] is listed no more by the next host, also when the one before died', async () => {
    const log = new KeptLog();
    const { listed, host, folder } = await inBackground({ log });
    expect(await listed()).toHaveLength(1);
    const next = await startHost({ log, clock: systemClock, agents: [new PuppetAgent()] });
    const desk = await nativeClient(next, 'desk-2');
    await expect.poll(() => listed(desk)).toEqual([]);
    await writeFile(path.join(folder, 'over'), '');
    await host.stop();
  });

  it('[AHP-231] belongs to the person who takes it, and the call is over', async () => {
    const { client, uri, run, terminal } = await openFixture();
    const outcome = run('echo pid=$$.; sleep 300');
    const resource = await terminal();
    const pid = pidIn(await untilText(client, resource, /pid=\d+\./), 'pid');
    const claim = { kind: 'client', clientId: 'desk' } as const;
    expect(await refusalOf(client, resource, { type: 'terminal/claimed', claim })).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: expect.stringContaining('taken over the terminal') });
    await client.request('disposeSession', { channel: uri });
    expect(isAlive(pid)).toBe(true);
    await pressUntilOver(client, resource);
    expect((await stateIn(client, resource)).claim).toEqual(claim);
  });

  it.each([
    ['its session', ({ client, uri }: Fixture) => client.request('disposeSession', { channel: uri })],
    ['the host', ({ host }: Fixture) => host.stop()],
  ])('ends with %s, and all that it started', async (_what, end) => {
    const fixture = await openFixture();
    const outcome = fixture.run(
      "sleep 300 & echo back=$!.; (trap '' TERM HUP; echo deaf; sleep 300) & sleep 300 | cat",
    );
    outcome.catch(() => {});
    const shown = await untilText(fixture.client, await fixture.terminal(), /deaf/);
    const group = pidIn(shown, 'back');
    const before = await inTerminalOf(group);
    expect(before.length).toBeGreaterThan(3);
    await end(fixture);
    await expect.poll(() => before.filter(isAlive), { timeout: 4_000 }).toEqual([]);
  });

  it('ends with the turn, and all that it started', async () => {
    const { client, uri, run, terminal } = await openFixture();
    const outcome = run("sleep 300 & echo back=$!.; sh -c 'echo front=$$.; sleep 300; :'").catch(() => 'cut off');
    const resource = await terminal();
    const shown = await untilText(client, resource, /front=\d+\./);
    const pids = ['back', 'front'].map((name) => pidIn(shown, name));
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await outcome;
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    await until(client, resource, ({ exitCode, claim }) => exitCode !== undefined && !('toolCallId' in claim));
  });

  it('ends when its time is up, also when it does not listen', async () => {
    const { run, folder } = await openFixture({ shell: { timeoutMs: 700, graceMs: 100 } });
    const outcome = await run(`trap '' TERM HUP; echo $$ > deaf; while :; do sleep 0.05; done`);
    expect(outcome).toMatchObject({ success: false, text: expect.stringContaining('stopped after 0.7 s') });
    expect(isAlive(Number(await readFile(path.join(folder, 'deaf'), 'utf8')))).toBe(false);
  });

  it('takes what it leaves behind with it', async () => {
    const { run, folder } = await openFixture();
    const outcome = await run(`(trap '' HUP; sleep 300; :) & echo $! > left; echo done`);
    expect(outcome).toMatchObject({ text: expect.stringContaining('its background processes were ended') });
    expect(isAlive(Number(await readFile(path.join(folder, 'left'), 'utf8')))).toBe(false);
  });

  it('leaves a few terminals to look at, and no more', async () => {
    const { client, run } = await openFixture();
    for (let call = 0; call < FINISHED_KEPT_PER_SESSION + 2; call++) await run(`echo ${call}`);
    const titles = async () => (await catalogue(client)).map(({ title }: TerminalInfo) => title);
    await expect.poll(titles).toEqual(['echo 2', 'echo 3', 'echo 4']);
  });

  it('makes room for new terminals when there are too many', async () => {
    const { client, run } = await openFixture({ terminals: { max: 2 } });
    for (let call = 0; call < 4; call++) expect(await run(`echo ${call}`)).toMatchObject({ success: true });
    await expect.poll(async () => (await catalogue(client)).length).toBe(2);
  });

  it('makes room with one that nobody looks at first', async () => {
    const { client, run } = await openFixture({ terminals: { max: 2 } });
    const titles = async () => (await catalogue(client)).map(({ title }: TerminalInfo) => title);
    await run('echo looked-at');
    const [{ resource = '' } = {}] = await catalogue(client);
    await stateIn(client, resource);
    await run('echo unseen');
    await run('echo new');
    await expect.poll(titles).toEqual(['echo looked-at', 'echo new']);
  });

  it('runs with pipes where no terminal can be had', async () => {
    const { client, run } = await openFixture({ terminals: { load: () => Promise.reject(new Error('none')) } });
    expect(await run('tty; echo done')).toMatchObject({
      text: expect.stringMatching(/not a tty\ndone\n\[exit code 0\]/),
    });
    expect(await catalogue(client)).toEqual([]);
  });

  it('shows what it writes in the call, too', async () => {
    const { client, uri, run, terminal } = await openFixture();
    const outcome = run('echo one; sleep 0.3; echo two; sleep 0.3');
    const resource = await terminal();
    const { action } = await client.action(uri, ({ type: kind, content }) => {
      const [, text] = (content ?? []) as { text?: string }[];
      return kind === 'session/toolCallContentChanged' && text?.text === 'one\ntwo\n';
    });
    expect(action.content).toMatchObject([{ type: 'terminal', resource }, { type: 'text' }]);
    await outcome;
    expect(textIn((await stateIn(client, resource)).content)).toBe('one\r\ntwo\r\n');
  });
});
