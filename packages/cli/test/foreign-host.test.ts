/** The command with a host of somebody else, which has nothing but the protocol. */
import { tmpdir } from 'node:os';
import type { StateAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { PROMPT, say } from './support/chat.js';
import { type ForeignServer, foreignServer, TOKEN } from './support/foreign-server.js';
import { isBuilt } from './support/host.js';
import { atrium, type Ended, endOf, jsonLines } from './support/run-cli.js';
import { openWindow } from './support/window.js';

const TOKENED = `?tkn=${encodeURIComponent(TOKEN)}`;

function run({ url }: ForeignServer, ...args: string[]): Promise<Ended> {
  return endOf(atrium([...args, '--url', `${url}${TOKENED}`], {}, { cwd: tmpdir() }));
}

/** What no client of today knows. */
function surprise({ host }: ForeignServer): void {
  for (const [uri, state] of host.states) host.states.set(uri, { ...state, hologram: { depth: 3 } });
}

/** The chat of the only session. */
function chatOf({ host }: ForeignServer): string {
  return [...host.states.keys()].find((uri) => uri.startsWith('ahp-chat:')) ?? '';
}

const FAILURE = { kind: 'error', error: { errorType: 'overloaded', message: 'Too busy.' }, resumable: true } as const;

function fail(server: ForeignServer, turnId: string): void {
  server.host.act(chatOf(server), { type: 'chat/error', turnId, duration: 1, part: FAILURE } as StateAction);
}

describe.each(['1.0.0', '0.9.0'])('the command with a host of somebody else, of %s', { timeout: 60_000 }, (version) => {
  it('[CLI-040] runs, goes on, lists, shows, watches and removes, whatever else the host says', async () => {
    const server = await foreignServer(version);
    expect(await run(server, 'run', 'hello you')).toMatchObject({ code: 0, stdout: 'hello you \n' });
    surprise(server);
    const [session] = JSON.parse((await run(server, 'sessions', 'list', '--json')).stdout);
    expect(server.host.session(session.resource).workingDirectories).toEqual([`file://${tmpdir()}`]);
    const watching = atrium(['watch', 'last', '--json', '--url', `${server.url}${TOKENED}`]);
    await expect.poll(() => watching.said.stderr).toContain('Watching');
    server.host.strange(chatOf(server), { type: 'chat/hologramShown', depth: 3 });
    expect(await run(server, 'run', '--session', 'last', 'and again')).toMatchObject({
      code: 0,
      stdout: 'and again \n',
    });
    await watching.says(/turnComplete/);
    const types = jsonLines(watching.said.stdout).map(({ action }) => (action as StateAction).type);
    expect(types.slice(0, 2)).toEqual(['chat/hologramShown', 'chat/turnStarted']);
    const shown = await run(server, 'sessions', 'show', 'last', '--turns', '1');
    expect(shown.stdout).toContain('> and again');
    expect(shown.stdout).not.toContain('> hello you');
    expect((await run(server, 'call', 'listSessions')).stdout).toContain(session.resource);
    const exported = await run(server, 'sessions', 'export', 'last');
    expect(jsonLines(exported.stdout)).toMatchObject([
      { version: 3, turns: 2 },
      {},
      { message: { text: 'and again' } },
    ]);
    expect((await run(server, 'sessions', 'rm', 'last')).code).toBe(0);
    expect(await watching.ended()).toBe(0);
    expect((await run(server, 'sessions', 'list')).stdout).toContain('no sessions');
  });

  it('[CLI-041] says what the host cannot do', async () => {
    const server = await foreignServer(version);
    await run(server, 'run', 'hello');
    for (const [args, what] of [
      [['sessions', 'list', '--removed'], 'this host (somebody-else) cannot list removed sessions'],
      [['sessions', 'restore', 'x'], 'this host (somebody-else) cannot bring removed sessions back'],
      [['pair'], 'this host (somebody-else) cannot let programs pair with its sessions'],
      [['run', '--config', 'a=b', 'x'], 'this host (somebody-else) has no settings for new sessions'],
      [['changes'], 'the host shows no changes here'],
      [['call', 'atrium/pairings'], 'the host does not offer this'],
    ] as const) {
      const ended = await run(server, ...args);
      expect([ended.code, ended.stdout]).toEqual([expect.any(Number), '']);
      expect(ended.code).not.toBe(0);
      expect(ended.stderr).toContain(what);
    }
    const file = JSON.stringify({
      format: 'atrium-session',
      version: 2,
      exportedAt: '',
      turns: 0,
      state: { summary: {} },
    });
    const imported = await endOf(atrium(['sessions', 'import', '-', '--url', `${server.url}${TOKENED}`]), file);
    expect(imported).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot import sessions') });
    expect((await run(server, 'providers')).stdout).toContain('No provider');
  });

  it('[CLI-045] [UP-074] puts the model on the message, and keeps to it', async () => {
    const server = await foreignServer(version);
    await run(server, 'run', '--model', 'large', 'one');
    await run(server, 'run', '--session', 'last', 'two');
    await run(server, 'run', '--session', 'last', '--model', 'small', 'three');
    await run(server, 'run', '--session', 'last', 'four');
    const models = server.host.chat(chatOf(server)).turns.map(({ message }) => message.model?.id);
    expect(models).toEqual(['large', 'large', 'small', 'small']);
  });

  it('[CLI-043] [UP-115] takes up a turn that failed, and only one that can go on', async () => {
    const server = await foreignServer(version);
    const answers = server.host.judge;
    server.host.judge = (action) => {
      if (action.type === 'chat/turnStarted') setImmediate(() => fail(server, action.turnId));
      return undefined;
    };
    const failed = await run(server, 'run', 'try it');
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toContain(
      'error: Too busy.\nIt can go on where it stopped: atrium run --session last --resume',
    );
    server.host.judge = answers;
    expect(await run(server, 'run', '--session', 'last', '--resume')).toMatchObject({ code: 0, stdout: 'try it \n' });
    expect(server.host.chat(chatOf(server)).turns).toMatchObject([{ state: 'complete', message: { text: 'try it' } }]);
    const again = await run(server, 'run', '--session', 'last', '--resume');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing to resume') });
    expect((await run(server, 'run', '--resume')).code).toBe(2);
    expect((await run(server, 'run', '--session', 'last', '--resume', 'x')).code).toBe(2);
  });
});

describe('the token of a host of somebody else', { timeout: 60_000 }, () => {
  it.each(['tkn', 'token'])('[CLI-042] [UP-199] stands in its address as ?%s=', async (parameter) => {
    const server = await foreignServer('1.0.0', parameter);
    const url = `${server.url}?${parameter}=${encodeURIComponent(TOKEN)}`;
    const env = { ATRIUM_TOKEN: 'of another host' };
    expect((await endOf(atrium(['sessions', 'list', '--url', url], env))).code).toBe(0);
    expect(server.attempts).toEqual([{ query: expect.stringContaining(`?${parameter}=`), hasHeader: false }]);
  });

  it('[CLI-042] goes into a header first, and into the address for a host that refuses the header', async () => {
    const server = await foreignServer('1.0.0');
    const list = (token: string) => endOf(atrium(['sessions', 'list', '--url', server.url, '--token', token]));
    expect((await list(TOKEN)).code).toBe(0);
    expect(server.attempts).toEqual([
      { query: '', hasHeader: true },
      { query: expect.stringContaining('?tkn='), hasHeader: false },
    ]);
    const wrong = await list('wrong');
    expect(wrong).toMatchObject({ code: 5, stdout: '' });
    expect(wrong.stderr).not.toContain('wrong');
    const both = await endOf(atrium(['sessions', 'list', '--token', 'a', '--token-file', 'b']));
    expect(both.code).toBe(2);
  });
});

describe.skipIf(!isBuilt)(
  'atrium attach with a host of somebody else (skipped unless it has been built)',
  { timeout: 60_000 },
  () => {
    it.each(['1.0.0', '0.9.0'])(
      '[CLI-037] [CLI-040] [CLI-043] chats with one of %s, and goes on after a refusal and a failure',
      async (version) => {
        const server = await foreignServer(version);
        await run(server, 'run', 'hello you');
        const answers = server.host.judge;
        const terminal = openWindow();
        const place = { cwd: tmpdir(), window: terminal };
        atrium(['attach', `${server.url}${TOKENED}`], { NO_COLOR: '1', TERM: 'xterm-256color' }, place);
        await terminal.sees(/> hello you\n\nhello you/);
        await terminal.sees(PROMPT);
        await say(terminal, 'how are you');
        await terminal.sees(/> how are you\n\nhow are you\n/);
        // Nothing of ours is there to complete with.
        terminal.type('see @app');
        await terminal.sees(/> see @app/);
        terminal.keys('Tab', 'C-u');
        server.host.judge = () => 'there is no room for that';
        await say(terminal, 'too much');
        await terminal.sees(/Not accepted: there is no room for that[\s\S]*\n> too much\n/);
        terminal.keys('C-u');
        server.host.judge = (action) => {
          if (action.type === 'chat/turnStarted') setImmediate(() => fail(server, action.turnId));
          return undefined;
        };
        await say(terminal, 'try it');
        await terminal.sees(/✗ Too busy\.\n\n\/resume goes on where it stopped\./);
        server.host.judge = answers;
        await say(terminal, '/resume');
        await terminal.sees(/goes on where it stopped\.\n\ntry it\n/);
        expect(await terminal.everything()).not.toContain('history was cut');
        expect((await terminal.everything()).match(/> try it/g)).toHaveLength(1);
        await say(terminal, '/fork');
        await terminal.sees(/The agent echo cannot fork a chat\./);
        await say(terminal, '/chats');
        await terminal.sees(/Which chat\?\n› .* main /);
        terminal.keys('Escape');
        await terminal.sees(PROMPT);
        const asked = () => server.host.heard.filter(({ method }) => method === 'atrium/pairings');
        await expect.poll(asked).toHaveLength(2);
        terminal.keys('C-d');
        await terminal.sees(/To go on: atrium attach/);
        // Once for each time that the chat opened: after a no, nobody asks again.
        expect(asked()).toHaveLength(2);
      },
    );
  },
);
