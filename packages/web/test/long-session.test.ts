/** A session of ten thousand turns opens like one of ten. */
import type { Turn } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { choose, describeInBrowser, PHONE } from './support/browser.js';
import { startPageHost } from './support/page-host.js';
import { said } from './support/puppet-host.js';
import { storedLog } from './support/stored-log.js';

const TURNS = 10_000;

function turn(index: number): Turn {
  const content = `Answer ${index}. ${'One token at a time. '.repeat(1 + (index % 12))}`;
  return {
    id: `t${index}`,
    message: said(`Question ${index}`),
    responseParts: [{ kind: 'markdown', id: `m${index}`, content }],
    state: 'complete',
  };
}

const STEP_PX = 100;

/** Scrolls up step by step until older turns have come, and says how far that moved what was on the screen. */
function movedByLoading(page: Page): Promise<number> {
  return page.evaluate(async (step) => {
    const timeline = document.querySelector('.timeline');
    const older = () => document.querySelector('.older')?.textContent;
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)));
    const topOf = (text: string | undefined) =>
      [...document.querySelectorAll<HTMLElement>('.bubble')]
        .find((bubble) => bubble.innerText === text)
        ?.getBoundingClientRect().top ?? Number.NaN;
    const before = older();
    for (;;) {
      timeline?.scrollBy(0, -step);
      await drawn();
      const edge = timeline?.getBoundingClientRect().top ?? 0;
      const bubbles = [...document.querySelectorAll<HTMLElement>('.bubble')];
      const seen = bubbles.find((bubble) => bubble.getBoundingClientRect().top >= edge)?.innerText;
      const top = topOf(seen);
      await drawn();
      if (older() !== before && older() !== 'Loading …') return Math.abs(topOf(seen) - top);
    }
  }, STEP_PX);
}

describeInBrowser('a session of 10,000 turns', (open) => {
  it('opens at its end, draws only what is seen, and pages back without jumping', async () => {
    const { link } = await startPageHost({}, await storedLog('Very long', TURNS, turn));
    const page = await open(link);
    await choose(page, /Very long/);
    await page.getByText(`Answer ${TURNS - 1}.`).waitFor();
    expect(await page.locator('.row').count()).toBeLessThan(60);
    await page.getByText(`${(TURNS - 20).toLocaleString('en')} older turns above`).waitFor({ state: 'attached' });

    expect(await movedByLoading(page)).toBeLessThan(STEP_PX);
    await page.getByText(/9,9[0-4]0 older turns above/).waitFor({ state: 'attached' });

    await page.getByRole('button', { name: 'To the end' }).click();
    await page.getByText(`Answer ${TURNS - 1}.`).waitFor();
  });

  it('fits a phone: nothing is wider than the screen', async () => {
    const { link } = await startPageHost({}, await storedLog('Very long', TURNS, turn));
    const page = await open(link, PHONE);
    await choose(page, /Very long/);
    await page.getByText(`Answer ${TURNS - 1}.`).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await page.getByRole('link', { name: 'All sessions' }).click();
    await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
  });
});
