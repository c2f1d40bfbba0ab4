/**
 * The one space of names that the host's tools and a client's tools share, as the model sees it. Pure: who offers what
 * is handed in.
 */
import type { ToolDefinition } from '@atrium/protocol';

/** Put before the name of a client's tool that is taken already. */
export const CLIENT_PREFIX = 'client_';

export interface NamedTool {
  readonly owner: 'host' | 'client';
  /** As its owner defined it, with the name that the owner knows it by. */
  readonly tool: ToolDefinition;
}

/**
 * Every tool under the name to call it by, in the order of offering. The host's tools win; a client's tool whose name
 * is taken gets a prefix, as often as it takes. Of two tools of one owner with the same name only the first counts.
 */
export function toolNames(
  hostTools: readonly ToolDefinition[],
  clientTools: readonly ToolDefinition[],
): ReadonlyMap<string, NamedTool> {
  const names = new Map<string, NamedTool>();
  for (const tool of firstOfEach(hostTools)) names.set(tool.name, { owner: 'host', tool });
  const offered = firstOfEach(clientTools);
  // Names that nobody has are given first, so that a prefixed name never takes away another tool's own.
  const taken = new Set([...names.keys(), ...offered.map(({ name }) => name)]);
  for (const tool of offered) {
    const name = names.has(tool.name) ? freeName(tool.name, taken) : tool.name;
    taken.add(name);
    names.set(name, { owner: 'client', tool });
  }
  return names;
}

/** The tools as they are offered to a model: each under the name to call it by, but for those that are hidden from it. */
export function offeredTools(
  hostTools: readonly ToolDefinition[],
  clientTools: readonly ToolDefinition[],
  isHidden: (name: string) => boolean = () => false,
): ToolDefinition[] {
  // A hidden tool keeps its name: another one must not be called by it.
  return [...toolNames(hostTools, clientTools)].flatMap(([name, { tool }]) =>
    isHidden(tool.name) ? [] : { ...tool, name },
  );
}

function firstOfEach(tools: readonly ToolDefinition[]): ToolDefinition[] {
  const seen = new Set<string>();
  return tools.filter(({ name }) => !seen.has(name) && seen.add(name));
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = CLIENT_PREFIX + name;
  while (taken.has(free)) free = CLIENT_PREFIX + free;
  return free;
}
