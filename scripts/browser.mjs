/** Finds and starts the Chromium of this machine, or one from npm, for the tests of the page, its benchmark and its pictures. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/** What somebody without one has to do. */
export const CHROMIUM_MISSING =
  'needs Chromium or Chrome: install one (for instance `apt install chromium`), or name it in ATRIUM_CHROMIUM';

/** Where `fetch-browser.mjs` puts the one from npm, and the libraries beside it that a bare machine lacks. */
export const FETCHED_FOLDER = path.join(import.meta.dirname, '..', 'node_modules', '.cache', 'atrium', 'chromium');
export const FETCHED_CHROMIUM = path.join(FETCHED_FOLDER, 'chromium');

/**
 * `isLight`: rather the one from npm, which has no window and needs two thirds of the processor time.
 * @param {{ isLight?: boolean }} options @returns {string | undefined}
 */
export function findChromium({ isLight = false } = {}) {
  const named = process.env.ATRIUM_CHROMIUM;
  const places = isLight ? [FETCHED_CHROMIUM, ...USUAL_PLACES] : [...USUAL_PLACES, FETCHED_CHROMIUM];
  return (named ? [named] : places).find((file) => existsSync(file));
}

/** A name that leads to this machine like any name in a network: unlike `localhost`, browsers do not trust it. */
export const NETWORK_NAME = 'machine.test';

/**
 * What Chromium does not do here. Playwright turns most of it off itself; but a second list replaces the first. Without
 * a window nobody sees the suggestions of the address bar, and they are a page, and a process, with every page of ours.
 */
const OFF = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...[
    'HttpsFirstBalancedModeAutoEnable',
    'LensOverlay',
    'MediaRouter',
    'PaintHolding',
    'ThirdPartyStoragePartitioning',
  ],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled'],
  ...['PreconnectToSearch', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'],
];

/**
 * A browser without a window, with a profile of its own that is gone afterwards. `names`: further names with their ports, and
 * where they lead, as in `MAP slow.localhost:80 127.0.0.1:9000`.
 * @param {{ names?: readonly string[], isLight?: boolean }} options
 */
export function launchChromium(options = {}) {
  return chromium.launch(chromiumOptions(options));
}

/** The same for a browser whose profile stays. @param {{ names?: readonly string[], isLight?: boolean }} options */
export function chromiumOptions({ names = [], isLight = false } = {}) {
  const executablePath = findChromium({ isLight });
  if (!executablePath) throw new Error(`This ${CHROMIUM_MISSING}.`);
  const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
  // A page that goes on to the next host stays in its process, instead of starting one.
  const together = ['--process-per-site', '--disable-site-isolation-trials'];
  const rules = [`MAP ${NETWORK_NAME} 127.0.0.1`, ...names];
  const resolver = `--host-resolver-rules=${rules.join(', ')}`;
  const args = [
    ...quiet,
    ...together,
    resolver,
    '--disable-component-update',
    '--disable-sync',
    `--disable-features=${OFF.join(',')}`,
  ];
  // Chromium refuses its sandbox to root, who runs many a container.
  const isRoot = process.getuid?.() === 0;
  const isFetched = executablePath === FETCHED_CHROMIUM;
  const env = isFetched ? { ...process.env, LD_LIBRARY_PATH: path.join(FETCHED_FOLDER, 'lib') } : process.env;
  return { executablePath, headless: true, chromiumSandbox: !isRoot, args, env };
}
