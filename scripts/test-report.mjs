/**
 * What the runner's report says, and what becomes of it when the files that failed are run a second time by themselves.
 * A test that passes only then hides a race, in it or in what it tests. It counts as failed, unless `test/unsteady.json`
 * lists it with a reason and a day until which that is tolerated.
 */

/** More files than this fail for a reason that a second run does not change. */
const SECOND_RUN_MAX_FILES = 3;
/** A race is to be found, not to be lived with: an entry of the list may name no day beyond this. */
export const UNSTEADY_MAX_DAYS = 30;
export const UNSTEADY_MAX_ENTRIES = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * @typedef {{ fullName: string, status: string }} Test
 * @typedef {{ name: string, status: string, assertionResults: readonly Test[] }} TestFile
 * @typedef {{ testResults: readonly TestFile[] }} Report
 * `unsteady` passed only by themselves and are tolerated; `races` did so too, are not, and count as failed.
 * @typedef {{ passed: number, failed: number, skipped: number, unsteady: readonly string[], races: readonly string[] }} Counts
 * `reasons`: how many tests each one skips; `silent`: the names of those that give none.
 * @typedef {{ reasons: ReadonlyMap<string, number>, silent: readonly string[] }} Skips
 * @typedef {{ titles: ReadonlySet<string>, problems: readonly string[] }} Tolerated
 * @typedef {Readonly<Record<string, unknown>> | null} UncheckedEntry
 */

/** The files worth a second run. @param {Report} report @returns {string[]} */
export function secondRun({ testResults }) {
  const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  return files.length > SECOND_RUN_MAX_FILES ? [] : files;
}

/**
 * A test file that could not even be loaded has no tests to count; it counts as one failure.
 * @param {Report} report @param {Report} [again] of the second run
 * @param {ReadonlySet<string>} [tolerated] the full names of tests that may be unsteady @returns {Counts}
 */
export function countTests(report, again, tolerated = new Set()) {
  const latest = new Map([...report.testResults, ...(again?.testResults ?? [])].map((file) => [file.name, file]));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, assertionResults } of latest.values()) {
    if (status === 'failed' && assertionResults.length === 0) counts.failed += 1;
    for (const test of assertionResults) counts[outcome(test)] += 1;
  }
  const still = new Set([...latest.values()].flatMap(failures));
  const passedAlone = report.testResults.flatMap(failures).filter((name) => !still.has(name));
  const unsteady = passedAlone.filter((name) => tolerated.has(name));
  const races = passedAlone.filter((name) => !tolerated.has(name));
  // A test may also be skipped in the second run, and a file may only then have tests: neither was counted as passed.
  const passed = new Set(
    [...latest.values()]
      .flatMap(({ assertionResults }) => assertionResults.filter(hasPassed))
      .map(({ fullName }) => fullName),
  );
  counts.passed -= races.filter((name) => passed.has(name)).length;
  counts.failed += races.length;
  return { ...counts, unsteady, races };
}

/** In the title of a test, or of what it stands in: "(skipped: …)", "(skipped unless …)", "(needs …)". */
const SKIP_REASON = /\((skipped:? [^()]*|needs [^()]*)\)/g;

/**
 * No test is skipped in silence: its title says why, or it does so itself when it skips.
 * @param {Report} report @param {Readonly<Record<string, string>>} [notes] what tests said, by full name @returns {Skips}
 */
export function skipReasons({ testResults }, notes = {}) {
  const skipped = testResults.flatMap(({ assertionResults }) => assertionResults.filter(isSkipped));
  /** @type {Map<string, number>} */
  const reasons = new Map();
  const silent = [];
  for (const { fullName } of skipped) {
    const reason = notes[fullName] ?? [...fullName.matchAll(SKIP_REASON)].at(-1)?.[1]?.replace(/^skipped: /, '');
    if (reason === undefined) silent.push(fullName);
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return { reasons, silent };
}

/**
 * Reads the list of tests that may be unsteady for a while. A problem with the list fails the suite.
 * @param {string} text of `test/unsteady.json` @param {Date} now @returns {Tolerated}
 */
export function readUnsteady(text, now) {
  const entries = parsedList(text);
  if (entries === undefined) return { titles: new Set(), problems: ['it must be a JSON array'] };
  const problems = entries.flatMap((entry, index) => {
    const problem = problemWith(entry, now);
    return problem ? [`entry ${index + 1}: ${problem}`] : [];
  });
  if (entries.length > UNSTEADY_MAX_ENTRIES)
    problems.push(
      `it lists ${entries.length} tests, and may list ${UNSTEADY_MAX_ENTRIES}: find the races of the oldest`,
    );
  return { titles: new Set(problems.length > 0 ? [] : entries.map((entry) => String(entry?.title))), problems };
}

/** @param {string} text @returns {UncheckedEntry[] | undefined} */
function parsedList(text) {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param {UncheckedEntry} entry @param {Date} now @returns {string | undefined} */
function problemWith(entry, now) {
  const { title, reason, expires } = { ...entry };
  for (const [member, value] of Object.entries({ title, reason, expires })) {
    if (typeof value !== 'string' || value.trim() === '') return `"${member}" is missing`;
  }
  const day = /^\d{4}-\d{2}-\d{2}$/.test(String(expires)) ? Date.parse(String(expires)) : Number.NaN;
  if (Number.isNaN(day)) return `"expires" must be a day such as 2030-01-31, not "${expires}"`;
  if (day + DAY_MS <= now.getTime()) return `"${title}" expired on ${expires}: find the race`;
  if (day > now.getTime() + UNSTEADY_MAX_DAYS * DAY_MS)
    return `"${title}" expires later than in ${UNSTEADY_MAX_DAYS} days: choose an earlier day`;
  return undefined;
}

/** @param {TestFile} file */
function failures({ name, status, assertionResults }) {
  if (status === 'failed' && assertionResults.length === 0) return [name];
  return assertionResults.filter((test) => outcome(test) === 'failed').map(({ fullName }) => fullName);
}

/** @param {Test} test @returns {'passed' | 'failed' | 'skipped'} */
function outcome({ status }) {
  return status === 'passed' || status === 'failed' ? status : 'skipped';
}

/** @param {Test} test */
function isSkipped(test) {
  return outcome(test) === 'skipped';
}

/** @param {Test} test */
function hasPassed(test) {
  return outcome(test) === 'passed';
}
