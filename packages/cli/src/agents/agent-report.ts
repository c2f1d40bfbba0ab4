/** What `atrium agents` knows, as plain data: the same for people and for programs. */
import type { AgentBackend, AgentSource } from '@atrium/host';
import type { FoundAgents } from './find-agents.js';

export interface AgentReport {
  /** The id of the default agent. */
  readonly default: string | undefined;
  /** In the order in which clients see them; then those that are not there. */
  readonly agents: readonly AgentRow[];
  readonly config: ConfigReport;
}

export interface AgentRow {
  readonly provider: string;
  readonly displayName: string;
  readonly source: AgentSource | 'script' | 'built-in';
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
