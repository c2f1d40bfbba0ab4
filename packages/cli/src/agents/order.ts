/**
 * The order of the agents; the first is the default. What a person configured comes first, then everybody who really has
 * a model, best known first: the server that a person named, keys, servers on this machine. The agent without a model
 * comes behind them, and before those of whom only their first turn shows whether they have one.
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
  const hasModel = ({ info }: AgentBackend): boolean => info.models.length > 0;
  const unscripted = [
    ...configured,
    ...others.filter(hasModel),
    ...(isWanted ? [offline] : []),
    ...others.filter((agent) => !hasModel(agent)),
  ];
  const isDefault = ({ info }: AgentBackend): boolean => info.provider === config.defaultAgent;
  return [...scripted, ...unscripted.filter(isDefault), ...unscripted.filter((agent) => !isDefault(agent))];
}

function backendsOf(discovered: readonly Discovered[]): AgentBackend[] {
  return discovered.flatMap(({ backend }) => backend ?? []);
}
