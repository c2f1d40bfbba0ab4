import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { program } from '../src/cli.js';
import {
  AGENT_SCRIPT,
  isBuilt,
  newDataFolder,
  SERVE,
  sharedHost,
  startHost,
  startHostProcess,
} from './support/host.js';
import {
  atrium,
  COMMAND,
  COMPILED_COMMAND,
  endOf,
  jsonLines,
  type Run,
  spawnAtrium,
  surroundings,
} from './support/run-cli.js';

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

/** What `--help` prints, without a process for each command. */
function helpOf(name: string): string {
  let command = program();
  for (const word of name.split(' ')) command = command.commands.find((each) => each.name() === word) ?? command;
  const said: string[] = [];
  command.configureOutput({ writeOut: (text) => void said.push(text) }).outputHelp();
  return said.join('');
}

describe('help', () => {
  it.each(pathsOf(program()))('of %s has examples of it, and its group names the exit codes', (name) => {
    expect(helpOf(name)).toContain(`Usage: atrium ${name}`);
    expect(helpOf(name)).toMatch(new RegExp(`Examples:[^]*\\$ .*\\batrium ${name.replace(/ list$/, '')}\\b`));
    expect(helpOf(name.split(' ')[0] ?? '')).toContain('Exit codes:');
  });
});

describe.skipIf(!isBuilt)('help (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('and run load neither the host nor the terminal client', async () => {
    const dataDir = await newDataFolder();
    const env = { ATRIUM_DATA_DIR: dataDir, NODE_DEBUG: 'esm', NODE_OPTIONS: '' };
    for (const args of [['--help'], ['run', '--no-start', 'x']]) {
      const run = spawn(process.execPath, [COMPILED_COMMAND, ...args], { env: surroundings(env) });
      const stderr = await text(run.stderr);
      expect(stderr).toContain('cli/dist/main.js');
      expect(stderr).not.toContain('host/dist/host.js');
      expect(stderr).not.toContain('cli/dist/chat/chat.js');
    }
  });

  it('tells what is wrong with a call, with exit code 2', async () => {
    expect(await endOf(atrium(['nonsense']))).toMatchObject({ code: 2, stdout: '' });
    expect((await endOf(atrium(['run', '--approve', 'some', 'x']))).code).toBe(2);
    expect((await endOf(atrium(['run', '--timeout', '3000000', 'x']))).stderr).toContain('at most 1000000');
    expect((await endOf(atrium(['chat', '--no-start']))).stderr).toContain('needs a terminal');
    expect((await endOf(atrium(['call', 'ping', 'no json']))).code).toBe(2);
    expect((await endOf(atrium(['completions', 'tcsh']))).code).toBe(2);
  });
});

async function watches({ said }: Run): Promise<void> {
  await expect.poll(() => said.stderr, { timeout: 20_000 }).toContain('Watching');
}

describe.skipIf(!isBuilt)(
  'commands that look at a host (skipped unless it has been built)',
  { timeout: 60_000 },
  () => {
    const shared = sharedHost();

    it('call sends any request', async () => {
      const host = shared();
      expect(await host.run(['call', 'ping'])).toMatchObject({ code: 0, stdout: 'null\n' });
      const { stdout } = await host.run(['call', 'listSessions']);
      expect(JSON.parse(stdout)).toEqual({ items: [] });
      const channel = 'ahp-session:/nowhere';
      expect((await host.run(['call', 'fetchTurns', JSON.stringify({ channel })])).code).toBe(4);
      expect(await host.run(['call', 'nonsense'])).toMatchObject({ code: 1, stdout: '' });
    });

    it('watch follows a session, as lines and as actions', async () => {
      const host = shared();
      await host.run(['run', 'hi']);
      const lines = host.start(['watch', 'last']);
      const actions = host.start(['watch', 'last', '--json']);
      await Promise.all([watches(lines), watches(actions)]);
      await host.run(['run', '--session', 'last', '--approve', 'all', 'deploy']);
      await lines.says(/^complete$/m);
      expect(lines.said.stdout).toContain('> deploy\n');
      expect(lines.said.stdout).toContain(
        'asks: Deploy: Deploy to staging\nallowed: Deploy\ndone: Deploy: Deployed to staging\n',
      );
      await actions.says(/turnComplete/);
      const types = jsonLines(actions.said.stdout).map(({ action }) => (action as { type: string }).type);
      // The session may have news of its own before, such as what changed in its folder.
      expect(types.find((type) => String(type).startsWith('chat/turn'))).toBe('chat/turnStarted');
      await host.run(['sessions', 'rm', 'last']);
      expect(await lines.ended()).toBe(0);
      expect((await host.run(['watch', 'nowhere'])).code).toBe(4);
    });

    it('watch follows the list of all sessions', async () => {
      const host = shared();
      const all = host.start(['watch', '--json']);
      await watches(all);
      await host.run(['run', 'hello']);
      await all.says(/A first hello.*\n/);
      expect(jsonLines(all.said.stdout)).toContainEqual(expect.objectContaining({ change: 'added' }));
      all.signal('SIGINT');
      expect(await all.ended()).toBe(130);
    });

    it('providers and pair say so when there are none', async () => {
      const host = shared();
      await host.run(['run', 'hello']);
      expect((await host.run(['providers'])).stdout).toBe('No provider is connected.\n');
      expect((await host.run(['providers', '--json'])).stdout).toBe('[]\n');
      expect((await host.run(['pair'])).stdout).toBe('No program asks to connect.\n');
      expect((await host.run(['pair', '--json'])).stdout).toBe('[]\n');
      expect((await host.run(['pair', '--session', 'nowhere'])).code).toBe(4);
    });

    it('ends quietly when nobody reads on', async () => {
      const host = shared();
      await host.run(['run', 'hello']);
      const reader = host.spawn(['watch', '--json']);
      await watches(reader);
      reader.child.stdout?.destroy();
      await host.run(['run', 'hello']);
      expect(await reader.ended()).toBe(0);
      expect(reader.said.stderr).toBe('Watching all sessions. Ctrl+C ends it.\n');
    });
  },
);

describe.skipIf(!isBuilt)('what cannot work (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('is told in words, with what to do, and the exit code that scripts look at', async () => {
    const nowhere = await newDataFolder();
    const fails = async (args: readonly string[], env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await endOf(atrium(args, { ATRIUM_DATA_DIR: nowhere, ...env }));
      expect(stdout).toBe('');
      return [code, stderr];
    };
    expect(await fails(['sessions', 'list', '--data-dir', ''])).toEqual([2, expect.stringContaining('name a folder')]);
    expect(await fails(['run', '--cwd', path.join(nowhere, 'no'), 'x'])).toEqual([
      2,
      expect.stringContaining('is not there'),
    ]);
    expect(await fails(['sessions', 'list', '--url', 'nope'])).toEqual([
      2,
      expect.stringContaining('ws://localhost:9300'),
    ]);
    const gone = ['sessions', 'list', '--url', 'ws://127.0.0.1:1'];
    expect(await fails(gone)).toEqual([1, expect.stringContaining('Is a host running there?')]);
    const noFile = [...gone, '--token-file', path.join(nowhere, 'no')];
    expect(await fails(noFile)).toEqual([2, expect.stringContaining('there is no such file')]);
    await endOf(atrium(['service', 'stop', '--data-dir', nowhere]));
  });

  it('is said once when no host can be started', async () => {
    const { code, stderr } = await endOf(atrium(['sessions', 'list', '--data-dir', '/dev/null/x']));
    expect(code).toBe(2);
    expect(stderr.match(/Starting a host/g)).toHaveLength(1);
    expect(stderr).toContain('name another with --data-dir');
  });

  it('tells a wrong token from a host that is not there, and takes the link to the page for an address', async () => {
    const host = await startHost();
    const { url, tokenFile } = JSON.parse((await host.run(['service', 'status', '--json'])).stdout);
    const refused = await host.run(['sessions', 'list', '--url', url]);
    expect(refused).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/refuses the token\. Give[\s\S]*--token-file/),
    });
    const link = `${url.replace('ws', 'http')}/#token=${(await readFile(tokenFile, 'utf8')).trim()}`;
    expect(await host.run(['sessions', 'list', '--json', '--url', link])).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  it('says that a host which came back refuses the token, instead of waiting for it for ever', async () => {
    const dataDir = await newDataFolder();
    // Outside the range from which the system gives ports out: nobody else takes it between two starts.
    const port = String(20_000 + Math.floor(Math.random() * 10_000));
    const serve = async <T extends Run>(start: (args: readonly string[]) => T, token: string) => {
      const options = ['--port', port, '--data-dir', dataDir, '--script', AGENT_SCRIPT, '--connection-token', token];
      const host = start(['serve', '--quiet', ...options]);
      await host.says(/READY:/);
      return host;
    };
    const first = await serve(spawnAtrium, 'the-first-token-0123456789');
    const place = { ATRIUM_URL: `ws://127.0.0.1:${port}`, ATRIUM_TOKEN: 'the-first-token-0123456789', NO_COLOR: '1' };
    const run = atrium(['run', '--json', 'slow'], place);
    run.stdin.end();
    await run.says(/"type":"text"/);
    const clients = [run, atrium(['watch', '--json'], place), atrium(['watch', 'last'], place)];
    await vi.waitFor(
      () =>
        expect(
          clients
            .slice(1)
            .map(({ said }) => said.stderr)
            .join(),
        ).toMatch(/Ctrl.*,.*Ctrl/s),
      20_000,
    );
    first.child.kill('SIGKILL');
    await first.ended();
    await serve(atrium, 'another-token-0123456789');
    for (const { ended, said } of clients) {
      expect(await ended()).toBe(5);
      expect(said.stderr).toContain('The host is gone. Waiting for it.');
      expect(said.stderr).toMatch(/error: ws:\/\/127\.0\.0\.1:\d+\/ refuses the token\. Give the one in/);
    }
  });

  it('still shows and stops a host whose token is gone, and says what to do', async () => {
    const host = await startHostProcess();
    await rm(path.join(host.dataDir, 'connection-token'));
    const remedy = expect.stringContaining('atrium service stop, then atrium service start');
    expect(await host.run(['sessions', 'list'])).toMatchObject({ code: 1, stderr: remedy });
    expect(await host.run(['doctor'])).toMatchObject({ code: 1, stdout: remedy });
    expect((await host.run(['service', 'status'])).code).toBe(0);
    expect((await host.run(['service', 'stop'])).code).toBe(0);
    expect(await host.serve.ended()).toBe(0);
  });

  it.skipIf(!existsSync('/dev/full'))('is a disk that is full, without a stack of calls', async () => {
    const line = `"${process.execPath}" "${COMMAND}" --help > /dev/full; echo $? >&2`;
    const { stderr } = await promisify(execFile)('bash', ['--norc', '-c', line]);
    expect(stderr).toMatch(/^error: standard output cannot be written: [^\n]*\n1\n$/);
  });
});

describe.skipIf(!isBuilt)('atrium doctor (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const stateOf = (stdout: string, about: string) =>
    (JSON.parse(stdout) as { about: string; state: string; text: string }[]).find((each) => each.about === about);

  it('finds nothing wrong with a host that runs', async () => {
    const host = await startHost();
    const { code, stdout } = await host.run(['doctor', '--json']);
    expect(code).toBe(0);
    for (const about of ['node', 'data', 'disk', 'instances', 'host', 'token', 'log']) {
      expect(stateOf(stdout, about), about).toMatchObject({ state: 'fine' });
    }
    expect((await host.run(['doctor'])).stdout).toMatch(/✓ host +ws:\/\/localhost:\d+ answers/);
  });

  it('sees a host that died, and that the log is whole all the same', async () => {
    const host = await startHostProcess();
    await host.run(['run', 'hello']);
    host.serve.child.kill('SIGKILL');
    await host.serve.ended();
    const { code, stdout } = await host.run(['doctor', '--json']);
    expect(code).toBe(0);
    expect(stateOf(stdout, 'instances')).toMatchObject({ state: 'warning' });
    expect(stateOf(stdout, 'log')).toMatchObject({ state: 'fine', text: expect.stringContaining('whole') });
  });

  it('[REL-063] [REL-064] says what was damaged, saved and lost, with a host and without one', async () => {
    const host = await startHost();
    await host.run(['run', 'hello']);
    host.serve.signal('SIGTERM');
    await host.serve.ended();
    const file = path.join(host.dataDir, 'atrium.db');
    const bytes = await readFile(file);
    const at = bytes.indexOf('session:ahp-session:');
    bytes.fill(0, at - (at % 4_096), at - (at % 4_096) + 4_096);
    await writeFile(file, bytes);
    const counts = expect.stringContaining('saved: 1 turns of 1 sessions; lost: 0 turns, and 0 sessions altogether');
    const { stdout } = await host.run(['doctor', '--json']);
    expect(stateOf(stdout, 'log')).toMatchObject({ state: 'warning', text: counts });
    await host.start(SERVE).says(/^READY:\d+$/m);
    const running = await host.run(['doctor', '--json']);
    expect(stateOf(running.stdout, 'log')).toMatchObject({ state: 'warning', text: counts });
    expect((await host.run(['sessions', 'list'])).stdout).toContain('hello');
  });

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
  });

  it.skipIf(process.platform === 'win32')('sees a data folder that is open to others', async () => {
    const folder = await newDataFolder();
    await mkdir(folder);
    await chmod(folder, 0o755);
    const { stdout } = await endOf(atrium(['doctor', '--json', '--data-dir', folder]));
    expect(stateOf(stdout, 'data')).toMatchObject({ state: 'warning', remedy: `Run: chmod 700 ${folder}` });
  });
});
