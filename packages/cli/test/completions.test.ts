import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { describe, expect, it, onTestFinished } from 'vitest';
import { program } from '../src/cli.js';
import { isBuilt } from './support/host.js';
import { atrium, endOf, surroundings } from './support/run-cli.js';
import { hasTmux, openTerminal } from './support/terminal.js';

const hasShell = (name: string) => spawnSync(name, ['--version']).status === 0;

function namesOf(command: Command): string[] {
  return command.commands.flatMap((each) => [each.name(), ...namesOf(each)]);
}

describe.skipIf(!isBuilt)('atrium completions (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('completes commands, options and their values in bash', async () => {
    const { stdout } = await endOf(atrium(['completions', 'bash']));
    const words = ['sessions ex', 'run --app', 'run --approve ', 'completions z', 'service ', 'run --timeout '];
    const asked = words.map((line) => {
      const parts = `atrium ${line}`.split(' ');
      return `COMP_WORDS=(${parts.map((part) => `'${part}'`).join(' ')}); COMP_CWORD=${parts.length - 1}; _atrium; echo "\${COMPREPLY[@]}"`;
    });
    const answer = await promisify(execFile)('bash', ['--norc', '-c', [stdout, ...asked].join('\n')], { cwd: '/' });
    expect(answer.stdout.split('\n').map((line) => line.trim())).toEqual([
      ...['export', '--approve', 'reads all none', 'zsh', 'start stop status install uninstall --help', '', ''],
    ]);
  });

  it.skipIf(!hasShell('fish'))('completes them in fish (skipped unless it is installed)', async () => {
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'atrium-fish-')), 'atrium.fish');
    onTestFinished(() => rm(path.dirname(file), { recursive: true, force: true }));
    await writeFile(file, (await endOf(atrium(['completions', 'fish']))).stdout);
    const completed = async (line: string) => {
      const code = `source ${file}; complete -C '${line}'`;
      const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', code], { env: surroundings() });
      return stdout
        .trim()
        .split('\n')
        .map((each) => each.split('\t')[0]);
    };
    expect(await completed('atrium sessions ex')).toEqual(['export']);
    expect(await completed('atrium sessions list ex')).toEqual(['']);
    expect(await completed('atrium run --app')).toEqual(['--approve']);
    expect(await completed('atrium run --approve ')).toEqual(['all', 'none', 'reads']);
    expect(await completed('atrium service st')).toEqual(['start', 'status', 'stop']);
  });

  it.skipIf(!hasShell('zsh') || !hasTmux)('completes them in zsh (skipped unless it and tmux are here)', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-zsh-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(path.join(folder, 'atrium.zsh'), (await endOf(atrium(['completions', 'zsh']))).stdout);
    const terminal = await openTerminal({}, folder);
    terminal.type('exec zsh -f');
    terminal.keys('Enter');
    await terminal.sees(/[%#]$/);
    terminal.type('autoload -U compinit; compinit -D -u; source ./atrium.zsh; PS1="zsh: "; clear');
    terminal.keys('Enter');
    await terminal.sees(/^zsh:$/);
    for (const [typed, whole] of [
      ['atrium sessions ex', /atrium sessions export$/],
      ['atrium run --app', /atrium run --approve$/],
      ['atrium run --approve no', /atrium run --approve none$/],
      ['atrium sessions import atr', /atrium sessions import atrium\.zsh$/],
    ] as const) {
      terminal.type(typed);
      terminal.keys('Tab');
      await terminal.sees(whole);
      // Ctrl+C while zsh still completes would end the completion, not the line; a key that edits waits its turn.
      terminal.keys('C-u');
      await terminal.sees(/zsh:$/);
    }
  });

  it('knows every command in every shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await endOf(atrium(['completions', shell]));
      for (const name of namesOf(program())) expect(stdout).toContain(name);
    }
  }, 30_000);
});
