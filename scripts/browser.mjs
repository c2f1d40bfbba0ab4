/** Finds and starts the Chromium of this machine, for the tests of the page, its benchmark and its pictures. */
import { existsSync } from 'node:fs';
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

/** @returns {string | undefined} */
export function findChromium() {
  const named = process.env.ATRIUM_CHROMIUM;
  return (named ? [named] : USUAL_PLACES).find((file) => existsSync(file));
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

/** A browser without a window, with a profile of its own that is gone afterwards. */
export function launchChromium() {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(`This ${CHROMIUM_MISSING}.`);
  const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
  const names = `--host-resolver-rules=MAP ${NETWORK_NAME} 127.0.0.1`;
  const args = [...quiet, names, '--disable-component-update', '--disable-sync', `--disable-features=${OFF.join(',')}`];
  // Chromium refuses its sandbox to root, who runs many a container.
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath, headless: true, chromiumSandbox: !isRoot, args });
}
