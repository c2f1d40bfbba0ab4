import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { describe, expect, it, onTestFinished } from 'vitest';
import { program } from '../src/cli.js';
import { atrium, endOf, isBuilt, jsonLines, newDataFolder, openDesk } from './support.js';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

function pathsOf(command: Command, before = ''): string[] {
  return command.commands.flatMap((each) => {
    const here = `${before} ${each.name()}`.trim();
    return each.commands.length > 0 ? pathsOf(each, here) : [here];
  });
}

describe('the page about the command', () => {
  it('has every command, with an example, and no other', async () => {
    const page = await readFile(path.join(DOCS, 'cli.md'), 'utf8');
    const documented = [...page.matchAll(/^#{2,3} `atrium ([a-z ]+)`/gm)].map(([, name]) => name);
    expect(documented.sort()).toEqual(pathsOf(program()).sort());
    const lines = page.split('\n').filter((line) => !line.startsWith('#'));
    const hasExample = (name: string) => lines.some((line) => new RegExp(`\\batrium ${name}\\b`).test(line));
    expect(pathsOf(program()).filter((name) => !hasExample(name))).toEqual([]);
  });

  it('has every option', async () => {
    const page = await readFile(path.join(DOCS, 'cli.md'), 'utf8');
    const all = (command: Command): string[] => [
      ...command.options.flatMap(({ long }) => long ?? []),
      ...command.commands.flatMap(all),
    ];
    for (const option of new Set(all(program()))) expect(page, option).toContain(`\`${option}`);
  });
});

describe.skipIf(!isBuilt)('help (skipped unless it has been built)', () => {
  it('is there for every command, with examples and exit codes', async () => {
    for (const name of pathsOf(program())) {
      const top = name.split(' ')[0] ?? '';
      const { code, stdout } = await endOf(atrium([top, '--help']));
      expect(code).toBe(0);
      expect(stdout, name).toContain('Examples:');
      expect(stdout, name).toContain('Exit codes:');
    }
  }, 60_000);

  it('and run load neither the host nor the terminal client', async () => {
    const dataDir = await newDataFolder();
    const env = { ATRIUM_DATA_DIR: dataDir, NODE_DEBUG: 'esm', NODE_OPTIONS: '' };
    for (const args of [['--help'], ['run', '--no-start', 'x']]) {
      const { stderr } = await endOf(atrium(args, env));
      expect(stderr).toContain('cli/dist/main.js');
      expect(stderr).not.toContain('host/dist/host.js');
      expect(stderr).not.toContain('cli/dist/chat/chat.js');
    }
  }, 30_000);

  it('tells what is wrong with a call, with exit code 2', async () => {
    expect(await endOf(atrium(['nonsense']))).toMatchObject({ code: 2, stdout: '' });
    expect((await endOf(atrium(['run', '--approve', 'some', 'x']))).code).toBe(2);
    expect((await endOf(atrium(['chat', '--no-start']))).stderr).toContain('needs a terminal');
    expect((await endOf(atrium(['call', 'ping', 'no json']))).code).toBe(2);
    expect((await endOf(atrium(['completions', 'tcsh']))).code).toBe(2);
  }, 30_000);
});

describe.skipIf(!isBuilt)('commands that look at a host (skipped unless it has been built)', () => {
  it('call sends any request', async () => {
    const desk = await openDesk();
    expect(await desk.run(['call', 'ping'])).toMatchObject({ code: 0, stdout: 'null\n' });
    const { stdout } = await desk.run(['call', 'listSessions']);
    expect(JSON.parse(stdout)).toEqual({ items: [] });
    const channel = 'ahp-session:/nowhere';
    expect((await desk.run(['call', 'fetchTurns', JSON.stringify({ channel })])).code).toBe(4);
    expect(await desk.run(['call', 'nonsense'])).toMatchObject({ code: 1, stdout: '' });
  }, 30_000);

  it('watch follows a session, as lines and as actions', async () => {
    const desk = await openDesk();
    await desk.run(['run', 'hi']);
    const lines = desk.start(['watch', 'last']);
    const actions = desk.start(['watch', 'last', '--json']);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await desk.run(['run', '--session', 'last', '--approve', 'all', 'deploy']);
    await lines.says(/^complete$/m);
    expect(lines.said.stdout).toContain('> deploy\n');
    expect(lines.said.stdout).toContain(
      'asks: Deploy: Deploy to staging\nallowed: Deploy\ndone: Deploy: Deployed to staging\n',
    );
    await actions.says(/turnComplete/);
    const types = jsonLines(actions.said.stdout).map(({ action }) => (action as { type: string }).type);
    expect(types[0]).toBe('session/turnStarted');
    await desk.run(['sessions', 'rm', 'last']);
    expect(await lines.ended()).toBe(0);
    expect((await desk.run(['watch', 'nowhere'])).code).toBe(4);
  }, 30_000);

  it('watch follows the list of all sessions', async () => {
    const desk = await openDesk();
    const all = desk.start(['watch', '--json']);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await desk.run(['run', 'hello']);
    await all.says(/A first hello/);
    expect(jsonLines(all.said.stdout)[0]).toMatchObject({ change: 'added' });
    all.child.kill('SIGINT');
    expect(await all.ended()).toBe(130);
  }, 30_000);

  it('providers and pair say so when there are none', async () => {
    const desk = await openDesk();
    await desk.run(['run', 'hello']);
    expect((await desk.run(['providers'])).stdout).toBe('No provider is connected.\n');
    expect((await desk.run(['providers', '--json'])).stdout).toBe('[]\n');
    expect((await desk.run(['pair'])).stdout).toBe('No provider asks to be let in.\n');
    expect((await desk.run(['pair', '--json'])).stdout).toBe('[]\n');
    expect((await desk.run(['pair', '--session', 'nowhere'])).code).toBe(4);
  }, 30_000);

  it('ends quietly when nobody reads on', async () => {
    const desk = await openDesk();
    await desk.run(['run', 'hello']);
    const reader = desk.start(['watch', '--json']);
    reader.child.stdout?.destroy();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await desk.run(['run', 'hello']);
    expect(await reader.ended()).toBe(0);
    expect(reader.said.stderr).toBe('');
  }, 30_000);
});

describe.skipIf(!isBuilt)('atrium completions (skipped unless it has been built)', () => {
  it('completes commands and options in bash', async () => {
    const { stdout } = await endOf(atrium(['completions', 'bash']));
    const script = `${stdout}\nCOMP_WORDS=(atrium sessions ex); COMP_CWORD=2; _atrium; echo "\${COMPREPLY[@]}"
COMP_WORDS=(atrium run --app); COMP_CWORD=2; _atrium; echo "\${COMPREPLY[@]}"`;
    const answer = await promisify(execFile)('bash', ['-c', script]);
    expect(answer.stdout).toBe('export\n--approve\n');
  });

  it('knows every command in every shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await endOf(atrium(['completions', shell]));
      for (const name of pathsOf(program())) expect(stdout).toContain(name.split(' ').at(-1));
    }
  }, 30_000);
});

describe.skipIf(!isBuilt)('atrium doctor (skipped unless it has been built)', () => {
  const stateOf = (stdout: string, about: string) =>
    (JSON.parse(stdout) as { about: string; state: string; text: string }[]).find((each) => each.about === about);

  it('finds nothing wrong with a host that runs', async () => {
    const desk = await openDesk();
    const { code, stdout } = await desk.run(['doctor', '--json']);
    expect(code).toBe(0);
    for (const about of ['node', 'data', 'disk', 'instances', 'host', 'token', 'log']) {
      expect(stateOf(stdout, about), about).toMatchObject({ state: 'fine' });
    }
    expect((await desk.run(['doctor'])).stdout).toMatch(/✓ host +ws:\/\/localhost:\d+ answers/);
  }, 30_000);

  it('sees a host that died, and that the log is whole all the same', async () => {
    const desk = await openDesk();
    await desk.run(['run', 'hello']);
    desk.host.child.kill('SIGKILL');
    await desk.host.ended();
    const { code, stdout } = await desk.run(['doctor', '--json']);
    expect(code).toBe(0);
    expect(stateOf(stdout, 'instances')).toMatchObject({ state: 'warning' });
    expect(stateOf(stdout, 'log')).toMatchObject({ state: 'fine', text: expect.stringContaining('whole') });
  }, 30_000);

  it('sees a taken port, and a folder that cannot be used', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const folder = await newDataFolder();
    const { stdout } = await endOf(atrium(['doctor', '--json', '--data-dir', folder], { ATRIUM_PORT: String(port) }));
    expect(stateOf(stdout, 'port')).toMatchObject({
      state: 'warning',
      text: `port ${port} is taken by another program`,
    });
    await writeFile(folder, 'a file');
    const broken = await endOf(atrium(['doctor', '--json', '--data-dir', folder]));
    expect(broken.code).toBe(1);
    expect(stateOf(broken.stdout, 'data')).toMatchObject({ state: 'problem' });
  }, 30_000);

  it.skipIf(process.platform === 'win32')(
    'sees a data folder that is open to others',
    async () => {
      const folder = await newDataFolder();
      await mkdir(folder);
      await chmod(folder, 0o755);
      const { stdout } = await endOf(atrium(['doctor', '--json', '--data-dir', folder]));
      expect(stateOf(stdout, 'data')).toMatchObject({ state: 'warning', remedy: `Run: chmod 700 ${folder}` });
    },
    30_000,
  );
});
