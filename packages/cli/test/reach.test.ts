/**
 * `atrium reach`, with small programs in place of the tunnels: each says what the real one says, and is ended as the real one is.
 * ssh is real, with a real server.
 */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TOOLS, type ToolName } from '../src/reach/tools.js';
import { newFolder, startHost, startHostProcess, type TestHost } from './support/host.js';
import { atrium, type Environment, endOf } from './support/run-cli.js';
import { SSHD_MISSING, type SshServer, startSshServer } from './support/sshd.js';

/** What the programs print, as their authors document it; the lines around the address are part of it. */
const SAYS: Readonly<Record<Exclude<ToolName, 'ssh'>, { readonly out: string; readonly origin: string }>> = {
  tailscale: {
    out: 'Available within your tailnet:\n\nhttps://desk.tail1a2b3.ts.net/\n|-- proxy http://127.0.0.1:PORT\n\nPress Ctrl+C to exit.',
    origin: 'https://desk.tail1a2b3.ts.net',
  },
  cloudflared: {
    out: 'INF Requesting new quick Tunnel on trycloudflare.com...\nINF |  https://blue-sky-old-tree.trycloudflare.com  |\nINF Registered tunnel connection',
    origin: 'https://blue-sky-old-tree.trycloudflare.com',
  },
  devtunnel: {
    out: 'Hosting port: PORT\nConnect via browser: https://l3rs99qw-PORT.usw2.devtunnels.ms\nInspect network activity: https://l3rs99qw-PORT-inspect.usw2.devtunnels.ms\nReady to accept connections for tunnel: happy-hill',
    origin: 'https://l3rs99qw-PORT.usw2.devtunnels.ms',
  },
};

/** A program that says this and stays; it notes how it was called, and that it was ended. */
async function standIn(folder: string, name: string, out: string, { code }: { code?: number } = {}): Promise<string> {
  const file = path.join(folder, name);
  await mkdir(folder, { recursive: true });
  const script = `#!${process.execPath}
const fs = require('node:fs');
fs.writeFileSync(${JSON.stringify(`${file}.args`)}, JSON.stringify(process.argv.slice(2)));
const port = /:?(\\d+)$/.exec(process.argv.at(-1))?.[1];
process.stderr.write(${JSON.stringify(out)}.replaceAll('PORT', port) + '\\n');
process.on('SIGTERM', () => { fs.writeFileSync(${JSON.stringify(`${file}.ended`)}, ''); process.exit(0); });
${code === undefined ? 'setInterval(() => {}, 1000);' : `process.exit(${code});`}
`;
  await writeFile(file, script);
  await chmod(file, 0o755);
  return file;
}

const portOf = async ({ dataDir }: TestHost): Promise<number> => {
  const { stdout } = await endOf(atrium(['service', 'status', '--json', '--data-dir', dataDir]));
  return Number(/"port":(\d+)/.exec(stdout)?.[1]);
};

/** Whether the host takes a connection under this name and origin, with its token. */
async function isOpen(host: TestHost, origin: string): Promise<boolean> {
  const token = (await readFile(path.join(host.dataDir, 'connection-token'), 'utf8')).trim();
  const headers = { Host: new URL(origin).host, Origin: origin, Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${await portOf(host)}/`, { headers });
  return new Promise((resolve) => {
    socket.once('open', () => resolve(true)).once('error', () => resolve(false));
  }).then((is) => {
    socket.terminate();
    return is as boolean;
  });
}

const only = (bin: string, host: TestHost): Environment => ({ ...host.env, PATH: bin });

describe('atrium reach', () => {
  let host: TestHost;
  const cleanUps: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    host = await startHost([], (cleanUp) => void cleanUps.unshift(cleanUp));
  }, 60_000);
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });

  it.each(Object.entries(SAYS))(
    '[DEV-053] runs %s, opens its address while it runs, and prints a link without the token',
    async (name, { out, origin: said }) => {
      const bin = await newFolder(host);
      const file = await standIn(bin, name, out);
      const origin = said.replace('PORT', String(await portOf(host)));
      expect(await isOpen(host, origin)).toBe(false);
      // Nothing else is installed: it is found by itself.
      const run = atrium(['reach', '--role', 'approver', '--name', 'Phone'], only(bin, host));
      const [, link = ''] = await run.says(/\n {2}(https:\S+)\n/);
      expect(link).toMatch(new RegExp(`^${origin.replaceAll('.', '\\.')}/#add=[\\w-]{22}&key=[\\da-f]{32}$`));
      await run.says(/Ctrl\+C closes/);
      expect(run.said.stdout).toContain('as approver');
      expect(run.said.stdout).toMatch(/[▀▄█]/);
      const token = (await readFile(path.join(host.dataDir, 'connection-token'), 'utf8')).trim();
      expect(run.shown()).not.toContain(token);
      expect(await isOpen(host, origin)).toBe(true);
      expect(await isOpen(host, 'https://another.example')).toBe(false);
      const args: string[] = JSON.parse(await readFile(`${file}.args`, 'utf8'));
      const tool = TOOLS.find((each) => each.name === name);
      expect(args).toEqual(tool?.args({ port: await portOf(host) }));
      run.signal('SIGINT');
      expect(await run.ended()).toBe(0);
      await readFile(`${file}.ended`);
      await expect.poll(() => isOpen(host, origin)).toBe(false);
    },
  );

  it('[DEV-053] says what is missing, and that nobody is logged in', async () => {
    const bin = await newFolder(host);
    const reach = (...args: string[]) => endOf(atrium(['reach', ...args], only(bin, host)));
    const nothing = await reach();
    expect(nothing.code).toBe(1);
    for (const { name, install } of TOOLS) expect(nothing.stderr).toContain(name === 'ssh' ? 'reach ssh' : install);
    expect((await reach('tailscale')).stderr).toContain('tailscale is not installed');
    await standIn(bin, 'tailscale', 'Logged out.', { code: 1 });
    expect((await reach()).stderr).toMatch(/tailscale ended \(code 1\): Logged out\.\nLog in first: tailscale up/);
    await standIn(bin, 'devtunnel', 'Not logged in. Use user login.', { code: 1 });
    expect((await reach('devtunnel')).stderr).toContain('devtunnel user login');
    const failed =
      'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: no such host';
    await standIn(bin, 'cloudflared', failed, { code: 1 });
    expect((await reach('cloudflared')).stderr).toContain('no such host');
    const enable =
      'Serve is not enabled on your tailnet.\nTo enable, visit:\n\n https://login.tailscale.com/f/serve?node=n1';
    await standIn(bin, 'tailscale', enable, { code: 1 });
    const asked = await reach('tailscale');
    expect(asked.stderr).toContain('https://login.tailscale.com/f/serve');
    expect(asked.stdout).toBe('');
  });

  it('[DEV-053] is called in ways that can work only', async () => {
    const bin = await newFolder(host);
    await standIn(bin, 'cloudflared', 'nothing');
    for (const [args, why] of [
      [['wormhole'], 'is not known'],
      [['ssh'], 'say where to'],
      [['ssh', '-oProxyCommand=id'], 'no address for ssh'],
      [['ssh', 'me@box', '--public', 'https://name.example'], '--remote-port'],
      [['cloudflared', 'me@box'], 'are for ssh'],
    ] as const) {
      const ended = await endOf(atrium(['reach', ...args], only(bin, host)));
      expect(ended.code, why).toBe(2);
      expect(`${ended.stderr}`).toMatch(why === 'no address for ssh' ? /no address for ssh|unknown option/ : why);
    }
  });

  it('[DEV-053] does not lead into a host without a token', async () => {
    const open = await startHost(['--without-connection-token']);
    const bin = await newFolder(open);
    await standIn(bin, 'cloudflared', SAYS.cloudflared.out);
    const ended = await endOf(atrium(['reach'], only(bin, open)));
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('requires no token');
  });

  it('[DEV-053] ends with the tunnel', async () => {
    const bin = await newFolder(host);
    const file = await standIn(bin, 'cloudflared', SAYS.cloudflared.out);
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace('setInterval(() => {}, 1000)', 'setTimeout(() => process.exit(3), 1500)'),
    );
    const run = atrium(['reach', '--json'], only(bin, host));
    const { origin } = JSON.parse((await run.says(/^\{.*\}$/m))[0]);
    expect(origin).toBe(SAYS.cloudflared.origin);
    expect(await run.ended()).toBe(1);
    expect(run.said.stderr).toContain('cloudflared ended (code 3)');
    await expect.poll(() => isOpen(host, origin)).toBe(false);
  });

  it('[DEV-053] ends with the host', async () => {
    const mortal = await startHostProcess();
    const bin = await newFolder(mortal);
    const file = await standIn(bin, 'cloudflared', SAYS.cloudflared.out);
    const run = atrium(['reach'], only(bin, mortal));
    await run.says(/Ctrl\+C closes/);
    mortal.serve.child.kill('SIGKILL');
    expect(await run.ended()).toBe(1);
    expect(run.said.stderr).toContain('the host has stopped');
    await readFile(`${file}.ended`);
  });
});

describe.skipIf(SSHD_MISSING !== '')(`atrium reach ssh${SSHD_MISSING && ` (${SSHD_MISSING})`}`, () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await startSshServer();
  });
  afterAll(() => server?.stop());

  it('[DEV-053] opens a port of a real ssh server that leads to the page, and closes it again', async () => {
    const host = await startHost();
    const env = { ...host.env, PATH: `${server.bin}${path.delimiter}${process.env.PATH}` };
    const run = atrium(['reach', 'ssh', `${server.user}@127.0.0.1:${server.port}`, '--json'], env);
    const { origin, link } = JSON.parse((await run.says(/^\{.*\}$/m))[0]) as { origin: string; link: string };
    expect(origin).toMatch(/^http:\/\/localhost:\d+$/);
    expect(link.startsWith(`${origin}/#add=`)).toBe(true);
    const at = origin.replace('localhost', '127.0.0.1');
    const asked = (name: string) => fetchAs(at, name);
    expect(await asked(new URL(origin).host)).toBe(200);
    expect(await asked('evil.example')).toBe(403);
    run.signal('SIGTERM');
    expect(await run.ended()).toBe(0);
    expect(await asked(new URL(origin).host)).toBe('closed');
  });
});

/** The status of the page under a Host header, which `fetch` does not let a program choose. */
function fetchAs(origin: string, host: string): Promise<number | 'closed'> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    socket.once('error', () => resolve('closed'));
    socket.once('close', () => resolve('closed'));
    socket.once('data', (chunk) => {
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(String(chunk))?.[1]));
      socket.destroy();
    });
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}
