/** Two files become one configuration: the project wins over the user, key by key. */
import { type AgentEntry, type Config, isTyped } from './schema.js';

export function merged(user: Config, project: Config): Config {
  return {
    ...user,
    ...project,
    agents: mergedAgents(user.agents ?? {}, project.agents ?? {}),
    discovery: { ...user.discovery, ...project.discovery },
    mcpServers: { ...user.mcpServers, ...project.mcpServers },
    providers: { ...user.providers, ...project.providers },
    plugins: [...new Set([...(user.plugins ?? []), ...(project.plugins ?? [])])],
  };
}

type Agents = Readonly<Record<string, AgentEntry>>;

/**
 * An entry with a type stands for itself: mixed with another, the key of one could travel to the address of the other.
 * An entry without one changes what is there.
 */
function mergedAgents(user: Agents, project: Agents): Agents {
  const changed = Object.entries(project).map(([id, entry]) => {
    const before = Object.hasOwn(user, id) ? user[id] : undefined;
    return [id, isTyped(entry) ? entry : { ...before, ...entry }] as const;
  });
  return { ...user, ...Object.fromEntries(changed) };
}
