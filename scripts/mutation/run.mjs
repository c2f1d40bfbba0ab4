/** Each mutant meets the tests that reach it, until one notices it: those of its area first, and short files first. */
import { dim, Problem, say } from '../process.mjs';
import { describe } from './mutants.mjs';
import { vitest } from './worker.mjs';

/** Milliseconds of tests that a mutant meets at most, as they take on an idle machine: of its area, and others. */
const NEAR_TESTS_MOST_MS = 30_000;
const OTHER_TESTS_MOST_MS = 10_000;
/** Mutants are tested in so many processes at once; tests mostly wait. */
const LANES = 2;

/**
 * @typedef {import('./mutants.mjs').Mutant} Mutant
 * @typedef {import('./worker.mjs').Entry} Entry
 * @typedef {import('./reach.mjs').Reach} Reach
 * `isTime`: the test did not fail, it did not end. @typedef {{ state: 'killed' | 'suspected' | 'survived' | 'unreached', by?: string, isTime?: boolean }} Outcome
 * `testsOf`: the test files near a source. @typedef {{ code: Record<string, string>, reach: Reach, testsOf: (source: string) => Set<string> }} World
 */

/** @param {readonly Mutant[]} mutants @param {World} world @returns {Promise<Map<string, Outcome>>} by the id of the mutant */
export async function runMutants(mutants, world) {
  /** @type {Map<string, Outcome>} */
  const outcomes = new Map();
  const lanes = Array.from({ length: LANES }, (_, lane) => mutants.filter((_, index) => index % LANES === lane));
  await Promise.all(lanes.map((some, lane) => runLane(some, world, { outcomes, lane: String(lane) })));
  return outcomes;
}

/** @param {readonly Mutant[]} mutants @param {World} world @param {{ outcomes: Map<string, Outcome>, lane: string }} options */
async function runLane(mutants, { code, reach, testsOf }, { outcomes, lane }) {
  const entries = new Map(mutants.map((mutant) => [mutant, entriesOf(mutant, reach, testsOf(mutant.fileName))]));
  const entriesFor = (/** @type {Mutant} */ mutant) => entries.get(mutant) ?? [];
  const isMet = (/** @type {Mutant} */ mutant) => entriesFor(mutant).length > 0;
  for (const mutant of mutants) outcomes.set(mutant.id, { state: isMet(mutant) ? 'survived' : 'unreached' });
  const isOnlyLoaded = (/** @type {Mutant} */ mutant) => reach.reaching(mutant).size === 0;
  const shared = mutants.filter((mutant) => !isOnlyLoaded(mutant));
  await runEntries(shared.flatMap(entriesFor), code, { control: true, outcomes, lane });
  const left = mutants.filter((mutant) => outcomes.get(mutant.id)?.state !== 'killed');
  say(dim(`  ${mutants.length - left.length} of ${mutants.length} were noticed in a shared worker; the others:`));
  for (const { file, line, change } of left.map(describe)) say(dim(`    ${file}:${line} ${change}`));
  // Code that runs only while it is loaded needs a fresh worker for each mutant; so do mutants that are only suspected.
  for (const mutant of left) {
    const isSuspected = outcomes.get(mutant.id)?.state === 'suspected';
    if (!isMet(mutant) || (!isSuspected && !isOnlyLoaded(mutant))) continue;
    outcomes.set(mutant.id, { state: 'survived' });
    await runEntries(entriesFor(mutant), code, { control: false, outcomes, lane });
  }
}

/**
 * Which test reaches code that runs only while it is loaded is not known: any of its area may.
 * @param {Mutant} mutant @param {Reach} reach @param {ReadonlySet<string>} near @returns {Entry[]}
 */
function entriesOf(mutant, reach, near) {
  const reaching = reach.reaching(mutant);
  const isOnlyLoaded = reaching.size === 0 && reach.runsWhileLoading(mutant);
  const byFile = isOnlyLoaded ? new Map([...reach.all].filter(([file]) => near.has(file))) : reaching;
  const entries = [...byFile].map(([file, tests]) => ({ mutant: mutant.id, file, tests }));
  const isNear = (/** @type {Entry} */ { file }) => near.has(file);
  return [
    ...shortest(entries.filter(isNear), NEAR_TESTS_MOST_MS),
    ...shortest(
      entries.filter((entry) => !isNear(entry)),
      OTHER_TESTS_MOST_MS,
    ),
  ];
}

/** @param {readonly Entry[]} entries @param {number} mostMs */
function shortest(entries, mostMs) {
  /** @param {Entry} entry */
  const cost = ({ tests }) => Object.values(tests).reduce((sum, ms) => sum + ms, 0);
  let sum = 0;
  return entries
    .toSorted((a, b) => cost(a) - cost(b))
    .filter((entry) => {
      sum += cost(entry);
      return sum <= mostMs || sum === cost(entry);
    });
}

/**
 * Runs the entries in one worker; if a mutant hangs or ends it, the rest go on in another. A worker that ends without a
 * word may have been killed by the machine, so that the entry gets a second one of its own.
 * @param {readonly Entry[]} entries @param {Record<string, string>} sources
 * @param {{ control: boolean, outcomes: Map<string, Outcome>, lane: string }} options
 */
async function runEntries(entries, sources, { control, outcomes, lane }) {
  let left = entries;
  while (left.length > 0) {
    const stoppedAt = await runOnce(left, sources, { control, outcomes, lane });
    if (stoppedAt === undefined) return;
    const again = await runOnce([stoppedAt], sources, { control: false, outcomes, lane });
    const isStopped = again !== undefined;
    if (isStopped)
      outcomes.set(stoppedAt.mutant, {
        state: 'killed',
        by: `${stoppedAt.file}: the worker hung or ended`,
        isTime: true,
      });
    const isDone = isStopped || outcomes.get(stoppedAt.mutant)?.state === 'killed';
    left = left.slice(left.indexOf(stoppedAt) + 1).filter(({ mutant }) => !isDone || mutant !== stoppedAt.mutant);
  }
}

/**
 * @param {readonly Entry[]} entries @param {Record<string, string>} sources
 * @param {{ control: boolean, outcomes: Map<string, Outcome>, lane: string }} options
 * @returns {Promise<Entry | undefined>} where the worker hung or ended
 */
async function runOnce(entries, sources, { control, outcomes, lane }) {
  const { lines, output } = await vitest({ sources, entries, control, lane });
  for (const { noticed, file, test, isSure, isTime, error } of lines) {
    if (noticed === undefined) continue;
    const by = `${file} > ${test ?? '(hook)'}: ${firstLine(error)}`;
    outcomes.set(noticed, { state: isSure ? 'killed' : 'suspected', by, isTime });
  }
  const last = lines.findLast(({ start }) => start !== undefined);
  if (last === undefined) throw new Problem(`no test ran\n${output}`);
  const hasEnded = lines.some(({ end, file }) => end === last.start && file === last.file);
  if (hasEnded) return undefined;
  return entries.find(({ mutant, file }) => mutant === last.start && file === last.file);
}

/** @param {string | undefined} text */
const firstLine = (text) => (text ?? '').split('\n')[0]?.slice(0, 120) ?? '';
