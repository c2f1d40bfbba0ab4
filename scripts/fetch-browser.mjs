/** Fetches a Chromium from npm where the machine has none, so that the tests of the page run on every Linux machine. */
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { CHROMIUM_MISSING, FETCHED_CHROMIUM, FETCHED_FOLDER, findChromium } from './browser.mjs';
import { run, say } from './process.mjs';
import { runNpm } from './setup.mjs';

/** Chromium inside a package, the last version for Node 20. It has no window, which no test needs. */
const PACKAGE = '@sparticuz/chromium';
const PACKAGE_VERSION = '147.0.0';

/** Where none can be had, the tests of the page are skipped, and say what to install. */
export async function ensureChromium() {
  if (findChromium() || process.env.ATRIUM_CHROMIUM || process.platform !== 'linux' || process.arch !== 'x64') return;
  say('Fetching a browser for the tests of the page (65 MB) ...');
  mkdirSync(FETCHED_FOLDER, { recursive: true });
  const how = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', FETCHED_FOLDER];
  const { code } = await runNpm(['install', ...how, `${PACKAGE}@${PACKAGE_VERSION}`]);
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
