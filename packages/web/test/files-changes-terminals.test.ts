/** What stands beside the conversation: whether everybody can use it, and what it costs those who do not. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, DESKTOP, describeInBrowser, PHONE, POLL, pass } from './support/browser.js';
import { openTab, startWorkHost } from './support/work-host.js';

const PROMPTS = {
  fix: [
    { callTool: { name: 'edit_file', input: { path: 'src/sum.js', oldText: '1', newText: '2' } } },
    { text: 'Fixed.' },
  ],
};

async function beginFix(page: Page): Promise<void> {
  await begin(page, 'fix');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByText('Fixed.').waitFor();
}

describeInBrowser('beside the conversation', (open) => {
  it.each<[string, string, BrowserContextOptions]>([
    ['light', 'on the desktop', { ...DESKTOP, colorScheme: 'light' }],
    ['dark', 'on the phone', { ...PHONE, colorScheme: 'dark' }],
  ])('axe finds nothing: %s, %s', async (_colours, _where, options) => {
    const files = { 'src/sum.js': 'export const sum = 1; // one\n', 'a.txt': 'a\n' };
    const { link } = await startWorkHost({ files, isRepository: true, prompts: PROMPTS });
    const page = await open(link, options);
    await page.getByRole('combobox', { name: 'Works in' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Browse folders' }).click();
    await page.getByRole('treeitem', { name: 'src' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await beginFix(page);
    await page.getByRole('textbox', { name: 'Message' }).pressSequentially('@su');
    await page.getByRole('option', { name: '@src/sum.js' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Message' }).fill('');

    await openTab(page, 'Files');
    await page.getByRole('treeitem', { name: 'src' }).click();
    await page.getByRole('treeitem', { name: 'sum.js' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('treeitem', { name: 'sum.js' }).click();
    await page.locator('.hljs-comment').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await openTab(page, 'Changes');
    await page.getByRole('button', { name: /Changed src\/sum\.js/ }).click();
    await page.locator('.change .line.added').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).click();
    await expect.poll(() => page.locator('.xterm-rows').innerText(), POLL).toMatch(/[$#]/);
    expect(await problemsOf(page)).toEqual([]);
  });

  it('loads none of it before somebody looks', async () => {
    const { link } = await startWorkHost({ files: { 'src/sum.js': '1\n' }, prompts: PROMPTS });
    const page = await open(link);
    await beginFix(page);
    await pass(page, 300);
    const parts = () =>
      page.evaluate(() =>
        (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
          .filter(({ name }) => /terminal-panel|files-panel|changes-panel|folder-picker/.test(name))
          .map(({ name }) => name),
      );
    expect(await parts()).toEqual([]);
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).waitFor();
    expect((await parts()).length).toBeGreaterThan(0);
  });
});
