/** Reads the pattern of one name of a path into its parts. */

export type SegmentPart =
  /** Any number of characters. */
  | { readonly kind: 'any' }
  /** Any one character. */
  | { readonly kind: 'one' }
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] };

export function parseSegment(pattern: string): SegmentPart[] {
  const characters = [...pattern];
  const parts: SegmentPart[] = [];
  for (let at = 0; at < characters.length; ) {
    const { part, next } = parsePart(characters, at);
    parts.push(part);
    at = next;
  }
  return parts;
}

interface Parsed {
  readonly part: SegmentPart;
  readonly next: number;
}

function parsePart(characters: readonly string[], at: number): Parsed {
  const character = characters[at] ?? '';
  const following = characters[at + 1];
  if (character === '*') return { part: { kind: 'any' }, next: at + 1 };
  if (character === '?') return { part: { kind: 'one' }, next: at + 1 };
  if (character === '\\' && following !== undefined) {
    return { part: { kind: 'literal', character: following }, next: at + 2 };
  }
  const found = character === '[' ? parseClass(characters, at) : undefined;
  return found ?? { part: { kind: 'literal', character }, next: at + 1 };
}

/** A bracket that is never closed is only a bracket; one right behind the opening is a member. */
function parseClass(characters: readonly string[], at: number): Parsed | undefined {
  const negated = characters[at + 1] === '!' || characters[at + 1] === '^';
  const start = at + (negated ? 2 : 1);
  const end = characters.indexOf(']', start + 1);
  if (end < 0) return undefined;
  return { part: { kind: 'class', negated, ranges: rangesOf(characters.slice(start, end)) }, next: end + 1 };
}

function rangesOf(members: readonly string[]): [string, string][] {
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; ) {
    const from = members[at] ?? '';
    const to = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    at += to === undefined ? 1 : 3;
  }
  return ranges;
}
