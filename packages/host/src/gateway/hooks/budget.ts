/**
 * Regular expressions of strangers, tried within a budget. All patterns of a call are tried in one run that can be cut
 * off from outside; the one at which it was cut gets further chances, because such a cut can come too early.
 */
import vm from 'node:vm';
import { MATCH_BUDGET_MS } from '@atrium/protocol/provider';
import { isRecord } from '../../tools/shape.js';

/** Longer patterns are refused when they are registered. */
export const PATTERN_MAX_CHARACTERS = 1_000;
/** Longer texts are not tried at all. */
export const MATCH_INPUT_MAX_CHARACTERS = 64 * 1_024;
/** A pattern that ran out of time this often is not tried any more. */
export const CUTS_MAX = 3;

/** The budget is time on the wall, and a busy machine may give us none of it: one attempt proves nothing. */
const ATTEMPTS_MAX = 5;

/** `cut`: nobody knows whether it would have matched. */
export type MatchResult = 'match' | 'no-match' | 'cut';

export class Pattern {
  readonly regex: RegExp;
  cuts = 0;

  /** Throws a `SyntaxError` for what is no regular expression. */
  constructor(source: string) {
    this.regex = new RegExp(source);
  }
}

interface Run {
  patterns: readonly RegExp[];
  input: string;
  /** Outside of what can be cut off, so that it tells how far the run came. */
  at: number;
  results: boolean[];
}

const run: Run = { patterns: [], input: '', at: 0, results: [] };
const context = vm.createContext({ run });
const script = new vm.Script(
  'for (; run.at < run.patterns.length; run.at++) run.results[run.at] = run.patterns[run.at].test(run.input);',
);

export function tryPatterns(patterns: readonly Pattern[], input: string): MatchResult[] {
  if (input.length > MATCH_INPUT_MAX_CHARACTERS) return patterns.map(() => 'cut');
  const live = patterns.filter(({ cuts }) => cuts < CUTS_MAX);
  const results = testAll(live, input);
  const found = new Map(live.map((pattern, index) => [pattern, results[index]]));
  return patterns.map((pattern) => found.get(pattern) ?? 'cut');
}

function testAll(patterns: readonly Pattern[], input: string): MatchResult[] {
  const results: MatchResult[] = [];
  let attempts = 0;
  while (results.length < patterns.length) {
    const done = runFrom(patterns.slice(results.length), input);
    results.push(...done);
    attempts = done.length > 0 ? 1 : attempts + 1;
    const cut = patterns[results.length];
    if (!cut || attempts < ATTEMPTS_MAX) continue;
    cut.cuts += 1;
    results.push('cut');
    attempts = 0;
  }
  return results;
}

/** The results up to where it was cut off, or all of them. */
function runFrom(patterns: readonly Pattern[], input: string): MatchResult[] {
  Object.assign(run, { patterns: patterns.map(({ regex }) => regex), input, at: 0, results: [] });
  try {
    script.runInContext(context, { timeout: MATCH_BUDGET_MS });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }
  const results = run.results.slice(0, run.at).map((isMatch) => (isMatch ? 'match' : 'no-match'));
  Object.assign(run, { patterns: [], input: '', results: [] });
  return results;
}

/** The error comes from the other side of the fence, where `Error` is another one. */
function isTimeout(error: unknown): boolean {
  return isRecord(error) && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
