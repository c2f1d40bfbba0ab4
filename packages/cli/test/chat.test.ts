import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ExitCode } from '../src/exit.js';
import { answer, isClean, openChat, openRealChat, PROMPT, say, startIn, TYPING_GUARD_MS } from './support/chat.js';
import { isBuilt, newFolder, SERVE, sharedHost, startHost, startHostProcess } from './support/host.js';
import { hasTmux } from './support/terminal.js';

/** A machine may be busy with other things. */
const WAIT = { timeout: 30_000, interval: 100 };

describe.skipIf(!isBuilt)('atrium chat (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const shared = sharedHost();
  const chat = (args = 'chat') => openChat(args, { host: shared() });

  it('names the agent in its status line as people know it, and not by its id', async () => {
    const { terminal } = await openChat('chat', { host: shared() });
    expect(await terminal.sees(PROMPT)).toMatch(/New session · Mock · [^\n]*\/help$/);
  });

  it('keeps what was typed on the way to another session', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    terminal.type('/new');
    await terminal.sees(/\/new\s+a new session/);
    terminal.keys('Enter', 'a', 'h', 'a', 'Enter', 'o', 'h', 'o');
    await terminal.sees(/> aha\n\nYou said: aha\n[\s\S]*\n> oho\n/);
  });

  it('asks before it sends a command that it does not know, and says how to [DAY-080]', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, '/chnages');
    await terminal.sees(
      /There is no command \/chnages\. Did you mean \/changes\? To send it as a text, write\n {2}\/\/chnages/,
    );
    await terminal.sees(/Send it as a text\?/);
    await answer(terminal, 'n');
    await terminal.sees(/\n> \/chnages\n/);
    expect(await terminal.everything()).not.toContain('You said');
    terminal.keys('Enter');
    await terminal.sees(/Send it as a text\?/);
    await answer(terminal, 'y');
    await terminal.sees(/You said: \/chnages/);
    await say(terminal, '//etc');
    await terminal.sees(/You said: \/etc/);
  });

  it('completes the arguments of commands with Tab [DAY-080]', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    terminal.type('/auto o');
    await terminal.sees(/\n +on\b[\s\S]*\n +off\b/);
    terminal.keys('Tab', 'Tab');
    await terminal.sees(/> \/auto off\n/);
    terminal.keys('Enter');
    await terminal.sees(/Tools ask first/);
  });

  it('sends a skill of the folder, also as the very first words', async () => {
    const prepare = async (folder: string) => {
      await mkdir(path.join(folder, '.agents/skills/deploy'), { recursive: true });
      const text = '---\nname: deploy\ndescription: Deploys it\n---\nDo it.\n';
      await writeFile(path.join(folder, '.agents/skills/deploy/SKILL.md'), text);
    };
    const { terminal } = await openChat('chat /deploy now', { host: shared(), prepare });
    await terminal.sees(/You said: \/deploy now/);
    await say(terminal, '/deplyo now');
    await terminal.sees(/Did you mean \/deploy\?/);
  });

  it('shows an edit as a diff before and after it is made', async () => {
    const { terminal, folder } = await chat();
    await writeFile(path.join(folder, 'note.txt'), 'one\ntwo\n');
    await terminal.sees(PROMPT);
    await say(terminal, 'write');
    await terminal.sees(/note\.txt {2}\+1 -1\n {4}one\n {2}- two\n {2}\+ TWO\n/);
    await answer(terminal, 'y');
    await terminal.sees(/✓ Write file.*\n.*note\.txt {2}\+1 -1\n/);
    expect(await readFile(path.join(folder, 'note.txt'), 'utf8')).toBe('one\nTWO\n');
  });

  it('lets one change a command before it runs', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'shell');
    await terminal.sees(
      /\? Run "echo one"\?\n {2}command: echo one\n {2}y Run · n Do not run · a Run, [\s\S]*Always allow shell\(echo \*\)[\s\S]*e edit first · d no/,
    );
    await answer(terminal, 'e');
    await terminal.sees(/command> echo one\n {2}Enter runs it like this/);
    terminal.type(' and two');
    await terminal.sees(/command> echo one and two/);
    terminal.keys('Enter');
    await terminal.sees(
      /✓ Shell {2}Ran echo one and two[^\n]*\n {2}Allowed by a person, who changed the input\n {2}one and two\n/,
    );
  });

  it('takes an answer that is not among the choices, and keeps it in sight', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'ask freely');
    await terminal.sees(/› 1 Red\n {2}2 Blue\n {2}3 something else: write it/);
    await new Promise((resolve) => setTimeout(resolve, TYPING_GUARD_MS));
    terminal.type('dark green');
    await terminal.sees(/› 3 dark green\n/);
    terminal.keys('Enter');
    await terminal.sees(/※ Which colour\? dark green\n\n[\s\S]*freeformValues/);
  });

  it('asks questions, and answers them with arrows and Enter', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'ask');
    await terminal.sees(/\? Which colour\?\n› 1 Red\n {2}2 Blue/);
    await answer(terminal, 'Down');
    await terminal.sees(/› 2 Blue/);
    terminal.keys('Enter');
    await terminal.sees(/You answered: .*"blue"/);
  });

  it('queues, steers and stops', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'slow');
    await terminal.sees(/Esc stops/);
    await say(terminal, 'later');
    await terminal.sees(/queued: later/);
    terminal.type('to the left');
    terminal.keys('M-Enter');
    await terminal.sees(/steering: to the left/);
    terminal.keys('Escape');
    await terminal.sees(/Stopped\.[\s\S]*queued: later\n {2}A message waits\. Enter on an empty line sends it/);
    terminal.keys('Enter');
    await terminal.sees(/> later\n\n> to the left\n\nYou said: later/);
  });

  it('takes pasted lines as one message, and finds it again with an arrow', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    await terminal.paste('first line\nsecond line\n  third');
    await terminal.sees(/> first line\n {2}second line\n {4}third\n/);
    terminal.keys('Enter');
    await terminal.sees(/You said: first line\nsecond line\n {2}third/);
    terminal.keys('Up');
    await terminal.sees(/> first line\n {2}second line\n {4}third\n.*\/help$/);
    terminal.keys('C-c');
    await terminal.sees(PROMPT);
  });

  it('goes back from the list of sessions to where one was', async () => {
    const { terminal } = await chat();
    await terminal.sees(PROMPT);
    await say(terminal, 'hello');
    await terminal.sees(/3 tokens in/);
    await say(terminal, '/sessions');
    await terminal.sees(/Which session\?[\s\S]*\n› A first hello[\s\S]*Esc goes back/);
    terminal.keys('Escape');
    await terminal.sees(PROMPT);
    expect((await terminal.everything()).match(/Hello you/g)).toHaveLength(1);
    await say(terminal, '/new');
    await terminal.sees(/New session {2}[\da-f]{8}\n\n> write/);
    await say(terminal, 'fresh');
    await terminal.sees(/You said: fresh/);
  });

  it('does not begin in a terminal that cannot move the cursor', async () => {
    const folder = await newFolder(shared());
    const env = { ...shared().env, TERM: 'dumb' };
    const { terminal, ended } = startIn({ host: { ...shared(), env }, folder, args: 'chat' });
    expect(await ended()).toBe(ExitCode.Usage);
    await terminal.sees(/TERM is "dumb"[\s\S]*atrium run/);
  });

  it('leaves the terminal clean on Ctrl+C in the middle of a turn, and the turn goes on', async () => {
    const { terminal, host, folder, ended } = await chat('chat --config autoApprove=true until told');
    await terminal.sees(/● Shell[\s\S]*Esc stops/);
    terminal.keys('C-c');
    await terminal.sees(/Ctrl\+C again leaves · Esc stops the turn/);
    terminal.keys('C-c');
    await terminal.sees(/It goes on without you/);
    expect(await ended()).toBe(ExitCode.Interrupted);
    expect(await terminal.isClean()).toBe(true);
    await writeFile(path.join(folder, 'go'), '');
    await expect
      .poll(async () => (await host.run(['sessions', 'show'])).stdout, { timeout: 30_000, interval: 200 })
      .toContain('Rested.');
  });

  it('[REL-069] shows the code of a program that asks to be let in, and so does atrium pair', async () => {
    const { terminal, host } = await openChat('chat hello', { hostArgs: ['--log-level', 'info'] });
    await terminal.sees(PROMPT);
    const port = /listening for providers port=(\d+)/.exec(host.serve.said.stderr)?.[1];
    const provider = new WebSocket(`ws://127.0.0.1:${port}`);
    onTestFinished(() => provider.close());
    await once(provider, 'open');
    provider.send(JSON.stringify({ type: 'auth', mode: 'pair', name: 'ci' }));
    const screen = await terminal.sees(/※ Type this code into the local program 'ci'[\s\S]*\d{3} \d{3}/);
    const [, code = ''] = /(\d{3} \d{3})/.exec(screen) ?? [];
    const { stdout } = await host.run(['pair', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ code, name: 'ci' }]);
    const closed = once(provider, 'close');
    expect((await host.run(['pair', '--deny'])).stdout).toBe("Denied: the local program 'ci'\n");
    await closed;
    expect((await host.run(['pair'])).stdout).toBe('No program asks to connect.\n');
  });

  it('asks whether a folder is trusted, and then its provider is there', async () => {
    const host = await startHost();
    const folder = path.join(path.dirname(host.dataDir), 'project');
    const greeter = fileURLToPath(new URL('../../../examples/providers/minimal-node.mjs', import.meta.url));
    await mkdir(folder);
    const providers = { greeter: { command: process.execPath, args: [greeter] } };
    await writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ providers }));
    const { terminal } = startIn({ host, folder, args: 'chat' });
    await terminal.sees(/Do you trust this folder[\s\S]*greeter[\s\S]*y yes · n no · Esc later/);
    await answer(terminal, 'y');
    await terminal.sees(PROMPT);
    for (;;) {
      const { stdout } = await host.run(['providers']);
      if (/greeter +\S+ +here +greet/.test(stdout)) break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const { stdout } = await host.run(['providers', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'greeter', tools: ['greet'] }]);
  });

  it('says when the host is gone, keeps what is written, and goes on when it is back', async () => {
    const host = await startHostProcess();
    const { terminal } = await openChat('chat', { host });
    await terminal.sees(PROMPT);
    host.serve.child.kill('SIGKILL');
    await terminal.sees(/The host is gone[\s\S]*no connection/);
    await say(terminal, 'are you there');
    await host.start(SERVE).says(/READY/);
    await terminal.sees(/The host is back\.[\s\S]*You said: are you there/);
  });

  it('stays open where only the host is missing, and says what did not reach it', async () => {
    const { terminal, host } = await openChat();
    await terminal.sees(PROMPT);
    host.serve.signal('SIGTERM');
    await terminal.sees(/The host is gone/);
    for (const command of ['/sessions', '/new', '/files']) await say(terminal, command);
    await terminal.sees(/(Not done: the host is not there right now[^\n]*\n\n(※ )?){3}> write/);
    await say(terminal, 'are you there');
    terminal.keys('C-d');
    await terminal.sees(/What you did last has not reached the host\.\nTo go on: atrium attach/);
  });

  it('says a word also when it is interrupted while the next session opens', async () => {
    const host = await startHostProcess();
    const { terminal, ended } = await openChat('chat', { host });
    await terminal.sees(PROMPT);
    host.serve.child.kill('SIGSTOP');
    onTestFinished(() => void host.serve.child.kill('SIGCONT'));
    await say(terminal, '/new');
    // The prompt is taken away first.
    await expect.poll(() => terminal.screen(), { timeout: 15_000 }).not.toContain('/help');
    terminal.keys('C-c');
    await terminal.sees(/Left\.$/);
    expect(await ended()).toBe(ExitCode.Interrupted);
    expect(await terminal.isClean()).toBe(true);
  });

  it('lets one choose when there are several sessions', async () => {
    const host = await startHost();
    const none = await openChat('attach', { host });
    expect(await none.ended()).toBe(ExitCode.NoSession);
    await none.terminal.sees(/there are no sessions/);
    await host.run(['run', 'hello']);
    await host.run(['run', 'another']);
    const { terminal, ended } = await openChat('attach', { host });
    await terminal.sees(/Which session\?\n› New session/);
    terminal.keys('Down');
    await terminal.sees(/› A first hello/);
    terminal.keys('Enter');
    await terminal.sees(/> hello\n\n[\s\S]*Hello you/);
    await say(terminal, '/quit');
    await terminal.sees(/To go on/);
    expect(await ended()).toBe(ExitCode.Ok);
  });
});

/** What is not ours: the echo and the lines of the system's terminal, its own idea of widths, jobs of a shell, a crash. */
describe.skipIf(!isBuilt || !hasTmux)(
  'atrium chat as a process in a real terminal (skipped unless it has been built and tmux is here)',
  { timeout: 60_000 },
  () => {
    const shared = sharedHost();
    const real = (args = 'chat') => openRealChat(args, { host: shared() });

    it('plays a turn with an approval, and leaves what was said in the scrollback', async () => {
      const { terminal } = await real('chat hello');
      await terminal.sees(/Hello you, here is code\.\n\nmock-1 · 3 tokens in · 5 out\n\n> write/);
      await say(terminal, 'deploy');
      const asked = await terminal.sees(/\? Deploy to staging\n {2}target: staging\n {2}y yes · n no/);
      expect(asked).toContain('asks you');
      await answer(terminal, 'y');
      await terminal.sees(/✓ Deploy {2}Deployed to staging\n {2}Deployed in 3 s\.\n\nThe outcome/);
      await say(terminal, 'deploy');
      await terminal.sees(/asks you/);
      await answer(terminal, 'd');
      await terminal.sees(/why not>/);
      terminal.type('not today');
      terminal.keys('Enter');
      await terminal.sees(/The outcome: not today/);
      terminal.keys('C-d');
      await terminal.sees(/To go on: atrium attach [\da-f]{8}/);
      expect((await terminal.everything()).match(/I would like to deploy\./g)).toHaveLength(2);
      await isClean(terminal);
    });

    it('keeps what was typed before it was ready: every Enter, and in order', async () => {
      const { terminal } = await openRealChat('chat', {
        host: shared(),
        typedAhead: ['first', 'second line', '/help'],
      });
      await vi.waitFor(async () => expect(await terminal.everything()).toContain('You said: second line'), WAIT);
      const said = [...(await terminal.everything()).matchAll(/^You said: (.*)$/gm)].map(([, text]) => text);
      expect(said).toEqual(['first', 'second line']);
    });

    it('takes a very large paste, and goes on at once', async () => {
      const { terminal } = await real();
      await terminal.sees(PROMPT);
      await terminal.paste(Array.from({ length: 4_000 }, (_, index) => `line ${index} 日本`).join('\n'));
      await terminal.sees(/⋮ line 3988 日本\n[\s\S]*line 3999 日本\n/);
      terminal.type(' end');
      await terminal.sees(/line 3999 日本 end/);
      terminal.keys('C-c');
      await terminal.sees(PROMPT);
    });

    it('leaves no doubles where the terminal takes pictures for wider than they are', async () => {
      const { terminal } = await real();
      terminal.resize(40, 20);
      await terminal.sees(PROMPT);
      await say(terminal, 'pictures');
      const screen = await terminal.sees(/The end\.\n\n> write/);
      expect(screen.match(/first row/g)).toHaveLength(1);
      expect(screen.match(/second row/g)).toHaveLength(1);
    });

    it('fits itself to the window, without a trace of what it was', async () => {
      const { terminal } = await real();
      await terminal.sees(PROMPT);
      await say(terminal, 'slow');
      await terminal.sees(/Esc stops/);
      for (const [columns, rows] of [
        [50, 20],
        [110, 40],
        [60, 25],
      ] as const) {
        terminal.resize(columns, rows);
        // The status reaches to the edge of the window as it is now.
        await terminal.sees(new RegExp(`^.{${columns - 'Esc stops'.length}}Esc stops$`, 'm'));
      }
      terminal.keys('Escape');
      const screen = await terminal.sees(/Stopped\.\n\n> write a message\n.*\/help$/);
      expect(screen.match(/\/help/g)).toHaveLength(1);
      expect(screen).not.toContain('Esc stops');
    });

    it('leaves the terminal clean when it is told to end', async () => {
      const { terminal } = await real();
      await terminal.sees(PROMPT);
      terminal.keys('C-z');
      await terminal.sees(/Stopped/);
      terminal.type('fg');
      terminal.keys('Enter');
      await terminal.sees(PROMPT);
      terminal.keys('C-z');
      await terminal.sees(/Stopped[\s\S]*Stopped/);
      // Bash wakes a stopped job that it kills. The job ends, or waits for the terminal, stopped again, and needs `fg`: before
      // bash knows that, `fg` takes it for a job that runs, and does not wake it.
      terminal.type('kill %1; while [ -n "$(jobs -r)" ]; do sleep 0.1; done; fg');
      terminal.keys('Enter');
      await terminal.sees(/To go on/);
      await isClean(terminal);
    });

    it('leaves the terminal clean when it crashes', async () => {
      // Node drops quotes from its options.
      const crash = 'data:text/javascript,process.on(/SIGWINCH/.source,()=>{throw%20new%20Error(/boom/.source)})';
      const { terminal } = await real(`--version; NODE_OPTIONS='--import ${crash}' atrium chat`);
      await terminal.sees(PROMPT);
      terminal.resize(80, 30);
      await terminal.sees(
        /The chat broke off \(1\)\. Its session is in the host: atrium attach last[\s\S]*Error: boom/,
      );
      await isClean(terminal);
    });
  },
);
