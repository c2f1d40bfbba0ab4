/** What `atrium agents` knows, as plain data: the same for people and for programs. */
import type { AgentBackend, AgentSource } from '@atrium/host';
import type { RootState } from '@atrium/protocol';
import type { FoundAgents } from './find-agents.js';

export interface AgentReport {
  /** The host that was asked; absent when none runs, and this is what one would offer that is started from here. */
  readonly host?: AskedHost;
  /** The id of the default agent. */
  readonly default: string | undefined;
  /** In the order in which clients see them; then those that are not there. */
  readonly agents: readonly AgentRow[];
  readonly config: ConfigReport;
}

export interface AskedHost {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
}

export interface AgentRow {
  readonly provider: string;
  readonly displayName: string;
  /** `host`: the running host has it, and this shell does not know from where. */
  readonly source: AgentSource | 'script' | 'built-in' | 'host';
  readonly found: boolean;
  readonly why: string;
  readonly models: AgentBackend['info']['models'];
}

export interface ConfigReport {
  readonly files: readonly string[];
  /** Where the user's own file is, or would be. */
  readonly userFile: string;
  readonly warnings: readonly string[];
  readonly waitingForTrust: FoundAgents['config']['waiting'] | null;
}

export function agentReport(found: FoundAgents): AgentReport {
  const { agents, discovered, config, userFile } = found;
  const absent = discovered.filter((agent) => !agent.found);
  return {
    default: agents[0]?.info.provider,
    agents: [
      ...agents.map((agent) => rowOf(agent, found)),
      ...absent.map(({ provider, displayName, source, why }) => ({
        ...{ provider, displayName, source, found: false, why, models: [] },
      })),
    ],
    config: { files: config.files, userFile, warnings: config.warnings, waitingForTrust: config.waiting ?? null },
  };
}

function rowOf(agent: AgentBackend, { scripted, discovered }: FoundAgents): AgentRow {
  const { provider, displayName, models } = agent.info;
  const row = { provider, displayName, found: true, models };
  const known = discovered.find(({ backend }) => backend === agent);
  if (known) return { ...row, source: known.source, why: known.why };
  if (scripted.includes(agent)) return { ...row, source: 'script', why: 'plays the script that you named' };
  return { ...row, source: 'built-in', why: 'built in: needs no key and no network' };
}

/**
 * What a running host offers. Its environment and its folder are not those of this shell, so only it knows; what this shell
 * would find besides is listed as not there, with what to do about it.
 */
export function hostReport(here: AgentReport, host: AskedHost, root: RootState): AgentReport {
  const known = new Map(here.agents.map((row) => [row.provider, row]));
  const offered = root.agents.map(({ provider, displayName, models }): AgentRow => {
    const row = known.get(provider);
    known.delete(provider);
    if (row?.found) return { ...row, displayName, models };
    return { provider, displayName, models, found: true, source: 'host', why: 'found by the host when it started' };
  });
  const others = [...known.values()].map((row) => (row.found ? { ...row, found: false, why: missing(row) } : row));
  return { ...here, host, default: defaultAgentOf(root), agents: [...offered, ...others] };
}

function missing({ why }: AgentRow): string {
  return `${why}, but the host runs without it: atrium service stop, then atrium service start`;
}

/** The agent of sessions whose creator names none, as the host chooses it. */
export function defaultAgentOf({ agents, config }: RootState): string | undefined {
  const chosen = config?.values.defaultAgent;
  return typeof chosen === 'string' ? chosen : agents[0]?.provider;
}
