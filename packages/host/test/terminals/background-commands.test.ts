/** Commands that a model starts in the background, reads, stops, and is told the end of. */
import { systemClock } from '@atrium/core/util/clock.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  BACKGROUND_ENDED_MAX,
  BACKGROUND_OUTPUT_MAX_CHARACTERS,
  BACKGROUND_READ_MAX_CHARACTERS,
  BACKGROUND_RUNNING_MAX,
  BackgroundCommands,
} from '../../src/workspace/terminals/background-commands.js';
import type { TerminalEnd } from '../../src/workspace/terminals/terminal-process.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { fileUri, isAlive } from '../support/terminal-fixture.js';

async function openFixture() {
  const folder = await tempFolder();
  const agent = new PuppetAgent();
  const tools = builtinTools().map(({ confirmation: _asks, ...tool }) => tool);
  const host = await startHost({ clock: systemClock, agents: [agent], tools, terminals: {} });
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client, { provider: 'puppet', workingDirectories: [fileUri(folder)] });
  const begin = async (turnId: string) => {
    client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as never);
    return agent.turn(agent.turns.length);
  };
  return { host, client, uri, chat, begin };
}

type Turn = Awaited<ReturnType<Awaited<ReturnType<typeof openFixture>>['begin']>>['turn'];

async function call(turn: Turn, name: string, input: object): Promise<string> {
  const outcome = await turn.callTool({ name, input });
  return outcome.kind === 'completed' ? outcome.text : outcome.reason;
}

describe('a command in the background [DAY-091]', () => {
  it('runs on while the agent works, is shown to people, read from a mark on, and stopped with all it started', async () => {
    const { client, uri, chat, begin } = await openFixture();
    const { turn, finish } = await begin('t1');
    const command = 'echo pid $$; sleep 600 & echo child $!; wait';
    expect(await call(turn, 'shell', { command, background: true })).toMatch(/^Started in the background as b1\./);
    const { backgroundWork = [] } = await client.state<ChatState>(chat);
    expect(backgroundWork).toMatchObject([
      { kind: 'shell', command, terminal: expect.stringContaining('ahp-terminal:/') },
    ]);
    let [said, mark] = ['', 0];
    while (!/child \d+/.test(said)) {
      said += await call(turn, 'background_read', { id: 'b1', since: mark, waitSeconds: 10 });
      mark = Number(/next mark: (\d+)\]$/.exec(said)?.[1]);
    }
    expect(await call(turn, 'background_read', { id: 'b1', since: mark })).toBe(`[running; next mark: ${mark}]`);
    expect(await call(turn, 'background_list', {})).toMatch(/^b1: echo pid .* \(running, mark \d+\)$/);
    expect(await call(turn, 'background_stop', { id: 'b1' })).toMatch(/ended by SIGTERM|exit code \d+/);
    const pids = [...said.matchAll(/(?:pid|child) (\d+)/g)].map(([, pid]) => Number(pid));
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await call(turn, 'background_stop', { id: 'b9' })).toContain(
      'There is no background command b9. There are: b1.',
    );
    await expect.poll(async () => (await client.state<ChatState>(chat)).backgroundWork ?? []).toEqual([]);
    // What still runs ends with the session.
    await call(turn, 'shell', { command: 'echo pid $$; sleep 600', background: true });
    const last = await call(turn, 'background_read', { id: 'b2', waitSeconds: 10 });
    finish();
    await client.request('disposeSession', { channel: uri });
    await expect.poll(() => isAlive(Number(/pid (\d+)/.exec(last)?.[1])), { timeout: 5_000 }).toBe(false);
  });

  it('tells the agent its end once: with its next call, or with the next message', async () => {
    const { client, chat, begin } = await openFixture();
    const { turn, finish } = await begin('t1');
    await call(turn, 'shell', { command: 'echo first; exit 3', background: true });
    let told = '';
    await expect
      .poll(async () => {
        told += await call(turn, 'background_list', {});
        return told;
      })
      .toMatch(
        /The background command b1 \(echo first; exit 3\) has ended: exit code 3\. The end of its output:\nfirst/,
      );
    expect(await call(turn, 'background_list', {})).not.toContain('has ended');
    finish();
    await client.action(chat, 'chat/turnComplete');

    const second = await begin('t2');
    await call(second.turn, 'shell', { command: 'sleep 0.3; echo second', background: true });
    second.finish();
    await client.action(chat, (action) => action.type === 'chat/turnComplete' && action.turnId === 't2');
    await expect
      .poll(async () => ((await client.state<ChatState>(chat)).backgroundWork ?? []).length, { timeout: 5_000 })
      .toBe(0);
    const third = await begin('t3');
    expect(third.turn.context.join('\n')).toMatch(/background command b2 .* has ended: exit code 0[\s\S]*second/);
    third.finish();
  });
});

describe('what is kept of background commands [DAY-092] [REL-059]', () => {
  function started(all: BackgroundCommands) {
    let finish: (end: TerminalEnd) => void = () => {};
    const terminalEnd = new Promise<TerminalEnd>((resolve) => {
      finish = resolve;
    });
    const screen: { onOutput: ((text: string) => void) | undefined } = { onOutput: undefined };
    const terminal = { uri: 'ahp-terminal:/1', ended: terminalEnd, end: async () => {}, screen };
    const { id } = all.add({ session: 's', chat: 'c', command: 'x', startedAt: 0, terminal });
    return {
      id,
      say: (text: string) => screen.onOutput?.(text),
      finish: () => finish({ exitCode: 0, strays: false } as TerminalEnd),
    };
  }
  const signal = new AbortController().signal;

  it('is the end of the output, read in pieces, and it is said what is lost', async () => {
    const all = new BackgroundCommands(systemClock);
    const { id, say } = started(all);
    for (let at = 0; at < 2 * BACKGROUND_OUTPUT_MAX_CHARACTERS; at += 1_024) say(`${'y'.repeat(1_023)}\n`);
    say('the last line\n');
    const first = await all.port('s').read(id, { since: 0, waitMs: 0, signal });
    expect(first.text).toHaveLength(BACKGROUND_READ_MAX_CHARACTERS);
    expect(first.lost).toBe(first.mark - BACKGROUND_OUTPUT_MAX_CHARACTERS);
    const last = await all.port('s').read(id, { since: first.mark - 14, waitMs: 0, signal });
    expect(last).toMatchObject({ text: 'the last line\n', next: first.mark, lost: 0 });
  });

  it('tells an agent that is about to stop, and no other chat', async () => {
    const all = new BackgroundCommands(systemClock);
    const { say, finish } = started(all);
    const { beforeTurn, beforeEnd } = all.extension('s');
    const opening = (chat: string) => ({ chat, turnId: `of ${chat}`, text: '', agent: undefined, isFirst: false });
    const end = (chat: string) => beforeEnd?.({ turnId: `of ${chat}`, wasContinued: false }, signal);
    await beforeTurn?.(opening('c'), signal);
    expect(await end('c')).toBeUndefined();
    say('done\n');
    finish();
    await Promise.resolve();
    expect(await end('other')).toBeUndefined();
    expect(await end('c')).toContain('b1 (x) has ended: exit code 0. The end of its output:\ndone');
    expect(await end('c')).toBeUndefined();
  });

  it('are so many that run, and so many that have ended', async () => {
    const all = new BackgroundCommands(systemClock);
    for (let ended = 0; ended < BACKGROUND_ENDED_MAX + 2; ended++) started(all).finish();
    await Promise.resolve();
    await Promise.resolve();
    for (let running = 0; running < BACKGROUND_RUNNING_MAX; running++) {
      all.checkRoom('s');
      started(all);
    }
    expect(() => all.checkRoom('s')).toThrow('8 commands run in the background');
    expect(all.port('s').list()).toHaveLength(BACKGROUND_ENDED_MAX + BACKGROUND_RUNNING_MAX);
  });
});
