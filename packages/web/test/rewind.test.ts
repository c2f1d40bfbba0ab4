/** Going back to a message in the page: the preview, the note above the field, the fork, and the undo. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { complaintsOf, startWorkHost } from './support/work-host.js';

const PROMPTS = {
  'fix it': [
    { callTool: { name: 'edit_file', input: { path: 'sum.js', oldText: 'total = v', newText: 'total += v' } } },
    { callTool: { name: 'write_file', input: { path: 'notes.md', content: '# Notes\n' } } },
    { text: 'Fixed.' },
  ],
};

describeInBrowser('a rewind', (open) => {
  it('shows what would change, goes back, opens the fork and is undone, by keyboard and on the phone [DAY-060] [DAY-061] [DAY-062]', async () => {
    const files = { 'sum.js': 'total = v\n', 'other.js': '1\n' };
    const { link, folder } = await startWorkHost({ files, isRepository: true, prompts: PROMPTS });
    const sum = () => readFile(path.join(folder, 'sum.js'), 'utf8');
    const page = await open(link, PHONE);
    const complaints = complaintsOf(page);
    await begin(page, 'fix it');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Fixed.').waitFor();
    await writeFile(path.join(folder, 'notes.md'), '# Mine\n');
    await page.getByRole('button', { name: 'Rewind to here…' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Rewind to here' });
    await dialog.getByRole('heading', { name: '1 file would change' }).waitFor();
    expect(await dialog.locator('.rewind-files').first().innerText()).toMatch(/sum\.js\s+\+1 −1/);
    expect(await dialog.getByText('it has been changed since').count()).toBe(1);
    expect(await sum()).toBe('total += v\n');
    expect(await problemsOf(page)).toEqual([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).toBeLessThanOrEqual(0);
    await page.keyboard.press('Enter');
    const strip = page.locator('.strip.rewound');
    await expect.poll(() => strip.innerText(), POLL).toContain('Took back 1 turn, kept in a fork. Put back 1 file.');
    expect(await sum()).toBe('total = v\n');
    expect(await page.getByText('Fixed.').count()).toBe(0);
    await expect.poll(() => page.getByRole('textbox', { name: 'Message' }).inputValue(), POLL).toBe('fix it');
    expect(await problemsOf(page)).toEqual([]);
    await strip.getByRole('link', { name: 'Open the fork' }).click();
    await page.getByText('Fixed.').waitFor();
    await strip.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Somebody removed this chat.').waitFor();
    await page.getByRole('link', { name: 'To the session' }).click();
    await page.getByText('Fixed.').waitFor();
    expect(await sum()).toBe('total += v\n');
    expect(await readFile(path.join(folder, 'notes.md'), 'utf8')).toBe('# Mine\n');
    expect(await page.locator('.strip.rewound').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Message' }).fill('/undo');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await expect.poll(() => dialog.getByLabel('To before').inputValue(), POLL).not.toBe('');
    await dialog.getByRole('radio', { name: 'Only the conversation' }).check();
    await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
    await strip.waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('/redo');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await page.getByText('Fixed.').waitFor();
    expect(await sum()).toBe('total += v\n');
    expect(complaints).toEqual([]);
  });
});
