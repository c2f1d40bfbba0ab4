/** A host with the gateway at the very port that the samples know, and everything that they say. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { systemClock } from '@atrium/core/util/clock.js';
import type { Transport } from '@atrium/core/wire/transport.js';
import { GATEWAY_DEFAULT_PORT } from '@atrium/protocol/provider';
import { onTestFinished, type TestContext } from 'vitest';
import { type GatewayServer, startGatewayServer } from '../../../../src/gateway/gateway-server.js';
import { TRUSTING } from '../../../support/gateway-connections.js';
import { PuppetAgent, type PuppetTurn } from '../../../support/puppet-agent.js';
import { startHost, turnStarted } from '../../../support/session-fixture.js';
import { tempFolder } from '../../../support/temp-folder.js';
import type { RawClient, TestHost } from '../../../support/test-host.js';

const MODULES = fileURLToPath(new URL('../../../../../../node_modules', import.meta.url));
const BROWSER = fileURLToPath(new URL('./browser.mjs', import.meta.url));

export interface SampleFixture {
  readonly host: TestHost;
  readonly client: RawClient;
  readonly agent: PuppetAgent;
  readonly folder: string;
  /** Every message of every provider. */
  readonly said: Record<string, unknown>[];
  /** Every connection of a provider, the latest last. */
  readonly transports: Transport[];
  /** Makes the session: its project, if it declares one, starts now. */
  session(): Promise<string>;
  turn(uri: string): Promise<PuppetTurn>;
}

/** Skips the test when somebody else has the port. */
export async function openSampleFixture(
  files: Readonly<Record<string, string>>,
  context: TestContext,
): Promise<SampleFixture> {
  let take: (transport: Transport) => void = () => {};
  const server = await openPort((transport) => take(transport));
  if (!server) return context.skip(`port ${GATEWAY_DEFAULT_PORT} is taken on this machine`);
  const agent = new PuppetAgent();
  const folder = await tempFolder(files);
  await symlink(MODULES, path.join(folder, 'node_modules'));
  const host = await startHost({ clock: systemClock, trust: TRUSTING, agents: [agent] });
  onTestFinished(() => server.close());
  const said: Record<string, unknown>[] = [];
  const transports: Transport[] = [];
  take = (transport) => {
    transports.push(transport);
    host.host.connectProvider(recorded(transport, said), 'network');
  };
  host.host.gatewayAt({ url: `ws://localhost:${server.port}`, port: server.port });
  const client = await host.client('desk');
  const workingDirectory = pathToFileURL(folder).href;
  return {
    host,
    client,
    agent,
    folder,
    said,
    transports,
    session: () => client.session(undefined, { provider: 'puppet', workingDirectory }),
    turn: (uri) => {
      client.dispatch(uri, turnStarted(`t-${crypto.randomUUID()}`));
      return agent.turn(agent.turns.length);
    },
  };
}

async function openPort(onConnection: (transport: Transport) => void): Promise<GatewayServer | undefined> {
  try {
    return await startGatewayServer({ port: GATEWAY_DEFAULT_PORT, onConnection });
  } catch {
    return undefined;
  }
}

function recorded(transport: Transport, said: Record<string, unknown>[]): Transport {
  return {
    name: transport.name,
    get bufferedBytes() {
      return transport.bufferedBytes;
    },
    start: (events) =>
      transport.start({
        ...events,
        message: (text) => {
          said.push(JSON.parse(text));
          events.message(text);
        },
      }),
    send: (frames) => transport.send(frames),
    pause: () => transport.pause?.(),
    resume: () => transport.resume?.(),
    close: (code, reason) => transport.close(code, reason),
  };
}

export interface Browser {
  /** Resolves when the page says this word. */
  said(word: string): Promise<void>;
  type(line: string): void;
}

export function openPage(file: string): Browser {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, [BROWSER, file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  return {
    said: (word) => new Promise((resolve) => lines.on('line', (line) => line === word && resolve())),
    type: (line) => void child.stdin.write(`${line}\n`),
  };
}
