/** Ways into the gateway for tests: by a socket, by a code that a person reads out, by a process of a project. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '@atrium/core/util/clock.js';
import type { ClientEnd } from '@atrium/core/wire/transports/in-process.js';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { type GatewayServer, startGatewayServer } from '../../src/gateway/gateway-server.js';
import type { PairingRequest } from '../../src/gateway/pairing.js';
import type { FolderTrust } from '../../src/plugins/trust/folder-trust.js';
import { type Fixture, startHost } from './session-fixture.js';
import { tempFolder } from './temp-folder.js';
import type { RawClient, TestHost } from './test-host.js';
import { TestProvider } from './test-provider.js';

/** Opens a port for providers until the test is over. */
export async function openGateway({ host }: TestHost): Promise<GatewayServer> {
  const server = await startGatewayServer({
    port: 0,
    onConnection: (transport) => host.connectProvider(transport, 'network'),
  });
  onTestFinished(() => server.close());
  host.gatewayAt({ url: `ws://localhost:${server.port}`, port: server.port });
  return server;
}

export async function overSocket(port: number): Promise<TestProvider> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  const end: ClientEnd = {
    onmessage: () => {},
    onclose: () => {},
    send: (text) => socket.send(text),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  };
  const provider = TestProvider.on(end);
  socket.on('message', (data) => end.onmessage(data.toString()));
  socket.on('close', (code, reason) => end.onclose(code, reason.toString()));
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  onTestFinished(() => socket.terminate());
  return provider;
}

/** The programs that ask to be let in, as a client shows them. */
export async function shownPairings(client: RawClient): Promise<readonly PairingRequest[]> {
  return (await client.request<{ items: PairingRequest[] }>('atrium/pairings', {})).items;
}

/** The code for a session that is shown at the moment, as a person would read it. The latest counts. */
export async function shownCode(client: RawClient, uri: string): Promise<string> {
  for (;;) {
    const codes = (await shownPairings(client)).flatMap(({ codes: all }) =>
      all.filter(({ session }) => session === uri),
    );
    const last = codes.at(-1);
    if (last) return last.code.replace(' ', '');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export interface Paired {
  readonly provider: TestProvider;
  readonly code: string;
  readonly token: string;
}

/** A provider that a person has paired with the session of a fixture. It has not sent hello yet. */
export async function pair(
  { host, client, uri }: Pick<Fixture, 'host' | 'client' | 'uri'>,
  via?: TestProvider,
): Promise<Paired> {
  const provider = via ?? TestProvider.connect(host, 'network');
  provider.send({ type: 'auth', mode: 'pair', name: 'browser' });
  await provider.next('auth.pairing');
  const code = await shownCode(client, uri);
  provider.send({ type: 'auth.confirm', code });
  const { token = '' } = await provider.next('sessions');
  return { provider, code, token };
}

/** Connects a provider with a token. */
export async function withToken(host: TestHost, token: string): Promise<TestProvider> {
  const provider = TestProvider.connect(host, 'network');
  provider.send({ type: 'auth', token });
  await provider.next('sessions');
  return provider;
}

export const TRUSTING: FolderTrust = { isTrusted: async () => true, allows: async () => true, trust: async () => {} };

const SHOW_TOKEN = `require('fs').writeFileSync('token', process.env.TAP_PROVIDER_TOKEN); setInterval(() => {}, 1e6)`;

export interface ProjectFixture {
  readonly host: TestHost;
  readonly client: RawClient;
  readonly uri: string;
  readonly folder: string;
  /** What the host gave to the process that the project declares. */
  readonly token: string;
}

/** A session whose folder declares a provider of that name. Its process is real, but only shows its token: the test speaks for it. */
export async function openProjectFixture(name = 'listed'): Promise<ProjectFixture> {
  const providers = { [name]: { command: process.execPath, args: ['-e', SHOW_TOKEN] } };
  const folder = await tempFolder({ 'atrium.json': JSON.stringify({ providers }) });
  const host = await startHost({ clock: systemClock, trust: TRUSTING });
  await openGateway(host);
  const client = await host.client('desk');
  const uri = await client.session(undefined, { workingDirectory: pathToFileURL(folder).href });
  const file = path.join(folder, 'token');
  const token = await until(() => (existsSync(file) ? readFileSync(file, 'utf8') || undefined : undefined));
  return { host, client, uri, folder, token };
}

/** Waits for something that processes do in their own time. */
export async function until<T>(look: () => T | undefined | Promise<T | undefined>, withinMs = 15_000): Promise<T> {
  for (const end = Date.now() + withinMs; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('waited in vain');
}

export function sessionId(uri: string): string {
  return uri.split('/').at(-1) ?? '';
}
