/** The tools of a server: reads them page by page, and again when the server says so, and names them for models. */
import { createHash } from 'node:crypto';
import type { Clock } from '@atrium/core/util/clock.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { pause, within } from '@atrium/core/util/waiting.js';
import type { ToolAnnotations, ToolDefinition } from '@atrium/protocol/ahp-1';
import {
  MCP_DESCRIPTION_MAX_CHARACTERS,
  MCP_SCHEMA_MAX_BYTES,
  MCP_TITLE_MAX_CHARACTERS,
  MCP_TOOL_NAME_MAX_CHARACTERS,
  MCP_TOOL_PAGES_MAX,
  MCP_TOOLS_MAX,
  MCP_TOOLS_REFRESH_EVERY_MS,
  MCP_TOOLS_TIMEOUT_MS,
} from './limits.js';
import type { Connection } from './mcp-connection.js';

export interface ToolSetOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Fires when the connection can no longer be used. */
  readonly signal: AbortSignal;
  read(listing: ToolListing): void;
  /** The tools could not be read again; the earlier ones stay. */
  failed(error: unknown): void;
}

export class ToolSet {
  readonly #options: ToolSetOptions;
  #isStale = false;
  #isReading = false;

  constructor(options: ToolSetOptions) {
    this.#options = options;
  }

  /** Reads them for the first time. */
  async open(): Promise<void> {
    const { connection } = this.#options;
    this.#isReading = true;
    if (connection.hasTools) this.#options.read(await this.#list());
    this.#isReading = false;
    if (this.#isStale) void this.#refresh();
  }

  changed(): void {
    this.#isStale = true;
    if (!this.#isReading) void this.#refresh();
  }

  async #refresh(): Promise<void> {
    const { clock, signal, read, failed } = this.#options;
    this.#isReading = true;
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false;
      try {
        const listing = await within(clock, MCP_TOOLS_TIMEOUT_MS, this.#list(), tooSlow);
        if (!signal.aborted) read(listing);
      } catch (error) {
        failed(error);
      }
      await pause(clock, MCP_TOOLS_REFRESH_EVERY_MS, signal);
    }
    this.#isReading = false;
  }

  #list(): Promise<ToolListing> {
    const { connection } = this.#options;
    return readToolList((params) => connection.request('tools/list', params));
  }
}

function tooSlow(): never {
  throw new Error(`The server did not list its tools within ${MCP_TOOLS_TIMEOUT_MS / 1_000} s.`);
}

/** A tool as the server describes it. */
export type McpTool = Readonly<Omit<ToolDefinition, '_meta'>>;

export interface ToolListing {
  /** Without duplicate names. */
  readonly tools: readonly McpTool[];
  /** How many tools were left out, as far as the host knows. */
  readonly leftOut: number;
}

type ReadPage = (params: Record<string, unknown>) => Promise<Record<string, unknown>>;

async function readToolList(readPage: ReadPage): Promise<ToolListing> {
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

export type ToolSchema = NonNullable<ToolDefinition['inputSchema']>;

/** The schema unchanged, except that JSON Schema's boolean schemas, which the protocol lacks, are replaced. */
export function toolSchemaOf(schema: unknown): ToolSchema | undefined {
  if (!isRecord(schema) || schema.type !== 'object') return undefined;
  if (Buffer.byteLength(JSON.stringify(schema)) > MCP_SCHEMA_MAX_BYTES) return undefined;
  const { properties, required } = schema;
  if (required !== undefined && !isTextList(required)) return undefined;
  if (properties === undefined) return schema as ToolSchema;
  if (!isRecord(properties)) return undefined;
  const written = Object.entries(properties).map(([name, value]) => [name, inFull(value)] as const);
  if (!written.every(([, value]) => isRecord(value))) return undefined;
  return { ...schema, properties: Object.fromEntries(written) } as ToolSchema;
}

function inFull(schema: unknown): unknown {
  if (schema === true) return {};
  return schema === false ? { not: {} } : schema;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The limits of the strictest model APIs. */
const MODEL_NAME_MAX_CHARACTERS = 64;
const HASH_CHARACTERS = 8;

export interface ServerName {
  readonly name: string;
  /** The plugin that declares the server; absent for a server in the host's configuration. */
  readonly plugin?: string | undefined;
}

/** Parts that remain distinguishable when they are joined by underscores. */
const PLAIN_PART = /^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/;

/** A name that is too long, or has characters that models do not accept, ends in a hash of the full name. */
export function modelToolName({ name, plugin }: ServerName, tool: string): string {
  const server = plugin === undefined ? name : `plugin_${plugin}_${name}`;
  const whole = `mcp__${server}__${tool}`;
  const parts = plugin === undefined ? [name, tool] : [plugin, name, tool];
  if (whole.length <= MODEL_NAME_MAX_CHARACTERS && parts.every((part) => PLAIN_PART.test(part))) return whole;
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, HASH_CHARACTERS);
  const start = whole.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MODEL_NAME_MAX_CHARACTERS - HASH_CHARACTERS - 1);
  return `${start}_${hash}`;
}
