/**
 * Tries regular expressions of providers within a time budget. Patterns that cannot take long run directly. All others
 * of a call run together in a VM context that can be interrupted.
 */
import { performance } from 'node:perf_hooks';
import vm from 'node:vm';
import { MATCH_BUDGET_MS } from '@atrium/protocol/provider';

/** Longer patterns are refused when they are registered. */
export const PATTERN_MAX_CHARACTERS = 1_000;
/** Longer texts are not tried: the result is `cut`. */
export const MATCH_INPUT_MAX_CHARACTERS = 64 * 1_024;
/** A pattern that runs out of time this often in a row is not tried again: it would only block the host. */
export const CUTS_MAX = 3;
/** The budget is wall-clock time, and a busy machine may give us none of it: one cut alone proves nothing. */
const PROOFS_NEEDED = 3;
/**
 * How often all patterns of a call may be run, and how long they may take on a machine so busy that each run is late.
 */
export const RUNS_MAX = 24;
const MATCH_TIME_MAX_MS = 250;
/** A pattern that needs no more steps runs without an interrupt: that takes a third of the budget at most. */
const UNFENCED_STEPS_MAX = 1_000_000;
/** CPU time that the host must have had before a cut proves anything. */
const PROOF_MICROSECONDS = MATCH_BUDGET_MS * 1_000 * 0.8;

/** `cut`: it ran out of time, so the result is unknown. */
export type MatchResult = 'match' | 'no-match' | 'cut';

export class Pattern {
  readonly regex: RegExp;
  /** How many of its parts repeat. With groups, this is hard to tell, so it counts as infinite. */
  readonly #repetitions: number;
  /** How often it was cut in a row. */
  cuts = 0;

  /** Throws a `SyntaxError` when the source is not a regular expression. */
  constructor(source: string) {
    this.regex = new RegExp(source);
    const bare = source.replaceAll(/\\[^u]/g, '');
    this.#repetitions = bare.includes('(') ? Number.POSITIVE_INFINITY : (bare.match(/[*+?{]/g)?.length ?? 0);
  }

  /** Upper bound: at each position of the text, each repetition may try every length. */
  stepsOn({ length }: string): number {
    return this.regex.source.length * (length + 1) ** (1 + this.#repetitions);
  }
}

/** The results, in the order of the patterns. */
export function tryPatterns(patterns: readonly Pattern[], input: string): MatchResult[] {
  if (input.length > MATCH_INPUT_MAX_CHARACTERS) return patterns.map(() => 'cut');
  const isQuick = (pattern: Pattern) => pattern.stepsOn(input) <= UNFENCED_STEPS_MAX;
  const others = patterns.filter((pattern) => pattern.cuts < CUTS_MAX && !isQuick(pattern));
  const results = tryInOrder([...new Set(others)], input);
  return patterns.map((pattern) => {
    if (isQuick(pattern)) return resultOf(pattern.regex.test(input));
    return results.get(pattern) ?? 'cut';
  });
}

/**
 * Runs all patterns at once. If the run is cut, the pattern at which it stopped is tried alone, and the next run
 * continues after it.
 */
function tryInOrder(patterns: readonly Pattern[], input: string): ReadonlyMap<Pattern, MatchResult> {
  const results = new Map<Pattern, MatchResult>();
  const canRun = deadline();
  while (results.size < patterns.length && canRun()) {
    const left = patterns.slice(results.size);
    const done = runPatterns(left, input);
    for (const [index, isMatch] of done.entries()) results.set(left[index] as Pattern, resultOf(isMatch));
    const suspect = left[done.length];
    if (suspect) results.set(suspect, tryAlone(suspect, input, canRun));
  }
  for (const [pattern, result] of results) pattern.cuts = result === 'cut' ? pattern.cuts + 1 : 0;
  return results;
}

/** Limits the time in which the host is blocked. Patterns that remain when it is over count as cut. */
function deadline(): () => boolean {
  const endsAt = performance.now() + MATCH_TIME_MAX_MS;
  let runs = 0;
  return () => ++runs <= RUNS_MAX && performance.now() < endsAt;
}

function tryAlone(pattern: Pattern, input: string, canRun: () => boolean): MatchResult {
  for (let proofs = 0; proofs < PROOFS_NEEDED && canRun(); ) {
    const before = process.cpuUsage();
    const [isMatch] = runPatterns([pattern], input);
    if (isMatch !== undefined) return resultOf(isMatch);
    const { user, system } = process.cpuUsage(before);
    if (user + system >= PROOF_MICROSECONDS) proofs += 1;
  }
  return 'cut';
}

function resultOf(isMatch: boolean): MatchResult {
  return isMatch ? 'match' : 'no-match';
}

/** The input and results of a run, kept outside the VM context, so that they outlast an interrupt. */
interface Run {
  regexes: readonly RegExp[];
  input: string;
  readonly done: boolean[];
}

const SCRIPT =
  'while (run.done.length < run.regexes.length) run.done.push(run.regexes[run.done.length].test(run.input))';

let sandbox: { readonly run: Run; readonly context: vm.Context; readonly script: vm.Script } | undefined;

/** The sandbox, created when the first pattern needs it. */
function sandboxForPatterns() {
  const run: Run = { regexes: [], input: '', done: [] };
  sandbox ??= { run, context: vm.createContext({ run }), script: new vm.Script(SCRIPT) };
  return sandbox;
}

/** The results, up to the point where the run was interrupted. */
function runPatterns(patterns: readonly Pattern[], input: string): readonly boolean[] {
  const { run, context, script } = sandboxForPatterns();
  run.regexes = patterns.map(({ regex }) => regex);
  run.input = input;
  try {
    script.runInContext(context, { timeout: MATCH_BUDGET_MS });
  } catch {
    // Out of time, or out of stack: either way it stopped at the first pattern without a result.
  }
  run.regexes = [];
  run.input = '';
  return run.done.splice(0);
}
