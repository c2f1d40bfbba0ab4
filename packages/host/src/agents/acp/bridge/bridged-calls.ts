/**
 * Recognizes what an agent tells of its calls to the host's tools. Those are shown and asked about by the host itself,
 * so the agent's own account of them would be a second one.
 */
import type { CallFields } from '../call-fields.js';
import { BRIDGE_NAME } from './bridge.js';

/** Kinds that agents give to tools of MCP servers. Of any other kind it is no such tool, whatever it is called. */
const KINDS: ReadonlySet<string | undefined> = new Set([undefined, 'other']);

/**
 * By the name of the server and of its tool, as a whole: a part of a text is no name. An agent that has named both at
 * first may later name the tool alone.
 */
export function isBridgedCall(fields: CallFields, tools: readonly string[], wasBridged = false): boolean {
  const { title, name, kind } = fields;
  if (!KINDS.has(kind)) return false;
  const written = [title, name].flatMap((text) => text ?? []);
  const isNamed = (tool: string) =>
    (wasBridged && title === tool) || writings(tool).some((way) => written.includes(way));
  return tools.some(isNamed);
}

/** The ways in which agents write them. */
function writings(tool: string): string[] {
  const joined = ['__', '/', '-', '_', ':', '.'].map((mark) => `${BRIDGE_NAME}${mark}${tool}`);
  return [
    ...joined,
    `mcp__${BRIDGE_NAME}__${tool}`,
    `Tool: ${BRIDGE_NAME}/${tool}`,
    `mcp.${BRIDGE_NAME}.${tool}`,
    `${tool} (${BRIDGE_NAME} MCP Server)`,
  ];
}
