/** Two ways to look for lines in a text: plain, and by a regular expression that is not trusted to come to an end. */
import { createContext, Script } from 'node:vm';
import { ToolFailure } from '../../core/contracts/tool.js';
import { shorten } from '../../core/util/text.js';

export const PATTERN_MAX_CHARACTERS = 1_000;
/** How long one file may take; the host does nothing else meanwhile. */
export const PATTERN_FILE_MAX_MS = 100;
/** How long all files of a search may take. */
export const PATTERN_BUDGET_MS = 2_000;

export interface LineHit {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** Where in the line it begins. */
  readonly at: number;
}

/** The first hits in a text, at most so many. */
export type LineMatcher = (content: string, max: number) => LineHit[];

export function plainMatcher(text: string, caseSensitive: boolean): LineMatcher {
  const fold = (some: string) => (caseSensitive ? some : some.toLowerCase());
  const needle = fold(text);
  return (content, max) => {
    if (!fold(content).includes(needle)) return [];
    const hits: LineHit[] = [];
    for (const [index, line] of content.split('\n').entries()) {
      const at = fold(line).indexOf(needle);
      if (at >= 0) hits.push({ line: index + 1, text: line, at });
      if (hits.length === max) break;
    }
    return hits;
  };
}

/** Runs apart from the host's own code, only because that is the way to stop a regular expression half-way. */
const FIND = new Script(`(() => {
  expression ??= new RegExp(source, flags);
  const hits = [];
  for (const [index, line] of content.split(/\\r?\\n/).entries()) {
    const at = line.search(expression);
    if (at >= 0) hits.push({ line: index + 1, text: line, at });
    if (hits.length === max) break;
  }
  return JSON.stringify(hits);
})()`);

export function patternMatcher(source: string, caseSensitive: boolean): LineMatcher {
  checkPattern(source);
  const names = { source, flags: caseSensitive ? '' : 'i', content: '', max: 0, expression: undefined };
  const context = createContext(names);
  let spentMs = 0;
  return (content, max) => {
    if (spentMs > PATTERN_BUDGET_MS) throw tooSlow(source);
    const begun = performance.now();
    Object.assign(names, { content, max });
    try {
      return JSON.parse(FIND.runInContext(context, { timeout: PATTERN_FILE_MAX_MS }));
    } catch {
      throw tooSlow(source);
    } finally {
      spentMs += performance.now() - begun;
    }
  };
}

function checkPattern(source: string): void {
  if (source.length > PATTERN_MAX_CHARACTERS) {
    throw new ToolFailure('BAD_INPUT', `The pattern is longer than ${PATTERN_MAX_CHARACTERS} characters.`);
  }
  try {
    new RegExp(source);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolFailure('BAD_INPUT', `The pattern is not a regular expression: ${shorten(why, 200)}.`);
  }
}

function tooSlow(source: string): ToolFailure {
  const advice = 'Make it simpler, without one repetition inside another, or search a smaller folder.';
  return new ToolFailure('TOO_SLOW', `The pattern "${shorten(source, 60)}" takes too long. ${advice}`);
}
