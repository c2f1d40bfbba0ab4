/** Names of MCP tools as models see them: short, of few kinds of characters, and no two alike by accident. */
import { createHash } from 'node:crypto';

/** What the strictest model APIs take. */
export const MODEL_NAME_MAX_CHARACTERS = 64;
const HASH_CHARACTERS = 8;

export interface ServerName {
  readonly name: string;
  /** The plugin that declares the server; absent for one of the host's configuration. */
  readonly plugin?: string | undefined;
}

/** Parts that can be told apart again when joined with underscores. */
const PLAIN_PART = /^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/;

/** A name that is too long, or holds more than models take, ends in a hash of all of it. */
export function modelToolName({ name, plugin }: ServerName, tool: string): string {
  const server = plugin === undefined ? name : `plugin_${plugin}_${name}`;
  const whole = `mcp__${server}__${tool}`;
  const parts = plugin === undefined ? [name, tool] : [plugin, name, tool];
  if (whole.length <= MODEL_NAME_MAX_CHARACTERS && parts.every((part) => PLAIN_PART.test(part))) return whole;
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, HASH_CHARACTERS);
  const start = whole.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MODEL_NAME_MAX_CHARACTERS - HASH_CHARACTERS - 1);
  return `${start}_${hash}`;
}
