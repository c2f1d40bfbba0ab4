/** A session of ten thousand turns opens like one of ten. */

import { MemoryLog } from '@atrium/host';
import type { Turn } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { choose, describeInBrowser, PHONE } from './support/browser.js';
import { startPageHost } from './support/page-host.js';
import { puppetSession, said } from './support/puppet-host.js';

const TURNS = 10_000;

async function storedLog(): Promise<MemoryLog> {
  const log = new MemoryLog();
  const turns = Array.from({ length: TURNS }, (_, index) => turn(index));
  const { session, chat, summary } = puppetSession({ title: 'Very long' }, { turns });
  const items = chat.turns.map((each) => ({ id: each.id, json: JSON.stringify(each) }));
  await log.append({
    entries: [],
    archives: [
      { channel: summary.resource, head: JSON.stringify(session), turns: { start: 0, items: [] } },
      { channel: chat.resource, head: JSON.stringify({ ...chat, turns: [] }), turns: { start: 0, items } },
    ],
    records: [{ key: `session:${summary.resource}`, value: JSON.stringify({ summary, lifecycle: session.lifecycle }) }],
    durability: 'full',
  });
  return log;
}

function turn(index: number): Turn {
  const content = `Answer ${index}. ${'One token at a time. '.repeat(1 + (index % 12))}`;
  return {
    id: `t${index}`,
    message: said(`Question ${index}`),
    responseParts: [{ kind: 'markdown', id: `m${index}`, content }],
    state: 'complete',
  };
}

/** A little more than the distance from the top at which older turns are fetched. */
const JUST_NOT_LOADING_PX = 1_250;

/** Scrolls there, if told where, and says which question is the first that can be seen. */
function scrolled(page: Page, top?: number): Promise<string | undefined> {
  return page.evaluate((wanted) => {
    const timeline = document.querySelector('.timeline');
    if (timeline && wanted !== undefined) timeline.scrollTop = wanted;
    const edge = timeline?.getBoundingClientRect().top ?? 0;
    const bubbles = [...document.querySelectorAll<HTMLElement>('.bubble')];
    return bubbles.find((bubble) => bubble.getBoundingClientRect().top >= edge)?.innerText;
  }, top);
}

describeInBrowser('a session of 10,000 turns', (open) => {
  it('opens at its end, draws only what is seen, and pages back without jumping', async () => {
    const { link } = await startPageHost({}, await storedLog());
    const page = await open(link);
    await choose(page, /Very long/);
    await page.getByText(`Answer ${TURNS - 1}.`).waitFor();
    expect(await page.locator('.row').count()).toBeLessThan(60);
    await page.getByText(`${(TURNS - 50).toLocaleString('en')} older turns above`).waitFor({ state: 'attached' });

    await scrolled(page, JUST_NOT_LOADING_PX);
    await page.waitForTimeout(300);
    const above = await page.locator('.older').innerText();
    const seen = await scrolled(page, JUST_NOT_LOADING_PX - 100);
    await page.waitForFunction((text) => document.querySelector('.older')?.textContent !== text, above);
    await page.getByText(/9,[0-8]\d\d older turns above/).waitFor({ state: 'attached' });
    expect(await scrolled(page)).toBe(seen);

    await page.getByRole('button', { name: 'To the end' }).click();
    await page.getByText(`Answer ${TURNS - 1}.`).waitFor();
  });

  it('fits a phone: nothing is wider than the screen', async () => {
    const { link } = await startPageHost({}, await storedLog());
    const page = await open(link, PHONE);
    await choose(page, /Very long/);
    await page.getByText(`Answer ${TURNS - 1}.`).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await page.getByRole('link', { name: 'All sessions' }).click();
    await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
  });
});
