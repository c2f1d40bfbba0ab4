/** One browser for all test files of a worker, and pages that one test hands on to the next: new ones are dear. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CHROMIUM_MISSING, FETCHED_CHROMIUM, findChromium, launchChromium } from '../../../../scripts/browser.mjs';

export const PAGE_FOLDER = fileURLToPath(new URL('../../dist', import.meta.url));
export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
/** For everything that a page should show by itself. Machines that run many things at once are slow. */
const WAIT_MS = 15_000;
export const POLL = { timeout: WAIT_MS };
const TEST_TIMEOUT_MS = 60_000;

/** The browser from npm has no window, and so no notifications, and it does not notice that a network is gone. */
export const HAS_NO_WINDOW = findChromium() === FETCHED_CHROMIUM;
const LIGHT = { isLight: true };
export const NEEDS_WINDOW = 'the browser from npm cannot do this: install Chromium or Chrome';

// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures this one needs.
const withPages = test.extend('pages', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const browser = await launchChromium(LIGHT);
  onCleanup(() => browser.close());
  return new Pages(browser);
});

/** Tests that need a browser; without one they are skipped, and their title says what to install. */
export function describeInBrowser(title: string, tests: (open: OpenPage) => void): void {
  const missing = findChromium() ? (existsSync(PAGE_FOLDER) ? '' : 'needs `npm run build`') : CHROMIUM_MISSING;
  describe.skipIf(missing !== '')(
    missing === '' ? title : `${title} (${missing})`,
    { timeout: TEST_TIMEOUT_MS },
    () => {
      let pages: Pages;
      withPages.beforeAll(({ pages: shared }) => {
        pages = shared;
      });
      tests((url, options, use) => pages.open(url, options, use));
    },
  );
}

export type OpenPage = (url: string, options?: BrowserContextOptions, use?: PageUse) => Promise<Page>;

interface PageUse {
  /** A page that no test had before, for a test of what a page keeps, such as its history. */
  readonly isNew?: boolean;
  /** A page of the browser that has a window, for a test that `HAS_NO_WINDOW` skips. */
  readonly needsWindow?: boolean;
}

/** What stays with a page beyond its address and its storage: a page that was changed like this is not used again. */
const LASTING: ReadonlySet<string | symbol> = new Set([
  ...['addInitScript', 'clock', 'context', 'emulateMedia', 'exposeBinding', 'exposeFunction', 'route'],
  ...['routeWebSocket', 'setDefaultTimeout', 'setExtraHTTPHeaders', 'setViewportSize'],
]);

/**
 * Pages to use again, each in a context of its own. A new context costs as much processor time as two loads. A page comes to
 * origins where it was before, as the hosts of a worker share their ports: it finds nothing there that another test stored.
 */
class Pages {
  /** By the options of their context. */
  readonly #idle = new Map<string, Page[]>();
  readonly #changed = new WeakSet<Page>();

  constructor(readonly browser: Browser) {}

  async open(url: string, options: BrowserContextOptions = DESKTOP, use: PageUse = {}): Promise<Page> {
    if (use.needsWindow) return openInWindow(url, options);
    const kind = JSON.stringify(options);
    const page = (use.isNew ? undefined : this.#idle.get(kind)?.pop()) ?? (await createPage(this.browser, options));
    // A service worker stays, with all that it keeps.
    if (options.serviceWorkers === 'allow') this.#changed.add(page);
    const remember = await forget(page, url);
    onTestFinished(() => this.#giveBack(page, kind, remember));
    await page.goto(url);
    return this.#watched(page);
  }

  #watched(page: Page): Page {
    return new Proxy(page, {
      get: (target, name) => {
        if (LASTING.has(name)) this.#changed.add(target);
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  async #giveBack(page: Page, kind: string, remember: () => Promise<void>): Promise<void> {
    if (this.#changed.has(page) || !(await leave(page, remember))) return page.context().close();
    this.#idle.set(kind, [...(this.#idle.get(kind) ?? []), page]);
  }
}

async function createPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  // Movement that nobody looks at is sixty pictures a second.
  // A service worker is a process more for every host; tests of it ask for it.
  const context = await browser.newContext({ reducedMotion: 'reduce', serviceWorkers: 'block', ...options });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  lookOften(page);
  return page;
}

async function openInWindow(url: string, options: BrowserContextOptions): Promise<Page> {
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await createPage(browser, options);
  await page.goto(url);
  return page;
}

/** Every test is another visitor: this tells whether what an origin has stored is of this one. */
let visitors = 0;

/**
 * Has the page forget what tests before this one left at any origin that it comes to: the first document there clears both
 * storages before its own scripts run. The result ends that.
 */
async function forget(page: Page, url: string): Promise<() => Promise<void>> {
  await page.context().clearCookies();
  const tools = await page.context().newCDPSession(page);
  const { origin } = new URL(url);
  await tools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb,cache_storage' });
  await tools.detach();
  visitors += 1;
  const script = await page.addInitScript((visitor) => {
    try {
      if (sessionStorage.getItem('visitor') === visitor) return;
      sessionStorage.clear();
      localStorage.clear();
      sessionStorage.setItem('visitor', visitor);
    } catch {
      // A document without an origin has no storage.
    }
  }, `visitor-${process.pid}-${visitors}`);
  return () => script.dispose();
}

/** Ends what the page does, and stays in its process. False when the page is gone. */
async function leave(page: Page, remember: () => Promise<void>): Promise<boolean> {
  try {
    await remember();
    await page.removeAllListeners(undefined, { behavior: 'ignoreErrors' });
    await page.goto('about:blank');
    return true;
  } catch {
    return false;
  }
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

/** Lets time pass as the page counts it: whatever a timer there was to do by then is done, however busy the machine is. */
export async function pass(page: Page, milliseconds: number): Promise<void> {
  await page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), milliseconds);
}

/** Begins to listen to what its host tells this page; the result waits until some of it held the text, and was shown. */
export async function hears(page: Page, text: string): Promise<() => Promise<void>> {
  const tools = await page.context().newCDPSession(page);
  await tools.send('Network.enable');
  let heard = false;
  tools.on('Network.webSocketFrameReceived', ({ response }) => {
    heard ||= response.payloadData.includes(text);
  });
  return async () => {
    await expect.poll(() => heard, POLL).toBe(true);
    await tools.detach();
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
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

/** Looks at all of what is asked about, until it may be answered: in a small window one screen does not show it whole. */
export async function readAll(page: Page, answer: Locator): Promise<void> {
  const look = async () => {
    for (const name of ['Show the end', 'Show the beginning']) {
      const button = page.getByRole('button', { name }).first();
      if (await button.isVisible()) await button.click();
    }
    return answer.isEnabled();
  };
  await expect.poll(look, POLL).toBe(true);
}
