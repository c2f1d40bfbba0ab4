/** Maps from names to texts, such as environments and headers, as people write them. */
import { isRecord } from '../../../core/util/shape.js';

/** Numbers count as texts; anything else is left out. */
export function textMap(value: unknown, expanded: (text: string) => string): Record<string, string> {
  if (!isRecord(value)) return {};
  const usable: [string, string][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string' || typeof member === 'number') usable.push([name, expanded(String(member))]);
  }
  return Object.fromEntries(usable);
}

/** The names that are written down with null. */
export function nullMap(value: unknown): Record<string, null> {
  if (!isRecord(value)) return {};
  const names = Object.keys(value).filter((name) => value[name] === null);
  return Object.fromEntries(names.map((name) => [name, null]));
}
