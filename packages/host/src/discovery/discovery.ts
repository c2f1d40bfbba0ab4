/**
 * Finds the agents of this machine: those of the configuration, keys in the environment, local model servers, agent
 * commands and packages. Looks for all of them at the same time, starts nothing, and limits the time of each look.
 */

import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import { type ChangeEntry, type Config, isTyped } from '../config/config-schema.js';
import {
  type AgentFactories,
  type AgentSource,
  type Candidate,
  type Environment,
  GUESS_TIMEOUT_MS,
  type Machine,
  NAMED_TIMEOUT_MS,
  notFound,
  PROBE_SLACK_MS,
  type Probe,
} from './candidate.js';
import { configuredCandidates } from './configured.js';
import { commandCandidates, isInstalled, packageCandidates, which } from './installed-agents.js';
import { environmentCandidates, LOCAL_SERVERS, type LocalServer, localServerCandidates } from './model-servers.js';

export interface Discovered {
  readonly provider: string;
  readonly displayName: string;
  readonly source: AgentSource;
  /** Whether a person named it, in the configuration or in a variable such as ATRIUM_MODEL_URL. */
  readonly isNamed: boolean;
  readonly found: boolean;
  /** A plain sentence: what was found, or why nothing was and what to do. */
  readonly why: string;
  readonly backend?: AgentBackend;
}

export interface DiscoveryOptions {
  readonly env: Environment;
  readonly factories: AgentFactories;
  readonly config?: Config;
  readonly which?: Machine['which'];
  readonly isInstalled?: Machine['isInstalled'];
  readonly localServers?: readonly LocalServer[];
}

/** Those of the configuration come first, in its order. Never throws because of anything it finds. */
export async function discoverAgents(options: DiscoveryOptions): Promise<Discovered[]> {
  const { env, factories, config = {}, localServers = LOCAL_SERVERS } = options;
  const machine: Machine = {
    env,
    factories,
    which: options.which ?? ((command) => which(command, env)),
    isInstalled: options.isInstalled ?? isInstalled,
  };
  const configured = configuredCandidates(config, machine);
  const taken = new Set(configured.map(({ provider }) => provider));
  const guessed = [
    ...environmentCandidates(machine),
    ...localServerCandidates(localServers, machine),
    ...commandCandidates(machine),
    ...packageCandidates(machine),
  ].filter(({ provider }) => !taken.has(provider));
  const known = [...configured, ...guessed];
  return Promise.all([...known, ...strayCandidates(config, known)].map((candidate) => discovered(candidate, config)));
}

async function discovered(candidate: Candidate, config: Config): Promise<Discovered> {
  const { provider, source, isNamed } = candidate;
  const changes = changesOf(provider, config);
  const why = reasonToSkip(candidate, changes, config);
  const look = why === undefined ? await probeInTime(candidate, changes) : notFound(why);
  return { provider, displayName: changes.displayName ?? candidate.displayName, source, isNamed, ...look };
}

function changesOf(provider: string, { agents = {} }: Config): ChangeEntry {
  return Object.hasOwn(agents, provider) ? (agents[provider] ?? {}) : {};
}

const SWITCHES = {
  environment: 'environment',
  'local-server': 'localServers',
  command: 'commands',
  package: 'commands',
} as const;

function reasonToSkip({ source, isNamed }: Candidate, changes: ChangeEntry, config: Config): string | undefined {
  if (changes.enabled === false) return 'switched off in the configuration ("enabled": false)';
  if (isNamed || source === 'config') return undefined;
  const { discovery = {} } = config;
  if (discovery.enabled === false) return 'not looked for: discovery is switched off';
  const name = SWITCHES[source];
  return discovery[name] === false ? `not looked for: "discovery.${name}" is false in the configuration` : undefined;
}

async function probeInTime(candidate: Candidate, changes: ChangeEntry): Promise<Probe> {
  const limitMs = (candidate.isNamed ? NAMED_TIMEOUT_MS : GUESS_TIMEOUT_MS) + PROBE_SLACK_MS;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<Probe>((resolve) => {
    timer = setTimeout(() => resolve(notFound(`looking for it took longer than ${limitMs} ms`)), limitMs);
  });
  const look = candidate
    .probe(changes)
    .catch((error) => notFound(error instanceof Error ? error.message : String(error)));
  return Promise.race([look, tooLate]).finally(() => clearTimeout(timer));
}

/** Entries without a type that change nothing, because no agent has that name. */
function strayCandidates({ agents = {} }: Config, known: readonly Candidate[]): Candidate[] {
  const names = new Set(known.map(({ provider }) => provider)).add('offline');
  return Object.entries(agents).flatMap(([provider, entry]): Candidate[] => {
    if (names.has(provider) || isTyped(entry)) return [];
    const why = 'the configuration names it without a "type", and nothing of that name is found by itself';
    const look = async () => notFound(`${why}: add one, such as "type": "acp"`);
    return [{ provider, displayName: provider, source: 'config', isNamed: true, probe: look }];
  });
}
