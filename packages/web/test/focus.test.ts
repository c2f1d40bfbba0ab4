/** Events on the page do not send a person who works with keys alone back to its top. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { begin, describeInBrowser, POLL, readAll } from './support/browser.js';
import { openTab, startWorkHost } from './support/work-host.js';

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`);
const CHANGED = LINES.join('').replace('line 3\n', 'third\n').replace('line 20\n', 'twentieth\n');
const PROMPTS = {
  'change it': [
    { title: 'Two pieces' },
    { callTool: { name: 'write_file', input: { path: 'a.txt', content: CHANGED } } },
    { text: 'Changed.' },
  ],
};

/** What has the focus, by its name. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: at } = document;
    return at === document.body ? 'nothing' : (at?.getAttribute('aria-label') ?? at?.textContent ?? '');
  });

describeInBrowser('the focus', (open) => {
  it('stays with a session that changes its place, and comes back from a dialog', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS, files: { 'a.txt': LINES.join('') } });
    const page = await open(link);
    await begin(page, 'change it');
    await page.getByRole('link', { name: /Two pieces.*Needs you/ }).waitFor();
    await page.getByRole('link', { name: /Two pieces/ }).focus();
    const other = await open(link);
    await other.getByRole('link', { name: /Two pieces/ }).click();
    await readAll(other, other.locator('[data-answer=approve]').first());
    await other.locator('[data-answer=approve]').first().click();
    await page.getByText('Changed.').waitFor();
    await page.getByRole('link', { name: /Two pieces.*Needs you/ }).waitFor({ state: 'detached' });
    expect(await focused(page)).toContain('Two pieces');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Find/ }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page), POLL).toContain('Two pieces');
  });

  it('stays in a diff whose piece is taken back, and with the buttons above it', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS, files: { 'a.txt': LINES.join('') }, isRepository: true });
    const page = await open(link);
    await begin(page, 'change it');
    await readAll(page, page.locator('[data-answer=approve]').first());
    await page.locator('[data-answer=approve]').first().click();
    await page.getByRole('button', { name: /^Changes \+/ }).click();
    await page.getByRole('button', { name: /Changed a\.txt/ }).click();
    await page.getByRole('button', { name: 'Take back: Line 3', exact: true }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).press('Enter');
    await page.getByText('Line 3', { exact: true }).waitFor({ state: 'detached' });
    await expect.poll(() => focused(page), POLL).toContain('twentieth');
    await page.getByRole('button', { name: 'Put back' }).press('Enter');
    await expect.poll(() => focused(page), POLL).toBe('Take back all');
  });

  it('goes to the message once a question is answered with the mouse: what is typed next is text [DAY-111]', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS, files: { 'a.txt': LINES.join('') } });
    const page = await open(link);
    await begin(page, 'change it');
    await readAll(page, page.locator('[data-answer=approve]').first());
    await page.locator('[data-answer=approve]').first().click();
    await page.getByText('Changed.').waitFor();
    await page.keyboard.type('discount next');
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('discount next');
    expect(await page.getByRole('complementary', { name: 'Details' }).count()).toBe(1);
  });

  it('stays with the bar of a terminal that is handed over, or is not closed after all', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    await begin(page, 'hello');
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).click();
    await page.getByRole('button', { name: 'Leave to the session' }).press('Enter');
    await expect.poll(() => focused(page), POLL).toBe('Take over');
    await page.getByRole('button', { name: 'Close', exact: true }).last().press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).press('Enter');
    await expect.poll(() => focused(page), POLL).toBe('Close');
  });
});
