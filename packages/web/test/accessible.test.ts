/** What axe finds in the main states of the page; and the keyboard. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { begin, DESK, describeInBrowser, PHONE } from './support/browser.js';
import { startPageHost } from './support/page-host.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PROMPTS = {
  task: [
    { title: 'A task' },
    { reasoning: 'Thinking.' },
    { text: '# Plan\n\n- one\n- `two`\n\n```ts\nconst a = 1; // one\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |' },
    { callTool: { name: 'write_file', input: { path: 'new.txt', content: 'hello\n' } } },
    {
      ask: {
        message: 'Well?',
        questions: [
          { kind: 'single-select' as const, id: 'a', message: 'One?', options: [{ id: 'x', label: 'X' }] },
          { kind: 'text' as const, id: 'b', message: 'Words?' },
          { kind: 'boolean' as const, id: 'c', message: 'Sure?' },
        ],
      },
    },
    { error: { errorType: 'rate-limited', message: 'Too much.' } },
  ],
};

/** The policy of the page forbids inline scripts, so axe is run by the debugger. */
async function problemsOf(page: Page): Promise<string[]> {
  await page.waitForTimeout(100);
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  });
}

describeInBrowser('accessibility', (open) => {
  it.each([
    ['light', 'on the desk', DESK],
    ['dark', 'on the desk', DESK],
    ['light', 'on the phone', PHONE],
  ] as const)('axe finds nothing: %s, %s', async (colorScheme, _where, size) => {
    const { link, url } = await startPageHost(PROMPTS);
    const page = await open(url, { ...size, colorScheme });
    await page.getByLabel('Token, or the link').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.goto(link);
    await page.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await begin(page, 'task');
    await page.getByRole('group', { name: 'Permission' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.keyboard.press('Alt+y');
    await page.getByRole('form', { name: 'Question' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('This turn failed.').waitFor();
    await page.getByRole('button', { name: 'Details', exact: true }).click();
    expect(await problemsOf(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Find/ }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
  });

  it('goes everywhere by keyboard', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await page.getByRole('textbox', { name: 'First message' }).waitFor();
    await page.locator('body').press('?');
    await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.waitForFunction(() => document.activeElement?.id === 'home-message');
    await page.keyboard.type('hi');
    await page.keyboard.press('Enter');
    await page.getByText('You said: hi').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('dark theme');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  });
});
