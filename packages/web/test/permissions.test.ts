/** Rules and modes in the page: always allow writes the rule that it shows, the settings list and remove it, and the mode is chosen below the message. */
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startPageHost } from './support/page-host.js';

describeInBrowser('permission rules in the page', (open) => {
  it('[DAY-005] [DAY-007] [DAY-009] shows what would be stored, stores it, lists it, removes it, and changes the mode', async () => {
    const call = [{ callTool: { name: 'shell', input: { command: 'echo one' } } }, { text: 'Done.' }];
    const { link } = await startPageHost({ shell: call, again: call });
    const page = await open(link);
    await begin(page, 'shell');
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
    expect(await problemsOf(page)).toEqual([]);
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-desk.png` });
    await rule.getByRole('button', { name: 'Remove allow shell(echo *)' }).click();
    await expect.poll(() => rule.count(), POLL).toBe(0);
    await page.getByRole('textbox', { name: 'Rule' }).fill('shell(* x)');
    await page.getByRole('combobox', { name: 'Whose rule' }).selectOption('session');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.getByText('name of a program').count(), POLL).toBe(1);
  });

  it('[DAY-005] asks on a phone with every choice in reach', async () => {
    const { link } = await startPageHost({
      shell: [{ callTool: { name: 'shell', input: { command: 'git diff HEAD~1' } } }],
    });
    const page = await open(link, PHONE);
    await begin(page, 'shell');
    const choice = page.getByRole('button', { name: 'Always allow shell(git diff *) in this project' });
    await expect.poll(() => choice.isVisible(), POLL).toBe(true);
    const { x = -1, width = 999 } = (await choice.boundingBox()) ?? {};
    expect(x >= 0 && x + width <= 390).toBe(true);
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-phone.png` });
  });
});
