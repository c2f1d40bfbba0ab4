/** The host's tools under names that model providers accept, which allow fewer characters than the host. */
import type { ToolDefinition } from '@atrium/protocol/ahp-1';

export const TOOL_NAME_MAX_CHARACTERS = 64;

/** Tools by the name that the model knows. */
export type ToolTable = ReadonlyMap<string, ToolDefinition>;

export function toolTable(definitions: readonly ToolDefinition[]): ToolTable {
  const table = new Map<string, ToolDefinition>();
  for (const definition of definitions) table.set(freeName(wireName(definition.name), table), definition);
  return table;
}

/** `notes.add` → `notes_add` */
export function wireName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, TOOL_NAME_MAX_CHARACTERS) || '_';
}

/** The id of a call, in the same alphabet. */
export function wireId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) {
    const suffix = `_${number}`;
    free = `${name.slice(0, TOOL_NAME_MAX_CHARACTERS - suffix.length)}${suffix}`;
  }
  return free;
}
