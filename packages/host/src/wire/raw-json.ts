/** JSON text inside a value: what is kept as text goes out as text, without being parsed and written again. */

export class RawJson {
  constructor(readonly text: string) {}
}

/** How deep text may be hidden in a result. */
const DEPTH = 3;

/** The value as JSON, with the text in it taken over as it is. */
export function jsonWithRaw(value: unknown, depth = DEPTH): string {
  if (value instanceof RawJson) return value.text;
  if (depth === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => jsonWithRaw(item, depth - 1)).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${jsonWithRaw(member, depth - 1)}`).join(',')}}`;
}
