/** A browser for the tests of one file, and pages that remember what went wrong in them. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { CHROMIUM_MISSING, findChromium, launchChromium } from '../../../../scripts/browser.mjs';

export const PAGE_FOLDER = fileURLToPath(new URL('../../dist', import.meta.url));
export const DESK: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
/** For everything that a page should show by itself. Machines that run many things at once are slow. */
const WAIT_MS = 15_000;
export const POLL = { timeout: WAIT_MS };
const TEST_TIMEOUT_MS = 60_000;

/** Tests that need a browser; without one they are skipped, and their title says what to install. */
export function describeInBrowser(title: string, tests: (open: OpenPage) => void): void {
  const missing = findChromium() ? (existsSync(PAGE_FOLDER) ? '' : 'needs `npm run build`') : CHROMIUM_MISSING;
  describe.skipIf(missing !== '')(
    missing === '' ? title : `${title} (${missing})`,
    { timeout: TEST_TIMEOUT_MS },
    () => {
      let browser: Browser;
      beforeAll(async () => {
        browser = await launchChromium();
      });
      afterAll(() => browser.close());
      tests((url, options) => openPage(browser, url, options));
    },
  );
}

export type OpenPage = (url: string, options?: BrowserContextOptions) => Promise<Page>;

async function openPage(browser: Browser, url: string, options: BrowserContextOptions = DESK): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  lookOften(page);
  await page.goto(url);
  return page;
}

/** Playwright looks for an element five times within 270 ms, and after that only twice a second. */
const FREQUENT_LOOKS_MS = 280;
/** A machine that is so busy that a look takes longer gets more time with every round. */
const PATIENCE_FACTOR = 1.3;
let looksOften = false;

/** Has `waitFor` begin anew after the frequent looks: a page often has what a test waits for half a second earlier. */
function lookOften(page: Page): void {
  if (looksOften) return;
  looksOften = true;
  const prototype: Locator = Object.getPrototypeOf(page.locator('body'));
  const { waitFor } = prototype;
  prototype.waitFor = async function (this: Locator, options = {}) {
    const deadline = performance.now() + (options.timeout ?? WAIT_MS);
    for (let round = FREQUENT_LOOKS_MS; ; round *= PATIENCE_FACTOR) {
      const left = Math.max(1, deadline - performance.now());
      const isLast = left < 2 * round;
      try {
        return await waitFor.call(this, { ...options, timeout: isLast ? left : round });
      } catch (error) {
        if (isLast || !(error instanceof Error) || error.name !== 'TimeoutError') throw error;
      }
    }
  };
}

/** Starts a session from the first screen. */
export async function begin(page: Page, message: string): Promise<void> {
  await page.getByRole('textbox', { name: 'First message' }).fill(message);
  await page.keyboard.press('Enter');
}

/** Opens a session from the list. */
export async function choose(page: Page, title: string | RegExp): Promise<void> {
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: title }).click();
}
