/**
 * Which test reaches which mutant, and how long it takes: a run of the tests with all mutants in the code and none switched
 * on. The answer is kept from run to run. A test file runs again when it, or a source that it reached, has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, readJson } from '../process.mjs';
import { allMutants, identity } from './mutants.mjs';
import { vitest } from './worker.mjs';

const STORE = path.join(ROOT, 'node_modules', '.cache', 'atrium', 'mutation-reach.json');

/**
 * The mutants of one source, by their number in the file: a bit each, in base64. Source → mutants.
 * @typedef {Record<string, string>} Mutants
 * What hooks reach counts for every test of the file. What code reaches while it loads counts for no test.
 * @typedef {{ hash: string, sources: Record<string, string>, tests: Record<string, { ms: number, reached: Mutants }>, hooks: Mutants, loading: Mutants }} TestFile
 * @typedef {{ all: ReadonlyMap<string, Record<string, number>>, reaching: (mutant: import('./mutants.mjs').Mutant) => Map<string, Record<string, number>>, runsWhileLoading: (mutant: import('./mutants.mjs').Mutant) => boolean }} Reach
 */

/**
 * @param {{ sources: readonly string[], tests: readonly string[], isKept: boolean }} options `isKept`: the sources are those
 *   of the last run, and its answers hold
 * @returns {Promise<Reach>}
 */
export async function findReach({ sources, tests, isKept }) {
  const { mutants, code } = await allMutants(sources);
  const hashes = Object.fromEntries([...sources, ...tests].map((file) => [file, hashOf(file)]));
  /** @type {Record<string, TestFile>} */
  const known = isKept && existsSync(STORE) ? readJson(STORE) : {};
  const isFresh = (/** @type {string} */ test) => {
    const { hash, sources: reached } = known[test] ?? { hash: '', sources: {} };
    return hash === hashes[test] && Object.entries(reached).every(([source, seen]) => seen === hashes[source]);
  };
  const stale = tests.filter((test) => !isFresh(test));
  if (stale.length > 0) {
    const { lines } = await vitest({ sources: code, files: stale });
    const numbers = numbersOf(mutants);
    for (const test of stale) delete known[test];
    for (const line of lines) take(line, { known, hashes, numbers });
    if (isKept) keep(Object.fromEntries(stale.flatMap((test) => (known[test] ? [[test, known[test]]] : []))));
  }
  return reachOf(Object.fromEntries(tests.map((test) => [test, known[test]])), mutants);
}

/** @param {string} file */
const hashOf = (file) =>
  createHash('sha256')
    .update(readFileSync(path.join(ROOT, file)))
    .digest('base64');

/** Another run may have kept something since. @param {Record<string, TestFile>} found */
function keep(found) {
  mkdirSync(path.dirname(STORE), { recursive: true });
  const fresh = `${STORE}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify({ ...(existsSync(STORE) ? readJson(STORE) : {}), ...found }));
  renameSync(fresh, STORE);
}

/** @typedef {Map<string, { source: string, number: number }>} Numbers by the id of the mutant in the code that ran */

/** @param {readonly import('./mutants.mjs').Mutant[]} mutants @returns {Numbers} */
function numbersOf(mutants) {
  /** @type {Record<string, number>} */
  const next = {};
  return new Map(
    mutants.map(({ id, fileName }) => {
      const number = next[fileName] ?? 0;
      next[fileName] = number + 1;
      return [id, { source: fileName, number }];
    }),
  );
}

/**
 * What a failed test reaches is not known, so that its file runs again the next time.
 * @param {{ file: string, test?: string, isFailed?: boolean, ms?: number, mutants?: string[], whileLoading?: string[] }} line of the runner
 * @param {{ known: Record<string, TestFile>, hashes: Record<string, string>, numbers: Numbers }} options
 */
function take({ file, test, isFailed, ms = 0, mutants = [], whileLoading }, { known, hashes, numbers }) {
  const entry = known[file] ?? { hash: hashes[file] ?? '', sources: {}, tests: {}, hooks: {}, loading: {} };
  known[file] = entry;
  if (isFailed) {
    entry.hash = '';
    return;
  }
  const reached = packed(whileLoading ?? mutants, numbers);
  for (const source of Object.keys(reached)) entry.sources[source] = hashes[source] ?? '';
  if (whileLoading !== undefined) entry.loading = reached;
  else if (test === undefined) entry.hooks = reached;
  else entry.tests[test] = { ms, reached };
}

/** @param {readonly string[]} ids @param {Numbers} numbers @returns {Mutants} */
function packed(ids, numbers) {
  /** @type {Record<string, number[]>} */
  const bySource = {};
  for (const id of ids) {
    const place = numbers.get(id);
    if (place === undefined) continue;
    const { source, number } = place;
    const list = bySource[source] ?? [];
    list.push(number);
    bySource[source] = list;
  }
  return Object.fromEntries(
    Object.entries(bySource).map(([source, list]) => {
      const bits = Buffer.alloc((Math.max(...list) >> 3) + 1);
      for (const number of list) bits[number >> 3] = (bits[number >> 3] ?? 0) | (1 << (number & 7));
      return [source, bits.toString('base64')];
    }),
  );
}

/** @param {Mutants} reached @param {string} source @param {number} number */
function has(reached, source, number) {
  const text = reached[source];
  if (text === undefined) return false;
  return ((Buffer.from(text, 'base64')[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
}

/** @param {Record<string, TestFile | undefined>} known @param {readonly import('./mutants.mjs').Mutant[]} mutants @returns {Reach} */
function reachOf(known, mutants) {
  const numbers = numbersOf(mutants);
  const places = new Map(mutants.map((mutant) => [identity(mutant), numbers.get(mutant.id)]));
  const files = Object.entries(known).flatMap(([file, record]) => (record ? [{ file, record }] : []));
  /** @param {TestFile} record @param {(reached: Mutants) => boolean} isReached @returns {Record<string, number>} */
  const times = ({ tests }, isReached) =>
    Object.fromEntries(
      Object.entries(tests).flatMap(([name, { ms, reached }]) => (isReached(reached) ? [[name, ms]] : [])),
    );
  return {
    all: new Map(files.map(({ file, record }) => [file, times(record, () => true)])),
    reaching(mutant) {
      const { source, number } = places.get(identity(mutant)) ?? { source: '', number: 0 };
      const isReached = (/** @type {Mutants} */ reached) => has(reached, source, number);
      const tests = files.map(
        ({ file, record }) =>
          /** @type {const} */ ([file, times(record, isReached(record.hooks) ? () => true : isReached)]),
      );
      return new Map(tests.filter(([, some]) => Object.keys(some).length > 0));
    },
    runsWhileLoading(mutant) {
      const { source, number } = places.get(identity(mutant)) ?? { source: '', number: 0 };
      return files.some(({ record }) => has(record.loading, source, number));
    },
  };
}
