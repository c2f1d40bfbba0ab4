/** The board of a project in the page: cards, a commit with a proposed message, comparing and merging. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { complaintsOf, startWorkHost } from './support/work-host.js';

describeInBrowser('the board of a project', (open) => {
  it('is opened by a button on the line of the name of the project', async () => {
    const page = await open((await startWorkHost({ files: { 'a.txt': 'one\n' }, isRepository: true })).link);
    await begin(page, 'hello');
    const button = page.getByRole('button', { name: 'Board of project' });
    await button.waitFor();
    const name = await page.locator('.group-name').boundingBox();
    const box = await button.boundingBox();
    expect(box && name && box.x >= name.x + name.width && box.y < name.y + name.height).toBe(true);
    await button.click();
    await page.getByRole('dialog', { name: 'Board of project' }).waitFor();
  });

  it('shows a card, commits with a proposed message and compares branches, on the phone [DAY-070] [DAY-125]', async () => {
    const { link, folder, git } = await startWorkHost({ files: { 'a.txt': 'one\n' }, isRepository: true });
    git('config', 'user.name', 'Test');
    git('config', 'user.email', 'test@localhost');
    git('branch', 'other');
    const page = await open(link, PHONE);
    const complaints = complaintsOf(page);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await writeFile(path.join(folder, 'a.txt'), 'one\ntwo\n');
    await page.getByRole('textbox', { name: 'Message' }).fill('/board');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Board of project' });
    const card = dialog.locator('.board-card');
    await expect.poll(() => card.innerText(), POLL).toMatch(/main[\s\S]*\+1 −0\s+1 file, 1 not committed/);
    expect(await problemsOf(page)).toEqual([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).toBeLessThanOrEqual(0);
    await card.getByText('There is no remote to push to: add one with git remote add').waitFor();
    expect(await card.getByRole('button').allInnerTexts()).toEqual(['Commit']);
    await card.getByRole('button', { name: 'Commit' }).click();
    const message = dialog.getByLabel('Commit message');
    await expect.poll(() => message.inputValue(), POLL).toBe('Change a.txt');
    await card.getByRole('group', { name: 'Commit everything that changed: 1 file on main' }).waitFor();
    expect(await message.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('Two');
    await page.keyboard.press('Enter');
    await dialog.getByText(/^Committed [0-9a-f]{7,}: Two \(1 file\)\./).waitFor();
    await writeFile(path.join(folder, 'a.txt'), 'one\ntwo\nthree\n');
    await page.reload();
    await page.getByRole('textbox', { name: 'Message' }).fill('/board');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await card.getByRole('button', { name: 'Commit' }).click();
    await expect.poll(() => message.inputValue(), POLL).toBe('Change a.txt');
    git('checkout', '--', 'a.txt');
    await dialog.getByRole('group').getByRole('button', { name: 'Commit 1 file' }).click();
    await expect.poll(() => dialog.getByRole('alert').innerText(), POLL).toBe('Nothing is changed there');
    expect(git('log', '-1', '--format=%s').trim()).toBe('Two');
    await dialog.getByLabel('From').selectOption('other');
    await dialog.getByLabel('To').selectOption('main');
    await dialog.getByRole('button', { name: 'Compare' }).click();
    await expect.poll(() => dialog.locator('.board-diff .added').allInnerTexts(), POLL).toContain('+two\n');
    expect(await problemsOf(page)).toEqual([]);
    expect(await readFile(path.join(folder, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(complaints).toEqual([]);
  });
});
