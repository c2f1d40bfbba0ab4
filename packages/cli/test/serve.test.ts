import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { runningInstances } from '@atrium/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { isBuilt, newDataFolder, SERVE } from './support/host.js';
import { atrium, type Environment, type Run, spawnAtrium } from './support/run-cli.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}';
const isWindows = process.platform === 'win32';

/** In this process. */
async function startedQuietly(args: readonly string[] = []) {
  const dataDir = await newDataFolder();
  return started(atrium([...SERVE, '--data-dir', dataDir, ...args]), dataDir);
}

async function startedProcess() {
  const dataDir = await newDataFolder();
  return started(spawnAtrium([...SERVE, '--data-dir', dataDir]), dataDir);
}

async function started<T extends Run>(run: T, dataDir: string) {
  const port = Number((await run.says(/^READY:(\d+)\n/))[1]);
  const tokenFile = path.join(dataDir, 'connection-token');
  return { ...run, dataDir, port, tokenFile };
}

async function connected(port: number, token: string): Promise<WebSocket> {
  const websocket = new WebSocket(`ws://127.0.0.1:${port}/?token=${token}`);
  onTestFinished(() => websocket.terminate());
  await once(websocket, 'open');
  return websocket;
}

async function ask(websocket: WebSocket, text: string): Promise<unknown> {
  const answer = once(websocket, 'message');
  websocket.send(text);
  return JSON.parse(String((await answer)[0]));
}

describe.skipIf(!isBuilt)(
  'atrium serve (skipped unless the command has been built: npm run build)',
  { timeout: 60_000 },
  () => {
    it('prints READY:<port> and nothing else when quiet, and serves clients with the token', async () => {
      const { port, tokenFile, said, child, ended } = await startedProcess();
      const websocket = await connected(port, (await readFile(tokenFile, 'utf8')).trim());
      expect(await ask(websocket, PING)).toEqual({ jsonrpc: '2.0', id: 1, result: null });
      child.kill('SIGTERM');
      expect(await ended()).toBe(0);
      expect(said).toEqual({ stdout: `READY:${port}\n`, stderr: '' });
    });

    it('shows where to connect, where the token is, where data is kept, which agents there are, how to stop', async () => {
      const dataDir = await newDataFolder();
      const { says, said } = atrium(['serve', '--port', '0', '--data-dir', dataDir]);
      await says(/Ctrl\+C/);
      expect(said.stdout).toMatch(/ws:\/\/localhost:\d+\n/);
      expect(said.stdout).toContain(path.join(dataDir, 'connection-token'));
      expect(said.stdout).toContain(`Data      ${dataDir}\n`);
      expect(said.stdout).toContain('Built-in, no model');
      expect(said.stdout).not.toContain((await readFile(path.join(dataDir, 'connection-token'), 'utf8')).trim());
    });

    it.skipIf(isWindows)('keeps the token for its owner only, and its entry only while it runs', async () => {
      const { dataDir, tokenFile, port, signal, ended } = await startedQuietly();
      expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
      expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
      const entry = { pid: process.pid, host: 'localhost', port, url: `ws://localhost:${port}`, tokenFile };
      expect(await runningInstances(dataDir)).toEqual([expect.objectContaining(entry)]);
      signal('SIGINT');
      expect(await ended()).toBe(0);
      expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
      expect(await readdir(path.join(dataDir, 'instances'))).toEqual([]);
    });

    it.skipIf(isWindows)('sends clients away with 1001 when it is told to stop', async () => {
      const { port, tokenFile, signal, ended } = await startedQuietly();
      const websocket = await connected(port, (await readFile(tokenFile, 'utf8')).trim());
      const closed = once(websocket, 'close');
      signal('SIGTERM');
      expect((await closed)[0]).toBe(1001);
      expect(await ended()).toBe(0);
    });

    it.skipIf(isWindows)('exits at once on a second signal, even when a client does not let go', async () => {
      const { port, tokenFile, said, child, ended } = await startedProcess();
      const websocket = await connected(port, (await readFile(tokenFile, 'utf8')).trim());
      websocket.pause();
      child.kill('SIGTERM');
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(child.exitCode).toBeNull();
      child.kill('SIGTERM');
      expect(await ended()).toBe(1);
      // A stop that hangs is given up after a while, with a word.
      expect(said.stderr).not.toContain('did not stop');
    });

    it('speaks on standard input and output with --stdio, and ends with its client', async () => {
      const { stdin, said, says, ended } = atrium(['serve', '--stdio', '--data-dir', await newDataFolder()]);
      stdin.write(`${PING}\n`);
      await says(/\n/);
      stdin.end();
      expect(await ended()).toBe(0);
      expect(said.stdout.split('\n').map((line) => line && JSON.parse(line))).toEqual([
        { jsonrpc: '2.0', id: 1, result: null },
        '',
      ]);
    });

    it('takes everything from the environment too, and lets the command line win', async () => {
      const dataDir = await newDataFolder();
      const env = {
        ATRIUM_PORT: '0',
        ATRIUM_QUIET: '1',
        ATRIUM_DATA_DIR: dataDir,
        ATRIUM_CONNECTION_TOKEN: 'from-env',
      };
      const { says } = atrium(['serve', '--connection-token', 'from-command-line'], { ...env, ATRIUM_HOST: '' });
      const port = Number((await says(/^READY:(\d+)\n/))[1]);
      await connected(port, 'from-command-line');
      await expect(connected(port, 'from-env')).rejects.toThrow(/401/);
    });

    it('[REL-061] lets as many clients in as --max-clients says, and the next when one has left', async () => {
      const { port, tokenFile } = await startedQuietly(['--max-clients', '2']);
      const token = (await readFile(tokenFile, 'utf8')).trim();
      const [first] = [await connected(port, token), await connected(port, token)];
      await expect(connected(port, token)).rejects.toThrow(/503/);
      first.close();
      await expect.poll(() => connected(port, token).then(({ readyState }) => readyState)).toBe(WebSocket.OPEN);
    });

    it('says how to start when the port that was named for providers is taken', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      onTestFinished(() => void server.close());
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const options = ['--port', '0', '--gateway-port', String(port), '--data-dir', await newDataFolder()];
      const { said, ended } = atrium(['serve', ...options]);
      expect(await ended()).toBe(1);
      expect(said.stderr).toContain(`port ${port} for providers is taken: use --gateway-port 0`);
    });

    it('says which port is taken, and ends with 1', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      onTestFinished(() => void taken.close());
      const port = String((taken.address() as { port: number }).port);
      const dataDir = await newDataFolder();
      const { said, ended } = atrium(['serve', '--port', port, '--data-dir', dataDir]);
      expect(await ended()).toBe(1);
      expect(said.stderr).toContain(`Port ${port} is taken. Stop what uses it, or take any free port: --port 0`);
    });

    it('keeps its token through a crash and a stop, so that clients come back, until it is told to make a new one', async () => {
      const first = await startedProcess();
      const token = readFileSync(first.tokenFile, 'utf8').trim();
      first.child.kill('SIGKILL');
      await first.ended();
      const next = async (...args: string[]) => {
        const run = atrium([...SERVE, '--data-dir', first.dataDir, ...args]);
        const [, port = ''] = await run.says(/READY:(\d+)/);
        const text = readFileSync(first.tokenFile, 'utf8').trim();
        (await connected(Number(port), text)).terminate();
        run.signal('SIGTERM');
        expect(await run.ended()).toBe(0);
        return text;
      };
      expect(await next()).toBe(token);
      if (!isWindows) expect((await stat(first.tokenFile)).mode & 0o777).toBe(0o600);
      expect(await next()).toBe(token);
      const rotated = await next('--rotate-token');
      expect(rotated).not.toBe(token);
      expect(await next()).toBe(rotated);
      expect(await runningInstances(first.dataDir)).toEqual([]);
    });

    it('does not keep a token that was given for one start', async () => {
      const { signal, ended, tokenFile } = await startedQuietly(['--connection-token', 'for-this-start-only']);
      signal('SIGTERM');
      await ended();
      expect(existsSync(tokenFile)).toBe(false);
    });

    it('refuses a second host in the same folder, and leaves the first one its token', async () => {
      const first = await startedProcess();
      const token = readFileSync(first.tokenFile, 'utf8');
      const second = atrium(['serve', '--port', '0', '--data-dir', first.dataDir]);
      expect(await second.ended()).toBe(6);
      expect(second.said.stderr).toContain('--data-dir');
      expect(readFileSync(first.tokenFile, 'utf8')).toBe(token);
    });

    it('[REL-067] refuses a second host also when the lock files were deleted, and the first goes on', async () => {
      const first = await startedProcess();
      const token = readFileSync(first.tokenFile, 'utf8').trim();
      for (const name of ['atrium.lock', 'atrium.owner']) rmSync(path.join(first.dataDir, name));
      const second = atrium(['serve', '--port', '0', '--data-dir', first.dataDir]);
      expect(await second.ended()).toBe(6);
      expect(second.said.stderr).toContain('is in use by another process');
      const socket = await connected(first.port, token);
      const params = { channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId: 'test-client' };
      const answer = await ask(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
      expect(answer).toMatchObject({ id: 1, result: { protocolVersion: '0.3.0' } });
    });
  },
);

describe.skipIf(!isBuilt)(
  'calling atrium in a wrong way (skipped unless it has been built)',
  { timeout: 60_000 },
  () => {
    it.each([
      ['[REL-005] every address, no token', ['serve', '--host', '0.0.0.0'], /--connection-token-file <file>/],
      [
        '[REL-005] every address, without a token',
        ['serve', '--host', '::', '--without-connection-token'],
        /--host localhost/,
      ],
      [
        '[DEV-050] every address, a token, no encryption',
        ['serve', '--host', '0.0.0.0', '--connection-token', 'secret-of-the-tests'],
        /--tls-cert <file> and --tls-key <file>, .* or say --insecure-remote/,
      ],
      [
        '[DEV-051] a certificate without a key',
        ['serve', '--tls-cert', 'chain.pem'],
        /--tls-cert and --tls-key together/,
      ],
      [
        '[DEV-051] a certificate that is not there',
        ['serve', '--tls-cert', 'nowhere', '--tls-key', 'nowhere'],
        /--tls-(cert|key): \S*nowhere cannot be read \(ENOENT\)/,
      ],
      [
        '[DEV-052] a network that is none',
        ['serve', '--behind-proxy', 'proxy.example'],
        /--behind-proxy: .* 10\.0\.0\.0\/8/,
      ],
      ['[DEV-052] every network', ['serve', '--behind-proxy', '0.0.0.0/0'], /name the network of the proxy alone/],
      ['an option that does not exist', ['serve', '--prot', '1'], /Did you mean --port\?/],
      ['a command that does not exist', ['sevre'], /Did you mean serve\?/],
      ['no command', [], /Usage: atrium/],
      ['a port that is none', ['serve', '--port', '70000'], /from 0 to 65535/],
      ['no client at all', ['serve', '--max-clients', '0'], /from 1 to 4096/],
      ['too many clients', ['serve', '--max-clients', '4097'], /from 1 to 4096/],
      ['two tokens', ['serve', '--connection-token', 'secret-1', '--without-connection-token'], /Give one of/],
      [
        'a token of its own that is to be made anew',
        ['serve', '--connection-token', 'secret-1', '--rotate-token'],
        /leave out/,
      ],
      ['an unfit token', ['serve', '--connection-token', 'secret 1'], /made of letters/],
      ['a token file that is not there', ['serve', '--connection-token-file', 'nowhere'], /cannot be read \(ENOENT\)/],
      ['an origin that is none', ['serve', '--allowed-origins', '*'], /is not an origin/],
      ['a host that is none', ['serve', '--allowed-hosts', 'http://x'], /is not a host name/],
      ['a script that is not there', ['serve', '--script', 'nowhere.json'], /there is no such file/],
    ])('%s: exit code 2 and a hint', async (_, args, hint) => {
      const dataDir = await newDataFolder();
      const { said, ended } = atrium(args, { ATRIUM_DATA_DIR: dataDir });
      expect(await ended()).toBe(2);
      expect(said.stderr).toMatch(hint);
      expect(said.stderr).not.toContain('secret');
      expect(said.stdout).toBe('');
      expect(existsSync(dataDir)).toBe(false);
    });

    it('--help shows examples and ends with 0', async () => {
      const { said, ended } = atrium(['serve', '--help']);
      expect(await ended()).toBe(0);
      expect(said.stdout).toContain('$ atrium serve --port 0 --quiet');
      expect(said.stdout.replace(/\s+/g, ' ')).toContain('port for providers');
    });
  },
);

describe.skipIf(!isBuilt)(
  'the connection token (skipped unless the command has been built)',
  { timeout: 60_000 },
  () => {
    const TOKEN = 'dGhpcy1pcy10aGUtdG9rZW4tbm9ib2R5LW1heS1zZWU';

    /** All that a host says from its start to its end, and how it shows to others. */
    async function wholeRun(
      args: readonly string[],
      env: Environment = {},
      start: typeof atrium | typeof spawnAtrium = atrium,
    ) {
      const dataDir = await newDataFolder();
      const options = ['--port', '0', '--data-dir', dataDir, '--log-level', 'debug', ...args];
      const { pid, said, says, signal, ended } = start(['serve', ...options], env);
      const port = Number((await says(/localhost:(\d+)/))[1]);
      const websocket = await connected(port, TOKEN);
      for (const text of [PING, `{"token":"${TOKEN}"`, `{"jsonrpc":"2.0","id":2,"method":"${TOKEN}"}`])
        websocket.send(text);
      await expect(connected(port, `${TOKEN}&token=${TOKEN}`)).rejects.toThrow(/401/);
      const instance = await readFile(path.join(dataDir, 'instances', `${pid}.json`), 'utf8');
      const commandLine = isWindows ? '' : await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      signal('SIGTERM');
      await ended();
      return { ...said, instance, commandLine };
    }

    it.each([
      // As a process: it hides its command line.
      ['text', spawnAtrium],
      ['json', atrium],
    ])('[REL-004] appears in no output of a whole run, logs as %s', async (format, start) => {
      const outputs = await wholeRun(['--connection-token', TOKEN, '--log-format', format], {}, start);
      expect(outputs.stderr).toContain('connection refused');
      for (const text of Object.values(outputs)) expect(text).not.toContain(TOKEN);
    });

    it('[REL-004] appears in no output when it comes from a file or from the environment', async () => {
      const file = path.join(path.dirname(await newDataFolder()), 'my-token');
      await writeFile(file, `${TOKEN}\n`, { mode: 0o600 });
      const outputs = [
        await wholeRun(['--connection-token-file', file]),
        await wholeRun([], { ATRIUM_CONNECTION_TOKEN: TOKEN }),
      ];
      for (const text of outputs.flatMap((output) => Object.values(output))) expect(text).not.toContain(TOKEN);
      expect(existsSync(file)).toBe(true);
    });
  },
);
