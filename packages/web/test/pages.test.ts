/** The pages that tests hand on to each other: what one test stored is not there for the next. */
import { expect, it } from 'vitest';
import { describeInBrowser } from './support/browser.js';
import { startPageHost } from './support/page-host.js';

describeInBrowser('the page of a test', (open) => {
  const origins: string[] = [];

  /** What is stored at the origin of a new host, also after a reload; then it stores something itself. */
  async function visit(): Promise<string> {
    const { link } = await startPageHost({});
    const page = await open(link);
    origins.push(new URL(link).origin);
    const look = () => page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    const found = await look();
    await page.evaluate(() => {
      localStorage.setItem('atrium.editor', 'left behind');
      sessionStorage.setItem('atrium.draft', 'left behind');
    });
    await page.reload();
    expect((await look()).match(/left behind/g)).toHaveLength(2);
    return found;
  }

  it('keeps what it stores as long as the test lasts', async () => {
    expect(await visit()).not.toContain('left behind');
  });

  it('finds nothing at the same origin that a test before it stored', async () => {
    expect(await visit()).not.toContain('left behind');
    expect(new Set(origins).size).toBe(1);
  });
});
