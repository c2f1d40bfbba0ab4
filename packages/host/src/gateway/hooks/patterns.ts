/**
 * Regular expressions of strangers, tried within a budget. Those that cannot take long are simply tried. All others of a
 * call are tried in one run that can be cut off from outside.
 */
import { performance } from 'node:perf_hooks';
import vm from 'node:vm';
import { MATCH_BUDGET_MS } from '@atrium/protocol/provider';

/** Longer patterns are refused when they are registered. */
export const PATTERN_MAX_CHARACTERS = 1_000;
/** Longer texts are not tried at all. */
export const MATCH_INPUT_MAX_CHARACTERS = 64 * 1_024;
/** A pattern that ran out of time this often in a row is not tried any more: it would only stop everybody again. */
export const CUTS_MAX = 3;
/** The budget is time on the wall, and a busy machine may give us none of it: one cut alone proves nothing. */
const PROOFS_NEEDED = 3;
/** Runs for all patterns of a call together, and how long they may take where the machine is so busy that each is late. */
export const RUNS_MAX = 24;
const PATIENCE_MS = 250;
/** A pattern that is through within so many steps needs no fence: that is a third of the budget at worst. */
const UNFENCED_STEPS_MAX = 1_000_000;
/** What of the budget the processor must have worked for us before a cut proves anything. */
const PROOF_MICROSECONDS = MATCH_BUDGET_MS * 1_000 * 0.8;

/** `cut`: nobody knows whether it would have matched. */
export type MatchResult = 'match' | 'no-match' | 'cut';

export class Pattern {
  readonly regex: RegExp;
  /** How many parts of it can take more or less of a text. With groups it is hard to tell: any number. */
  readonly #repetitions: number;
  /** How often it was cut in a row. */
  cuts = 0;

  /** Throws a `SyntaxError` for what is no regular expression. */
  constructor(source: string) {
    this.regex = new RegExp(source);
    const bare = source.replaceAll(/\\[^u]/g, '');
    this.#repetitions = bare.includes('(') ? Number.POSITIVE_INFINITY : (bare.match(/[*+?{]/g)?.length ?? 0);
  }

  /** At most: from each place of the text, each repetition may try every length. */
  stepsOn({ length }: string): number {
    return this.regex.source.length * (length + 1) ** (1 + this.#repetitions);
  }
}

/** In the order of the patterns. */
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

/** One run for all of them; where it is cut, that pattern is tried alone, and the next run goes on behind it. */
function tryInOrder(patterns: readonly Pattern[], input: string): ReadonlyMap<Pattern, MatchResult> {
  const results = new Map<Pattern, MatchResult>();
  const mayRun = patience();
  while (results.size < patterns.length && mayRun()) {
    const left = patterns.slice(results.size);
    const done = run(left, input);
    for (const [index, isMatch] of done.entries()) results.set(left[index] as Pattern, resultOf(isMatch));
    const suspect = left[done.length];
    if (suspect) results.set(suspect, tryAlone(suspect, input, mayRun));
  }
  for (const [pattern, result] of results) pattern.cuts = result === 'cut' ? pattern.cuts + 1 : 0;
  return results;
}

/** Everybody waits meanwhile. What is left when it is over counts as cut. */
function patience(): () => boolean {
  const endsAt = performance.now() + PATIENCE_MS;
  let runs = 0;
  return () => ++runs <= RUNS_MAX && performance.now() < endsAt;
}

function tryAlone(pattern: Pattern, input: string, mayRun: () => boolean): MatchResult {
  for (let proofs = 0; proofs < PROOFS_NEEDED && mayRun(); ) {
    const before = process.cpuUsage();
    const [isMatch] = run([pattern], input);
    if (isMatch !== undefined) return resultOf(isMatch);
    const { user, system } = process.cpuUsage(before);
    if (user + system >= PROOF_MICROSECONDS) proofs += 1;
  }
  return 'cut';
}

function resultOf(isMatch: boolean): MatchResult {
  return isMatch ? 'match' : 'no-match';
}

/** What is tried, and how far it came: outside of what is cut off, so that it outlasts it. */
interface Desk {
  regexes: readonly RegExp[];
  input: string;
  readonly done: boolean[];
}

const SCRIPT =
  'while (desk.done.length < desk.regexes.length) desk.done.push(desk.regexes[desk.done.length].test(desk.input))';

let session: { readonly desk: Desk; readonly context: vm.Context; readonly script: vm.Script } | undefined;

/** Made when the first pattern needs it. */
function roomForPatterns() {
  const desk: Desk = { regexes: [], input: '', done: [] };
  session ??= { desk, context: vm.createContext({ desk }), script: new vm.Script(SCRIPT) };
  return session;
}

/** The results up to where it was cut off, or all of them. */
function run(patterns: readonly Pattern[], input: string): readonly boolean[] {
  const { desk, context, script } = roomForPatterns();
  desk.regexes = patterns.map(({ regex }) => regex);
  desk.input = input;
  try {
    script.runInContext(context, { timeout: MATCH_BUDGET_MS });
  } catch {
    // Out of time, or out of stack: either way it stopped at the first pattern without a result.
  }
  desk.regexes = [];
  desk.input = '';
  return desk.done.splice(0);
}
