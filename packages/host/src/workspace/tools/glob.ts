/**
 * Patterns for paths: `**`, `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, and a backslash before what is meant as it is. Matched
 * without regular expressions, in time that grows with pattern times path and no faster.
 */
import { expandBraces } from './glob-braces.js';
import { parseSegment, type SegmentPart } from './glob-segment.js';

/** Any number of what it stands among: characters in a name, folders in a path. */
const ANY = Symbol('any');
type OrAny<T> = T | typeof ANY;

export type Glob = (path: string) => boolean;

/** A pattern without a slash is looked for in every folder. */
export function glob(pattern: string): Glob {
  const alternatives = expandBraces(pattern).map(parsePath);
  return (path) => {
    const names = path.split('/');
    return alternatives.some((alternative) => fits(alternative, names, fitsName));
  };
}

type NamePattern = readonly OrAny<SegmentPart>[];

function parsePath(pattern: string): OrAny<NamePattern>[] {
  const names = pattern.replace(/^(\.?\/)+/, '').split('/');
  const anchored = names.length > 1 ? names : ['**', ...names];
  return anchored.map((name) => (name === '**' ? ANY : parseName(name)));
}

function parseName(name: string): NamePattern {
  return parseSegment(name).map((part) => (part.kind === 'any' ? ANY : part));
}

function fitsName(pattern: NamePattern, name: string): boolean {
  return fits(pattern, [...name], fitsCharacter);
}

function fitsCharacter(part: SegmentPart, character: string): boolean {
  if (part.kind === 'literal') return part.character === character;
  if (part.kind !== 'class') return true;
  return part.ranges.some(([from, to]) => from <= character && character <= to) !== part.negated;
}

/** Goes back only to the last ANY: what an earlier one takes needs no second try. */
function fits<P, T>(
  pattern: readonly OrAny<P>[],
  items: readonly T[],
  fitsOne: (part: P, item: T) => boolean,
): boolean {
  let at = 0;
  let retry: { pattern: number; item: number } | undefined;
  for (let item = 0; item < items.length; ) {
    const part = pattern[at];
    if (part === ANY) {
      at += 1;
      retry = { pattern: at, item };
    } else if (part !== undefined && fitsOne(part, items[item] as T)) {
      at += 1;
      item += 1;
    } else if (retry) {
      retry.item += 1;
      at = retry.pattern;
      item = retry.item;
    } else return false;
  }
  return pattern.slice(at).every((part) => part === ANY);
}
