/**
 * What the runner's report says, and what becomes of it when the files that failed are run a second time by themselves.
 * A test that passes only then is counted as passed and named as unsteady: it hides a race, in it or in what it tests.
 */

/** More files than this fail for a reason that a second run does not change. */
const SECOND_RUN_MAX_FILES = 3;

/**
 * @typedef {{ fullName: string, status: string }} Test
 * @typedef {{ name: string, status: string, assertionResults: readonly Test[] }} TestFile
 * @typedef {{ testResults: readonly TestFile[] }} Report
 * @typedef {{ passed: number, failed: number, skipped: number, unsteady: readonly string[] }} Counts
 */

/** The files worth a second run. @param {Report} report @returns {string[]} */
export function secondRun({ testResults }) {
  const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  return files.length > SECOND_RUN_MAX_FILES ? [] : files;
}

/**
 * A test file that could not even be loaded has no tests to count; it counts as one failure.
 * @param {Report} report @param {Report} [again] of the second run @returns {Counts}
 */
export function countTests(report, again) {
  const latest = new Map([...report.testResults, ...(again?.testResults ?? [])].map((file) => [file.name, file]));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, assertionResults } of latest.values()) {
    if (status === 'failed' && assertionResults.length === 0) counts.failed += 1;
    for (const test of assertionResults) counts[outcome(test)] += 1;
  }
  const first = report.testResults.flatMap(failures);
  const still = new Set([...latest.values()].flatMap(failures));
  return { ...counts, unsteady: first.filter((name) => !still.has(name)) };
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
