/** A real host in this process that serves the page, with scripted agents. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  builtinTools,
  createHost,
  type Host,
  type HostOptions,
  type Log,
  MemoryLog,
  type Script,
  scriptedAgent,
  startServer,
  staticFiles,
} from '@atrium/host';
import { onTestFinished } from 'vitest';
import { PAGE_FOLDER } from './browser.js';
import { onLastingPort } from './ports.js';

export const TOKEN = 'the-token-of-the-tests-0123456789';

export interface PageHost {
  readonly host: Host;
  readonly url: string;
  /** With the token, as the start screen shows it. */
  readonly link: string;
  /** The folder that sessions work in. */
  readonly folder: string;
}

interface PageHostOptions {
  /** Whether the host has a place for contents. */
  readonly storesContents?: boolean;
  /** Of the first model; absent where it is not known. */
  readonly sees?: boolean;
  /** Under which names it may be reached, besides those of the machine. */
  readonly names?: readonly string[];
  /** The cluster that the host is one of. */
  readonly cluster?: HostOptions['cluster'];
}

export async function startPageHost(
  prompts: Script['prompts'],
  log: Log = new MemoryLog(),
  { storesContents = false, sees, names = [], cluster }: PageHostOptions = {},
): Promise<PageHost> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-web-'));
  const agent = scriptedAgent({
    provider: 'mock',
    displayName: 'Mock',
    models: [
      { id: 'mock-1', name: 'Mock one' },
      { id: 'mock-2', name: 'Mock two' },
    ],
    prompts,
    default: [{ text: 'You said: ${text}' }],
  });
  if (sees !== undefined) Object.assign(agent.info.models[0] ?? {}, { supportsVision: sees });
  const defaultDirectory = pathToFileURL(folder).href;
  const dataFolder = storesContents ? path.join(folder, '.data') : undefined;
  const host = await createHost({
    log,
    agents: [agent],
    ...(dataFolder && { dataFolder }),
    ...(cluster && { cluster }),
    tools: builtinTools(),
    defaultDirectory,
  });
  const page = await staticFiles(PAGE_FOLDER);
  const policy = { token: TOKEN, isGenerated: true, allowedOrigins: [], allowedHosts: names };
  const onConnection = host.connect.bind(host);
  const server = await onLastingPort((port) =>
    startServer({ port, policy, page, devices: host.devices, onConnection }),
  );
  onTestFinished(async () => {
    await host.stop();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const url = `http://localhost:${server.port}/`;
  return { host, url, folder, link: `${url}#token=${TOKEN}` };
}
