/** What people write about programs: the pages and the sources of this repository, in pieces. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const PIECES = [
  'docs',
  'docs/spec',
  'packages/host/src',
  'packages/core/src/sessions',
  'packages/core/src/wire',
].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => /\.(md|ts)$/.test(name))
    .flatMap((name) => readFileSync(join(ROOT, folder, name), 'utf8').split(/\n\n+/)),
);

/** Numbers that are the same in every process. @param {number} seed */
export function numbersFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
}

/** Some pieces, by the next numbers. @param {() => number} next @param {number} count */
export function piecesOf(next, count) {
  return Array.from({ length: count }, () => PIECES[next() % PIECES.length]).join('\n\n');
}
