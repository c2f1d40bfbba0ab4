/** Rules and modes in the page: always allow writes the rule that it shows, the settings list and remove it, and the mode is chosen below the message. */
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, DESKTOP, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startPageHost } from './support/page-host.js';

describeInBrowser('permission rules in the page', (open) => {
  it('[DAY-005] [DAY-007] [DAY-009] shows what would be stored, stores it, lists it, removes it, and changes the mode', async () => {
    const call = [{ callTool: { name: 'shell', input: { command: 'echo one' } } }, { text: 'Done.' }];
    const { link } = await startPageHost({ shell: call, again: call });
    const page = await open(link);
    await begin(page, 'shell');
    await page.getByRole('button', { name: 'Always allow …' }).click();
    await page.getByRole('button', { name: 'Always allow shell(echo *) in this session' }).click();
    await expect.poll(() => page.getByText('Done.').count(), POLL).toBe(1);
    const mode = page.locator('.compose-bar').getByLabel('Mode', { exact: true });
    expect(await mode.inputValue()).toBe('ask');
    await mode.selectOption('accept-edits');
    await expect.poll(() => mode.inputValue(), POLL).toBe('accept-edits');
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('again');
    await field.press('Enter');
    await expect.poll(() => page.getByText('Done.').count(), POLL).toBe(2);
    const decisions = page.locator('.tool-decision');
    await page.locator('.tool-call.is-folded .tool-head').first().click();
    await expect
      .poll(() => decisions.allTextContents(), POLL)
      .toEqual(['Allowed by a person: Always allow shell(echo *) in this session']);
    await page.locator('.tool-call.is-folded .tool-head').first().click();
    await expect
      .poll(() => decisions.nth(1).textContent(), POLL)
      .toBe('Allowed by the rule of this session: shell(echo *)');
    await field.fill('/permissions');
    await field.press('Enter');
    const rule = page.getByRole('listitem').filter({ hasText: 'shell(echo *)' });
    await expect.poll(() => rule.textContent(), POLL).toContain('last used');
    // The settings begin with the theme; this command is about the rules.
    const heading = page.getByRole('heading', { name: 'Permission rules' });
    await expect.poll(() => heading.evaluate((at) => at === document.activeElement), POLL).toBe(true);
    await page.getByRole('navigation', { name: 'Parts of the settings' }).getByText('Keys').click();
    await expect.poll(() => page.getByRole('heading', { name: 'Keys' }).isVisible(), POLL).toBe(true);
    expect(await problemsOf(page)).toEqual([]);
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-desk.png` });
    await rule.getByRole('button', { name: 'Remove allow shell(echo *)' }).click();
    await expect.poll(() => rule.count(), POLL).toBe(0);
    await page.getByRole('textbox', { name: 'Rule' }).fill('shell(* x)');
    await page.getByRole('combobox', { name: 'Whose rule' }).selectOption('session');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.getByText('name of a program').count(), POLL).toBe(1);
  });

  it.each([
    ['at a desk', DESKTOP, 1],
    ['on a phone', PHONE, 2],
  ])('[DAY-005] [DAY-111] asks low %s, and shows by keyboard what it would write', async (where, size, rows) => {
    const content = Array.from({ length: 90 }, (_, index) => `const value${index} = ${index};`).join('\n');
    const { link } = await startPageHost({
      long: [{ callTool: { name: 'write_file', input: { path: 'values.js', content } } }],
      short: [{ callTool: { name: 'shell', input: { command: 'git diff HEAD~1' } } }, { text: 'Done.' }],
    });
    const page = await open(link, size);
    await begin(page, 'short');
    const card = page.getByRole('group', { name: 'Permission' });
    const more = card.getByRole('button', { name: 'Always allow …' });
    await more.waitFor();
    const tops = await card
      .locator('.buttons button')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
    expect(new Set(tops.map(Math.round)).size).toBeLessThanOrEqual(rows);
    // Whatever opens below the pointer takes no double click.
    await more.dblclick();
    expect(await card.isVisible()).toBe(true);
    await more.focus();
    if ((await more.getAttribute('aria-expanded')) === 'true') await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    expect(await more.getAttribute('aria-expanded')).toBe('true');
    const always = card.getByRole('group', { name: 'Always allow' });
    expect(await always.locator('code').allTextContents()).toEqual(['allow shell(git diff *)']);
    // The narrowest first: what allows more than the rule stands below it.
    expect((await always.getByRole('button').allInnerTexts()).map((text) => text.trim())).toEqual([
      'in this session',
      'in this project',
      'Run, and allow all commands in this session',
    ]);
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-${rows}.png` });
    expect(await problemsOf(page)).toEqual([]);
    for (const button of await always.getByRole('button').all()) {
      const { x = -1, width = 9_999 } = (await button.boundingBox()) ?? {};
      expect(x >= 0 && x + width <= (size.viewport?.width ?? 0), where).toBe(true);
    }
    await page.keyboard.press('Escape');
    expect(await always.count()).toBe(0);
    await page.keyboard.press('Enter');
    const choice = always.getByRole('button', { name: 'Always allow shell(git diff *) in this project' });
    for (let tabs = 0; tabs < 4 && !(await isFocused(choice)); tabs += 1) await page.keyboard.press('Tab');
    expect(await isFocused(choice)).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByText('Done.').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('long');
    await field.press('Enter');
    await page.locator('.is-asking .diff .line').first().waitFor();
    // A long change and its answers are in view together, with room to read.
    await page.locator('.is-asking').scrollIntoViewIfNeeded();
    const seen = await page.locator('.is-asking .read-text').evaluate((box) => box.clientHeight);
    expect(seen).toBeGreaterThanOrEqual(175);
    const fits = await page.locator('.is-asking').evaluate((asking) => {
      const room = asking.closest('.timeline')?.clientHeight ?? 0;
      return asking.getBoundingClientRect().height <= room;
    });
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-long-${rows}.png` });
    expect(fits).toBe(true);
  });
});

function isFocused(button: Locator): Promise<boolean> {
  return button.evaluate((element) => element === document.activeElement);
}
