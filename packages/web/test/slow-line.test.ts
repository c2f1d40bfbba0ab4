/** What opening a long session costs on the wire, every byte of it, on a phone that has the page already. */
import type { Turn } from '@atrium/protocol/ahp-1';
import type { Browser, Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { slowLine } from '../../../bench/support/slow-line.mjs';
import { workedTurn } from '../../../bench/support/worked-turn.mjs';
import { launchChromium } from '../../../scripts/browser.mjs';
import { describeInBrowser, PHONE } from './support/browser.js';
import { startPageHost } from './support/page-host.js';
import { storedLog } from './support/stored-log.js';

const TURNS = 2_000;
const OPENING_MAX_BYTES = 150_000;
const NAME = 'phone.localhost';
/** Everything is counted, and nothing is slow. */
const FAST = {
  downBytesPerSecond: Number.POSITIVE_INFINITY,
  upBytesPerSecond: Number.POSITIVE_INFINITY,
  roundTripMs: 0,
};

async function opened(browser: Browser, url: string): Promise<Page> {
  const context = browser.contexts()[0] ?? (await browser.newContext({ reducedMotion: 'reduce', ...PHONE }));
  const page = await context.newPage();
  await page.goto(url);
  await page.getByText(`Answer ${TURNS - 1}.`).waitFor({ timeout: 30_000 });
  await page.locator('#composer').waitFor();
  // What the page still fetches by itself counts, too.
  await page.waitForLoadState('networkidle');
  return page;
}

describeInBrowser('a session of 2,000 turns on a slow line', () => {
  it('[DEV-060] costs less than 150 kB to open when the files of the page are cached, and brings older turns when they are looked for', async () => {
    const log = await storedLog('Long', TURNS, (index) => workedTurn(index) as Turn);
    const { url, link } = await startPageHost({}, log, { names: [NAME] });
    const { port } = new URL(url);
    const line = await slowLine(Number(port), FAST);
    const browser = await launchChromium({ isLight: true, names: [`MAP ${NAME}:${port} 127.0.0.1:${line.port}`] });
    onTestFinished(async () => {
      await browser.close();
      line.close();
    });
    const session = `http://${NAME}:${port}/#/session/${encodeURIComponent('ahp-session:/puppet')}`;
    const context = await browser.newContext({ reducedMotion: 'reduce', ...PHONE });
    const token = link.split('#token=')[1] ?? '';
    await context.addInitScript((text) => sessionStorage.setItem('atrium.token', text), token);
    const asked: string[] = [];
    context.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const first = await opened(browser, session);
    await first.close();
    expect(asked.filter((path) => /formulas|KaTeX|diagram|mermaid|board|settings|terminals-.*js/.test(path))).toEqual(
      [],
    );

    line.take();
    const page = await opened(browser, session);
    const { down, up } = line.take();
    expect(down + up).toBeGreaterThan(10_000);
    expect(down + up).toBeLessThan(OPENING_MAX_BYTES);

    const above = page.locator('.older');
    expect(await above.textContent()).toBe('1,980 older turns above');
    await page.locator('.timeline').evaluate((timeline) => timeline.scrollTo(0, 0));
    await page.getByText(/1,9[0-6]0 older turns above/).waitFor({ state: 'attached' });
    expect(line.take().down).toBeGreaterThan(10_000);
  });
});
