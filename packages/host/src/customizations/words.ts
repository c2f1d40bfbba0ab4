/** What somebody would start, in words for the people who are asked. How it is started stays on the host. */
import { count } from '../tools/text.js';
import { Container } from './container.js';
import type { ServerSource } from './sources/source.js';

/** Undefined when there is nothing to start. */
export function programsOf(found: Container | ServerSource): string | undefined {
  if (!(found instanceof Container)) return `MCP server ${found.name}`;
  const { hooks = [], mcpServers = [] } = found.loaded ?? {};
  const commands = hooks.filter(({ action }) => action.kind === 'command');
  const servers = mcpServers.map(({ name }) => `MCP server ${name}`);
  const words = commands.length === 0 ? servers : [count(commands.length, 'hook'), ...servers];
  return words.length === 0 ? undefined : `plugin ${found.name}: ${words.join(', ')}`;
}
