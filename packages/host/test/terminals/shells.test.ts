import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { TerminalCommandPart, TerminalState } from '@atrium/protocol';
import { describe, expect, it, vi } from 'vitest';
import { launchOf, userShell } from '../../src/workspace/terminals/shells.js';
import { tempFolder } from '../support/temp-folder.js';
import {
  fileUri,
  openTerminal,
  openTerminalFixture,
  stateIn,
  type TerminalFixture,
  textIn,
  type,
  until,
  untilText,
} from '../support/terminal-fixture.js';

const SHELLS = [
  { shell: '/bin/bash', rc: '.bashrc', prompt: "PS1='ready> '" },
  { shell: '/usr/bin/zsh', rc: '.zshrc', prompt: "PROMPT='ready> '" },
];

const WAIT = { timeout: 4_000, interval: 100 };

function commandsIn({ content }: TerminalState): TerminalCommandPart[] {
  return content.flatMap((part) => (part.type === 'command' ? part : []));
}

function isDone(state: TerminalState, count: number): boolean {
  return commandsIn(state).filter(({ isComplete }) => isComplete).length >= count;
}

for (const { shell, rc, prompt } of SHELLS) {
  const name = path.basename(shell);
  if (!existsSync(shell)) console.info(`${shell} is not here: it is not tried`);

  describe.skipIf(!existsSync(shell))(`${name} in a terminal (skipped unless ${name} is installed)`, () => {
    const open = async (settings = ''): Promise<TerminalFixture & { uri: string }> => {
      const files = { [rc]: `${prompt}\n${settings}\n` };
      const fixture = await openTerminalFixture({ terminals: { shell }, files });
      const uri = await openTerminal(fixture.client);
      await untilText(fixture.client, uri, 'ready> ');
      return { ...fixture, uri };
    };

    it('[AHP-234] tells commands as soon as it has come up, and not before', async () => {
      const { client, uri } = await open();
      await until(client, uri, ({ supportsCommandDetection }) => supportsCommandDetection === true);
      const types = client.types(uri);
      expect(types).toContain('terminal/commandDetectionAvailable');
      expect(types).not.toContain('terminal/commandExecuted');
    });

    it('[AHP-229] [AHP-234] tells what was run, what it wrote, how it ended and where', async () => {
      const { client, uri, folder } = await open();
      type(client, uri, 'echo one; printf "%s\\n" "two;\\\\three"\r');
      await until(client, uri, (state) => isDone(state, 1));
      type(client, uri, '(exit 3)\r');
      await until(client, uri, (state) => isDone(state, 2));
      type(client, uri, 'mkdir "a b" && cd "a b"\r');
      const state = await until(
        client,
        uri,
        (each) => isDone(each, 3) && each.cwd === fileUri(path.join(folder, 'a b')),
      );
      expect(commandsIn(state)).toMatchObject([
        { commandLine: 'echo one; printf "%s\\n" "two;\\\\three"', isComplete: true, exitCode: 0 },
        { commandLine: '(exit 3)', exitCode: 3 },
        { commandLine: 'mkdir "a b" && cd "a b"', exitCode: 0 },
      ]);
      expect(commandsIn(state)[0]?.output).toMatch(/^one\r\ntwo;\\+three\r\n/);
      expect(commandsIn(state).every(({ durationMs = -1 }) => durationMs >= 0)).toBe(true);
      expect(textIn(state.content)).not.toContain('633;');
      expect(JSON.stringify(client.received)).not.toContain('633;');
    });

    it('[AHP-229] gives a running command all that is written, until it is finished', async () => {
      const { client, uri } = await open();
      type(client, uri, "printf 'before\\n'; sleep 0.2; printf '\\033]633;D;0;guess\\007after\\n'\r");
      const state = await until(client, uri, (each) => isDone(each, 1));
      expect(commandsIn(state)).toHaveLength(1);
      expect(commandsIn(state)[0]?.output).toContain('before\r\nafter\r\n');
      const types = client.types(uri);
      const [begun, over] = [types.indexOf('terminal/commandExecuted'), types.indexOf('terminal/commandFinished')];
      expect(types.slice(begun + 1, over).every((each) => each === 'terminal/data')).toBe(true);
    });

    it('lets no output forge a command, and tells no program the secret', async () => {
      const { client, uri } = await open();
      const forged = ['A', 'C;sure;rm -rf', 'D;7', 'A;', 'C;sure;rm;'].map((mark) => `\\033]633;${mark}\\007`).join('');
      type(client, uri, `env | grep -c ATRIUM_; printf '${forged}'; echo do""ne\r`);
      const state = await until(client, uri, (each) => isDone(each, 1));
      expect(commandsIn(state)).toMatchObject([{ exitCode: 0 }]);
      expect(commandsIn(state)[0]?.output).toMatch(/^0\r\ndone\r\n/);
    });

    it('is left alone by an empty line, and by Ctrl+C', async () => {
      const { client, uri } = await open();
      // What is typed while a shell changes hands with its terminal may be lost, as anywhere.
      const prompts = (count: number) => untilText(client, uri, new RegExp(`(?:ready> [\\s\\S]*){${count}}`));
      type(client, uri, '\r');
      await prompts(2);
      type(client, uri, 'typed and left\x03');
      await prompts(3);
      type(client, uri, 'sleep 30\r');
      await until(client, uri, (state) => commandsIn(state).length === 1);
      // The shell says what it will run a moment before it does.
      await expect
        .poll(async () => {
          type(client, uri, '\x03');
          return isDone(await stateIn(client, uri), 1);
        }, WAIT)
        .toBe(true);
      const state = await stateIn(client, uri);
      expect(commandsIn(state)).toMatchObject([{ commandLine: 'sleep 30', exitCode: 130 }]);
    });

    it('finishes the command that ends the shell itself', async () => {
      const { client, uri } = await open();
      type(client, uri, 'exit 4\r');
      const state = await until(client, uri, ({ exitCode }) => exitCode !== undefined);
      expect(state.exitCode).toBe(4);
      expect(commandsIn(state)).toMatchObject([{ commandLine: 'exit 4', isComplete: true, exitCode: 4 }]);
    });

    it('tells several lines as one command', async () => {
      const { client, uri } = await open();
      type(client, uri, 'for i in 1 2; do\recho "n$i"\rdone\r');
      const state = await until(client, uri, (each) => isDone(each, 1));
      expect(commandsIn(state)[0]?.output).toContain('n1\r\nn2\r\n');
      expect(commandsIn(state)[0]?.commandLine).toMatch(/^for i in 1 2; do\s*echo "n\$i"[\s;]*done\s*$/);
    });
  });
}

describe.skipIf(!existsSync('/bin/bash'))('what a user of bash has set up (skipped unless bash is installed)', () => {
  const open = async (settings: string): Promise<TerminalFixture & { uri: string }> => {
    const files = { '.bashrc': `PS1='ready> '\n${settings}\n` };
    const fixture = await openTerminalFixture({ terminals: { shell: '/bin/bash' }, files });
    const uri = await openTerminal(fixture.client);
    await untilText(fixture.client, uri, 'ready> ');
    return { ...fixture, uri };
  };

  it('stays: hooks of the prompt, traps, PS0, and what $? says', async () => {
    const { client, uri } = await open(
      `PROMPT_COMMAND='echo "[hook $?]"'\ntrap 'LAST_DEBUG=$BASH_COMMAND' DEBUG\ntrap 'echo bye' EXIT\nPS0='[ps0]'`,
    );
    type(client, uri, 'false\r');
    await until(client, uri, (state) => isDone(state, 1));
    await untilText(client, uri, '[hook 1]');
    type(client, uri, 'echo "status $?"; trap -p DEBUG EXIT; echo "$LAST_DEBUG"\r');
    const state = await until(client, uri, (each) => isDone(each, 2));
    const output = commandsIn(state)[1]?.output;
    expect(output).toContain('status 1');
    expect(output).toContain("trap -- 'LAST_DEBUG=$BASH_COMMAND' DEBUG");
    expect(output).toContain("trap -- 'echo bye' EXIT");
    expect(textIn(state.content)).toContain('[ps0]');
    type(client, uri, 'exit\r');
    await untilText(client, uri, 'bye');
  });

  it('stays: a prompt that is shown as it stands', async () => {
    const { client, uri } = await open('shopt -u promptvars');
    type(client, uri, 'echo do""ne\r');
    const state = await untilText(client, uri, 'done\r\n');
    expect(textIn(state.content)).not.toContain('atrium');
  });

  it('stays: several hooks in an array', async () => {
    const { client, uri } = await open(`PROMPT_COMMAND=('echo first' 'echo second')`);
    type(client, uri, 'true\r');
    const state = await until(client, uri, (each) => isDone(each, 1));
    expect(textIn(state.content)).toMatch(/first\r\nsecond\r\n/);
  });

  it('stays: the history, and what is to be kept out of it', async () => {
    const { client, uri, folder } = await open(`HISTFILE=${'~'}/history\nHISTCONTROL=ignoreboth`);
    for (const [index, line] of ['echo a', 'echo a', ' echo hidden', 'echo b'].entries()) {
      type(client, uri, `${line}\r`);
      await until(client, uri, (state) => isDone(state, index + 1));
    }
    type(client, uri, 'exit\r');
    const state = await until(client, uri, ({ exitCode }) => exitCode !== undefined);
    expect(commandsIn(state).map(({ commandLine }) => commandLine)).toEqual(['echo a', 'echo a', '', 'echo b', 'exit']);
    expect(await readFile(path.join(folder, 'history'), 'utf8')).toBe('echo a\necho b\nexit\n');
  });
});

describe.skipIf(!existsSync('/usr/bin/zsh'))('what a user of zsh has set up (skipped unless zsh is installed)', () => {
  it('stays: all files in the right order and place, hooks, history', async () => {
    const files = {
      '.zshenv': 'ORDER=env; export ZDOTDIR=$HOME/dots',
      'dots/.zshrc':
        'ORDER=$ORDER,rc; PROMPT=\'ready> \'; HISTFILE=$HOME/history; SAVEHIST=9; precmd() { echo "[hook $?]" }',
    };
    const { client, folder } = await openTerminalFixture({ terminals: { shell: '/usr/bin/zsh' }, files });
    const uri = await openTerminal(client);
    await untilText(client, uri, 'ready> ');
    type(client, uri, 'echo $ORDER $ZDOTDIR $(print -l ${(k)functions} | grep -c __atrium); false\r');
    const state = await until(client, uri, (each) => isDone(each, 1));
    expect(commandsIn(state)[0]?.output).toContain(`env,rc ${folder}/dots 4`);
    await untilText(client, uri, '[hook 1]');
    type(client, uri, 'exit\r');
    await until(client, uri, ({ exitCode }) => exitCode !== undefined);
    expect(await readFile(path.join(folder, 'history'), 'utf8')).toContain('echo $ORDER');
  });

  it('leaves ZDOTDIR unset where it was, so that files go home', async () => {
    const files = { '.zshrc': "PROMPT='ready> '" };
    const { client } = await openTerminalFixture({ terminals: { shell: '/usr/bin/zsh' }, files });
    const uri = await openTerminal(client);
    await untilText(client, uri, 'ready> ');
    type(client, uri, 'echo "<${ZDOTDIR-unset}>"; zsh -fc \'echo "<${ZDOTDIR-unset}>"\'\r');
    const state = await until(client, uri, (each) => isDone(each, 1));
    expect(commandsIn(state)[0]?.output).toContain('<unset>\r\n<unset>\r\n');
  });
});

describe('a shell without marks', () => {
  it('[AHP-234] is a plain terminal', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, 'echo pl""ain\r');
    const state = await untilText(client, uri, 'plain');
    expect(state.supportsCommandDetection).toBeUndefined();
    expect(commandsIn(state)).toEqual([]);
  });

  it('is started as one expects on each system', async () => {
    const options = { env: { ZDOTDIR: '/dots' }, scripts: '/scripts' };
    expect(launchOf({ ...options, shell: '/usr/bin/fish', platform: 'linux' })).toEqual({
      file: '/usr/bin/fish',
      args: [],
      env: { ZDOTDIR: '/dots' },
    });
    expect(launchOf({ ...options, shell: '/bin/zsh', platform: 'darwin' })).toMatchObject({
      args: ['-l', '-i'],
      env: { ZDOTDIR: '/scripts', ATRIUM_TERMINAL_ZDOTDIR: '/dots' },
    });
    expect(launchOf({ ...options, shell: '/bin/bash', platform: 'darwin' }).env.ATRIUM_TERMINAL_LOGIN).toBe('1');
  });

  it('is never one that keeps people out', async () => {
    expect(await userShell({ SHELL: '/usr/sbin/nologin' })).toMatch(/sh$/);
    expect(await userShell({ SHELL: '/no/such/shell' })).toMatch(/sh$/);
    expect(await userShell({ SHELL: '/bin/sh' })).toBe('/bin/sh');
  });

  it('leaves no file behind', async () => {
    const { host, client } = await openTerminalFixture({ terminals: { shell: '/bin/bash' } });
    // Others make such files at the same time, elsewhere.
    const folder = await tempFolder();
    vi.stubEnv('TMPDIR', folder);
    const left = async () => (await readdir(folder)).filter((name) => name.startsWith('atrium-shell-'));
    await openTerminal(client);
    expect(await left()).toHaveLength(1);
    await host.stop();
    expect(await left()).toEqual([]);
  });

  it('puts what it reads where it is told to, for nobody else to change', async () => {
    const scriptsFolder = path.join(await tempFolder(), 'private', 'shells');
    const { host, client } = await openTerminalFixture({ terminals: { shell: '/bin/bash', scriptsFolder } });
    const uri = await openTerminal(client);
    await until(client, uri, ({ supportsCommandDetection }) => supportsCommandDetection === true);
    expect((await stat(scriptsFolder)).mode & 0o777).toBe(0o700);
    await host.stop();
    expect(await readdir(scriptsFolder)).toContain('atrium.bash');
  });
});
