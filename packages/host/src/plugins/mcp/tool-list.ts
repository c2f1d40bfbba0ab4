/** Reads the tools of a server: page by page, within limits. What is no tool is left out, and the rest still works. */
import type { ToolAnnotations, ToolDefinition } from '@atrium/protocol';
import { isRecord } from '../../core/util/shape.js';
import {
  MCP_DESCRIPTION_MAX_CHARACTERS,
  MCP_TITLE_MAX_CHARACTERS,
  MCP_TOOL_NAME_MAX_CHARACTERS,
  MCP_TOOL_PAGES_MAX,
  MCP_TOOLS_MAX,
} from './limits.js';
import { toolSchemaOf } from './tool-schema.js';

/** A tool in the server's own words. */
export type McpTool = Readonly<Omit<ToolDefinition, '_meta'>>;

export interface ToolListing {
  /** No two with the same name. */
  readonly tools: readonly McpTool[];
  /** How many were left out, where that can be told. */
  readonly leftOut: number;
}

type ReadPage = (params: Record<string, unknown>) => Promise<Record<string, unknown>>;

export async function readToolList(readPage: ReadPage): Promise<ToolListing> {
  const tools = new Map<string, McpTool>();
  let leftOut = 0;
  let cursor: unknown;
  for (let page = 0; page < MCP_TOOL_PAGES_MAX; page += 1) {
    const { tools: offered, nextCursor } = await readPage(cursor === undefined ? {} : { cursor });
    for (const offer of Array.isArray(offered) ? offered : []) {
      const tool = tools.size < MCP_TOOLS_MAX ? toolOf(offer) : undefined;
      if (tool && !tools.has(tool.name)) tools.set(tool.name, tool);
      else leftOut += 1;
    }
    if (typeof nextCursor !== 'string' || nextCursor === cursor || tools.size >= MCP_TOOLS_MAX) break;
    cursor = nextCursor;
  }
  return { tools: [...tools.values()], leftOut };
}

function toolOf(offer: unknown): McpTool | undefined {
  if (!isRecord(offer) || !isUsableName(offer.name)) return undefined;
  const { name, title, description, annotations } = offer;
  const inputSchema = toolSchemaOf(offer.inputSchema);
  const outputSchema = toolSchemaOf(offer.outputSchema);
  if (!inputSchema) return undefined;
  return {
    name,
    ...textMember('title', title, MCP_TITLE_MAX_CHARACTERS),
    ...textMember('description', description, MCP_DESCRIPTION_MAX_CHARACTERS),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(isRecord(annotations) && { annotations: annotationsOf(annotations) }),
  };
}

function isUsableName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name.length <= MCP_TOOL_NAME_MAX_CHARACTERS;
}

function textMember<Key extends string>(key: Key, value: unknown, maxCharacters: number): { [K in Key]?: string } {
  if (typeof value !== 'string' || value.trim() === '') return {};
  const text = value.length <= maxCharacters ? value : `${value.slice(0, maxCharacters - 1)}…`;
  return { [key]: text } as { [K in Key]?: string };
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

function annotationsOf(annotations: Record<string, unknown>): ToolAnnotations {
  const hints = HINTS.filter((hint) => typeof annotations[hint] === 'boolean').map((hint) => [hint, annotations[hint]]);
  return { ...textMember('title', annotations.title, MCP_TITLE_MAX_CHARACTERS), ...Object.fromEntries(hints) };
}
