/** Small things that a day is made of: what was written before, the menu of a session, commands, a narrow window. */
import { expect, it } from 'vitest';
import { historyOf } from '../src/composer/prompt-history.js';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startWorkHost } from './support/work-host.js';

it('history is that of the chat, then that of everywhere, each text once [DAY-112]', () => {
  expect(historyOf(['a', 'b', 'a'], ['x', 'b', ' '])).toEqual(['a', 'b', 'x']);
});

describeInBrowser('a day in the page', (open) => {
  it('↑ brings back what was written, what was begun is never lost, and commands open what they name [DAY-084] [DAY-112]', async () => {
    const { link } = await startWorkHost({ files: { 'src/app.ts': 'one\ntwo\nthree\n', 'CLAUDE.md': 'Be kind.\n' } });
    const page = await open(link);
    await begin(page, 'first');
    await page.getByText('You said: first').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('second');
    await page.keyboard.press('Enter');
    await page.getByText('You said: second').waitFor();
    await field.fill('begun');
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('second');
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('first');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await field.inputValue()).toBe('begun');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.type('!');
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('begun');

    await field.fill('/theme midnight');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('midnight');
    await field.fill('/open src/app.ts:2');
    await page.keyboard.press('Enter');
    await page.locator('.line-mark').waitFor();
    await field.fill('/instructions');
    await page.keyboard.press('Enter');
    expect(await page.locator('#session-instructions').innerText()).toMatch(/CLAUDE\.md\s+9 bytes/);
    await field.fill('/settings');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    expect(await page.getByRole('radio', { name: 'Midnight' }).isChecked()).toBe(true);
  });

  it('a session has a menu, for keys and for touch [DAY-112]', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    await begin(page, 'one');
    await page.getByText('You said: one').waitFor();
    const list = page.getByRole('navigation', { name: 'Sessions' });
    const more = list.getByRole('button', { name: 'Session menu' });
    await more.focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('menu');
    expect(await menu.getByRole('menuitem').allInnerTexts()).toEqual(
      ['Rename', 'Pin', 'Archive', 'Mark as unread', 'Fork', 'Export', 'Copy link', 'Delete'].map((word) => word),
    );
    expect(await problemsOf(page)).toEqual([]);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Title' }).fill('Renamed');
    await page.keyboard.press('Enter');
    await list.getByRole('link', { name: /Renamed/ }).waitFor();
    await more.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    expect(await more.evaluate((button) => button === document.activeElement)).toBe(true);

    const phone = await open(link, PHONE);
    await phone.getByRole('link', { name: /Renamed/ }).waitFor();
    expect(await problemsOf(phone)).toEqual([]);
    await phone.getByRole('button', { name: 'Session menu' }).tap();
    await phone.getByRole('menuitem', { name: 'Pin' }).tap();
    await phone.getByRole('region', { name: 'Pinned' }).waitFor();
    await phone.getByRole('button', { name: 'Session menu' }).tap();
    await phone.getByRole('menuitem', { name: 'Delete' }).tap();
    await phone.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).tap();
    await expect.poll(() => list.getByRole('link', { name: /Renamed/ }).count(), POLL).toBe(0);
  });

  it('in a narrow window the list gives way to the conversation [DAY-112]', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link, { viewport: { width: 820, height: 800 } });
    await begin(page, 'one');
    await page.getByText('You said: one').waitFor();
    expect(await page.getByRole('navigation', { name: 'Sessions' }).isVisible()).toBe(false);
    const box = await page.locator('.conversation').boundingBox();
    expect(box?.width).toBeGreaterThan(800);
    await page.getByRole('link', { name: 'All sessions' }).click();
    await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
  });

  it('settings show what the host is set to and where that came from, and keys can be changed [DAY-113]', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    await page.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    await page.getByRole('button', { name: /^Settings/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Settings' });
    await dialog.getByRole('row', { name: 'titles false file: /srv/atrium.json' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await dialog.getByLabel('Run tools without asking, in new sessions').check();
    await dialog.getByRole('button', { name: 'N: New session' }).click();
    await page.keyboard.press('k');
    await dialog.getByText('K is for “Previous session”. Change that first.').waitFor();
    await page.keyboard.press('x');
    await dialog.getByRole('button', { name: 'Alt Y: Approve what the agent asks' }).click();
    await page.keyboard.press('y');
    await dialog.getByText('An answer needs Ctrl or Alt').waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await begin(page, 'hi');
    await page.getByText('You said: hi').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    expect(page.url()).toContain('#/session/');
    await page.keyboard.press('x');
    await page.waitForFunction(() => location.hash === '#/new');
    await page.reload();
    await page.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    await page.keyboard.press('Control+,');
    expect(await dialog.getByLabel('Run tools without asking, in new sessions').isChecked()).toBe(true);
    await dialog.getByRole('button', { name: 'Usual: New session' }).click();
    await dialog.getByRole('button', { name: 'N: New session' }).waitFor();
  });
});
