/**
 * Patterns for paths: `**`, `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, and a backslash before a character that is meant
 * literally. They are matched without regular expressions, in time at most proportional to pattern times path.
 */
import { ToolFailure } from './tool-failure.js';

export const GLOB_MAX_ALTERNATIVES = 64;

/** Matches any number of items: of characters in a name, of folders in a path. */
const ANY = Symbol('any');
type OrAny<T> = T | typeof ANY;

export type Glob = (path: string) => boolean;

/** Compiles a pattern. One without a slash matches in every folder. */
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

/** Matches items against a pattern. Backtracks only to the last ANY: an earlier one needs no second try. */
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

type SegmentPart =
  /** Any number of characters. */
  | { readonly kind: 'any' }
  /** Any one character. */
  | { readonly kind: 'one' }
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] };

/** Parses the pattern for one name of a path. */
function parseSegment(pattern: string): SegmentPart[] {
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

/**
 * Parses a character class. An unclosed bracket is an ordinary character; a closing one right after the opening is a
 * member.
 */
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

/** Expands alternatives in braces: `a.{js,ts}` becomes `a.js` and `a.ts`. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const group = firstGroup(next);
    if (!group) done.push(next);
    else waiting.unshift(...group.choices.map((choice) => group.before + choice + group.after));
    if (done.length + waiting.length > GLOB_MAX_ALTERNATIVES) {
      throw new ToolFailure('BAD_INPUT', `The pattern has more than ${GLOB_MAX_ALTERNATIVES} alternatives.`);
    }
  }
  return done;
}

interface Group {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

/** The first closed group with its own comma; other braces are ordinary characters. */
function firstGroup(pattern: string): Group | undefined {
  for (let start = pattern.indexOf('{'); start >= 0; start = pattern.indexOf('{', start + 1)) {
    const commas = pattern[start - 1] === '\\' ? undefined : separatorsFrom(pattern, start);
    if (!commas || commas.length <= 2) continue;
    const choices = commas.slice(1).map((comma, index) => pattern.slice((commas[index] ?? 0) + 1, comma));
    return { before: pattern.slice(0, start), choices, after: pattern.slice((commas.at(-1) ?? 0) + 1) };
  }
  return undefined;
}

/** The positions of the group's opening brace, its commas, and its closing brace. */
function separatorsFrom(pattern: string, start: number): number[] | undefined {
  const found = [start];
  let depth = 0;
  for (let at = start; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === ',' && depth === 1) found.push(at);
    else if (character === '}' && --depth === 0) return [...found, at];
  }
  return undefined;
}
