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
  if (Array.isArray(value)) return `[${joinedText(value.map((item) => jsonWithRaw(item, depth - 1)))}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${joinedText(members.map(([key, member]) => `${JSON.stringify(key)}:${jsonWithRaw(member, depth - 1)}`))}}`;
}

/** Texts with commas in between. Unlike `join` it does not copy them: megabytes are copied once, when they are sent. */
export function joinedText(texts: readonly string[]): string {
  return texts.reduce((joined, text) => (joined && text ? `${joined},${text}` : joined || text), '');
}
