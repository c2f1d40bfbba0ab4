/** Several chats with a real host: commands, and the terminal. */
import { describe, expect, it } from 'vitest';
import { answer, openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, sharedHost } from './support/host.js';
import { jsonLines } from './support/run-cli.js';

describe.skipIf(!isBuilt)('commands about chats (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const shared = sharedHost();

  it('[CLI-046] [UP-078] list, show and follow the chat of a worker', async () => {
    const host = shared();
    await host.run(['run', 'hello']);
    const watching = host.start(['watch', 'last']);
    await expect.poll(() => watching.said.stderr).toContain('Watching');
    await host.run(['run', '--session', 'last', '--approve', 'all', 'delegate']);
    await watching.says(/The worker says: There are three\./);
    expect(watching.said.stdout).toContain('chat: Count the files (worker)\n');
    expect(watching.said.stdout).toMatch(/^\[Count the files\] > How many files are there\?$/m);
    expect(watching.said.stdout).toMatch(/^\[Count the files\] There are three\.$/m);
    const { stdout } = await host.run(['chats']);
    expect(stdout).toMatch(/^NO +STATE +CHANGED +KIND +TITLE\n1 +idle +\S+ ago +main +A first hello\n/);
    expect(stdout).toMatch(/^2 +done +\S+ ago +worker {4}Count the files$/m);
    const rows = JSON.parse((await host.run(['chats', 'last', '--json'])).stdout);
    expect(rows).toMatchObject([
      { number: 1, kind: 'main', isDefault: true },
      { number: 2, kind: 'worker', depth: 1, title: 'Count the files', origin: { kind: 'tool' } },
    ]);
    expect((await host.run(['sessions', 'show', 'last'])).stdout).toContain('2   Count the files (worker, done)');
    const shown = await host.run(['sessions', 'show', 'last', '--chat', 'count']);
    expect(shown.stdout).toContain('> How many files are there?');
    expect(shown.stdout).not.toContain('> delegate');
    expect((await host.run(['sessions', 'show', 'last', '--chat', '9'])).code).toBe(4);
    expect((await host.run(['chats', 'nowhere'])).code).toBe(4);
    watching.signal('SIGINT');
    expect(await watching.ended()).toBe(130);
  });

  it('[CLI-048] a worker that asks is answered by the policy of run, like the agent that it works for', async () => {
    const host = shared();
    const refused = await host.run(['run', '--json', '--approve', 'none', '--timeout', '20', 'delegate']);
    const result = jsonLines(refused.stdout).at(-1);
    expect(result).toMatchObject({ type: 'result', state: 'complete' });
    expect(refused.code).toBe(5);
  });
});

describe.skipIf(!isBuilt)(
  'several chats in the terminal (skipped unless it has been built)',
  { timeout: 90_000 },
  () => {
    const shared = sharedHost();

    it('[CLI-047] [CLI-048] shows a worker below its call, goes to what it asks, and back', async () => {
      const { terminal } = await openChat('chat', { host: shared() });
      await terminal.sees(PROMPT);
      await say(terminal, 'delegate');
      await terminal.sees(/└ Count the files: asks you · Run "echo three"\?/);
      await terminal.sees(/! Ctrl\+G goes there · Count the files: Run "echo three"\?/);
      terminal.type('for later');
      terminal.keys('C-g');
      await terminal.sees(/› Count the files {2}worker\n\n> How many files are there\?\n\nLooking around\.\n/);
      await terminal.sees(/\? Run "echo three"\?/);
      await answer(terminal, 'y');
      await terminal.sees(/There are three\.\n\n> the chat of a worker: Ctrl\+G goes back/);
      await say(terminal, 'may I');
      await terminal.sees(/Nobody writes here but the worker/);
      terminal.keys('C-c', 'C-g');
      await terminal.sees(
        /✓ Worker .*\n {2}└ Count the files: done\n[\s\S]*The worker says: There are three\.\n\n> for later/,
      );
      terminal.keys('C-c', 'C-d');
      await terminal.sees(/To go on: atrium attach/);
      const again = await openChat('attach last --chat count', { host: shared() });
      await again.terminal.sees(/› Count the files {2}worker\n\n> How many files/);
      again.terminal.keys('C-d');
    });

    it('[CLI-046] [CLI-049] forks, asks aside, picks and closes', async () => {
      const { terminal } = await openChat('chat', { host: shared() });
      await terminal.sees(PROMPT);
      await say(terminal, '/fork');
      await terminal.sees(/There is nothing to fork yet/);
      await say(terminal, 'one');
      await terminal.sees(/You said: one/);
      await say(terminal, '/fork two');
      await terminal.sees(/\(fork\) {2}fork\n\n> one\n\nYou said: one\n\n> two\n\nYou said: two\n/);
      await say(terminal, '/aside three');
      await terminal.sees(/› three {2}side chat\n\n> three\n\nYou said: three\n/);
      await say(terminal, '/chats');
      await terminal.sees(/Which chat\?\n {2}.* main .*\n {2}.*\(fork\) +fork .*\n› three +side chat/);
      terminal.keys('Enter');
      await terminal.sees(PROMPT);
      await say(terminal, '/close');
      await terminal.sees(/Close this chat and what was said in it for good\?/);
      await answer(terminal, 'y');
      await terminal.sees(/The chat was closed\.[\s\S]*\(fork\) {2}fork\n/);
      await say(terminal, '/chats');
      await terminal.sees(/Which chat\?/);
      terminal.keys('Up', 'Enter');
      await terminal.sees(/\(2 chats\)/);
      await say(terminal, '/close');
      await terminal.sees(/first chat of the session, and stays/);
    });
  },
);
