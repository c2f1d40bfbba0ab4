/** The schema of a tool's input or output, as far as the protocol can carry it. */
import type { ToolDefinition } from '@atrium/protocol';
import { isRecord } from '../../core/util/shape.js';
import { MCP_SCHEMA_MAX_BYTES } from './limits.js';

export type ToolSchema = NonNullable<ToolDefinition['inputSchema']>;

/** Passed on as it is, except that JSON Schema knows a short form for "anything" that the protocol does not. */
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
