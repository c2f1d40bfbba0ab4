/**
 * The order of the test files: those that took longest come first, so that no long one is left for the end, when the
 * other workers have nothing to do. Times are those of the last whole `npm test` on this machine. A clone that has not
 * seen one uses `test/longest-files.json`, the files that matter; `node scripts/test-order.mjs` writes it anew.
 */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer } from 'vitest/node';
import { ROOT, readJson, runMain } from './process.mjs';

const LAST_RUN = path.join(ROOT, 'node_modules', '.cache', 'atrium', 'test-times.json');
const COMMITTED = path.join(ROOT, 'test', 'longest-files.json');
const COMMITTED_FILES = 30;

/** Path in the repository → milliseconds. @typedef {Readonly<Record<string, number>>} Times */

/** @returns {Times} */
function readTimes() {
  return { ...readJson(COMMITTED), ...(existsSync(LAST_RUN) ? readJson(LAST_RUN) : {}) };
}

/** @param {{ testResults: readonly { name: string, startTime: number, endTime: number }[] }} report of vitest */
export function writeTimes({ testResults }) {
  const times = Object.fromEntries(
    testResults.map(({ name, startTime, endTime }) => [path.relative(ROOT, name), Math.round(endTime - startTime)]),
  );
  mkdirSync(path.dirname(LAST_RUN), { recursive: true });
  writeFileSync(LAST_RUN, JSON.stringify(times));
}

export class LongestFirst extends BaseSequencer {
  /** @override @param {import("vitest/node").TestSpecification[]} files */
  async sort(files) {
    const times = readTimes();
    /** A file of which nothing is known is short, the shorter the smaller. @param {string} file */
    const weight = (file) => times[path.relative(ROOT, file)] ?? statSync(file).size / 1_000;
    return files.toSorted((a, b) => weight(b.moduleId) - weight(a.moduleId));
  }
}

function writeCommitted() {
  const longest = Object.entries(readJson(LAST_RUN))
    .sort(([, a], [, b]) => b - a)
    .slice(0, COMMITTED_FILES)
    .map(([file, ms]) => [file, Math.round(ms / 1_000) * 1_000]);
  writeFileSync(COMMITTED, `${JSON.stringify(Object.fromEntries(longest), null, 2)}\n`);
}

if (process.argv[1] === import.meta.filename) await runMain(writeCommitted);
