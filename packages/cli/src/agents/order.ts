/**
 * The order of the agents; the first is the default. What a person asked for comes before the offline agent, what is
 * merely found comes after it: a key or a server on the machine alone never changes where messages go.
 */
import type { AgentBackend, Config, Discovered } from '@atrium/host';

export interface AgentsToOrder {
  readonly scripted: readonly AgentBackend[];
  readonly offline: AgentBackend;
  readonly discovered: readonly Discovered[];
  readonly config: Config;
}

export function inOrder({ scripted, offline, discovered, config }: AgentsToOrder): AgentBackend[] {
  const taken = new Set(scripted.map(({ info }) => info.provider));
  const found = discovered.filter(({ provider }) => !taken.has(provider));
  const configured = backendsOf(found.filter(({ source }) => source === 'config'));
  const others = backendsOf(found.filter(({ source }) => source !== 'config'));
  const real = [...configured, ...others];
  const isWanted = config.agents?.offline?.enabled !== false || scripted.length + real.length === 0;
  const unscripted = [...configured, ...(isWanted ? [offline] : []), ...others];
  const isDefault = ({ info }: AgentBackend): boolean => info.provider === config.defaultAgent;
  return [...scripted, ...unscripted.filter(isDefault), ...unscripted.filter((agent) => !isDefault(agent))];
}

function backendsOf(discovered: readonly Discovered[]): AgentBackend[] {
  return discovered.flatMap(({ backend }) => backend ?? []);
}
