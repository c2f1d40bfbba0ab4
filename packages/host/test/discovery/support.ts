/** A machine for discovery: real servers, a real PATH, and nothing of the machine that the tests run on. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { offlineAgent } from '../../../agents/src/offline/backend.js';
import type { AgentFactories } from '../../src/discovery/candidate.js';
import { type Discovered, type DiscoveryOptions, discoverAgents } from '../../src/discovery/discovery.js';

/** The port of a server that answers as it is told. */
export async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A port that was free a moment ago, with nobody on it. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export function modelList(...ids: string[]): string {
  return JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });
}

/** Remembers what the factories were given. Real model agents; the others are only stood in for. */
export function recordingFactories() {
  const given: Record<string, unknown>[] = [];
  const recorded = (kind: string) => (options: { provider: string }) => {
    given.push({ kind, ...options });
    const backend = offlineAgent();
    return { ...backend, info: { ...backend.info, provider: options.provider } };
  };
  const factories: AgentFactories = {
    model(options) {
      given.push({ ...options });
      return modelAgent(options);
    },
    acp: recorded('acp'),
    copilot: recorded('copilot'),
    claude: recorded('claude'),
  };
  return { given, factories };
}

/** Discovers on an otherwise empty machine. */
export async function discover(options: Partial<DiscoveryOptions> = {}) {
  const { given, factories } = recordingFactories();
  const discovered = await discoverAgents({
    env: {},
    factories,
    localServers: [],
    isInstalled: async () => false,
    ...options,
  });
  const of = (provider: string): Discovered => {
    const found = discovered.find((candidate) => candidate.provider === provider);
    if (!found) throw new Error(`${provider} was not looked for`);
    return found;
  };
  const modelsOf = (provider: string) => of(provider).backend?.info.models.map(({ id }) => id);
  return {
    discovered,
    given,
    of,
    modelsOf,
    found: discovered.filter(({ found }) => found).map((each) => each.provider),
  };
}
