/** A real host in this process that serves the page, with scripted agents. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  builtinTools,
  createHost,
  type Host,
  type Log,
  MemoryLog,
  type Script,
  scriptedAgent,
  startServer,
  staticFiles,
} from '@atrium/host';
import { onTestFinished } from 'vitest';
import { PAGE_FOLDER } from './browser.js';

export const TOKEN = 'the-token-of-the-tests-0123456789';

export interface PageHost {
  readonly host: Host;
  readonly url: string;
  /** With the token, as the start screen shows it. */
  readonly link: string;
  /** The folder that sessions work in. */
  readonly folder: string;
}

export async function startPageHost(prompts: Script['prompts'], log: Log = new MemoryLog()): Promise<PageHost> {
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
  const defaultDirectory = pathToFileURL(folder).href;
  const host = await createHost({ log, agents: [agent], tools: builtinTools(), defaultDirectory });
  const page = await staticFiles(PAGE_FOLDER);
  const policy = { token: TOKEN, isGenerated: true, allowedOrigins: [], allowedHosts: [] };
  const server = await startServer({ policy, page, onConnection: (transport) => host.connect(transport) });
  onTestFinished(async () => {
    await host.stop();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const url = `http://localhost:${server.port}/`;
  return { host, url, folder, link: `${url}#token=${TOKEN}` };
}
