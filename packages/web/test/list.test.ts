/** The list of sessions, and what can be done to a whole session: find, rename, archive, delete, hand over. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from '@atrium/client';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished, vi } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, choose, DESKTOP, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startPageHost, TOKEN } from './support/page-host.js';
import { said } from './support/puppet-host.js';

const PROMPTS = {
  apples: [{ title: 'About apples' }, { text: 'Round.' }],
  pears: [{ title: 'About pears' }, { text: 'Longish.' }],
};

async function withTwoSessions(page: Page): Promise<void> {
  await begin(page, 'apples');
  await page.getByText('Round.').waitFor();
  await page.getByRole('link', { name: 'New' }).click();
  await begin(page, 'pears');
  await page.getByText('Longish.').waitFor();
  await page.getByRole('heading', { name: 'About pears' }).waitFor();
}

const list = (page: Page) => page.getByRole('navigation', { name: 'Sessions' });
const titles = (page: Page) => list(page).locator('.title').allInnerTexts();

describeInBrowser('the list of sessions', (open) => {
  it('finds by words of title, agent and folder', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await withTwoSessions(page);
    expect(await titles(page)).toEqual(['About pears', 'About apples']);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('apples mock');
    await expect.poll(() => titles(page), POLL).toEqual(['About apples']);
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('plums');
    await page.getByText('No title or folder has these words.').waitFor();
  });

  it('renames for every device', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await withTwoSessions(page);
    const other = await open(link);
    await page.getByRole('button', { name: 'About pears' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('About quinces');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'About quinces' }).waitFor();
    await expect.poll(() => titles(other), POLL).toEqual(['About quinces', 'About apples']);
    await page.getByRole('button', { name: 'About quinces' }).click();
    await page.keyboard.type('never mind');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'About quinces' }).waitFor();
  });

  it('archives, shows the archive when asked, and takes out of it again', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await withTwoSessions(page);
    const apples = list(page).locator('.session-item', { hasText: 'About apples' });
    await apples.hover();
    await apples.getByRole('button', { name: 'Archive' }).click();
    await list(page).getByText('Archive', { exact: false }).first().waitFor();
    await expect.poll(() => apples.isVisible(), POLL).toBe(false);
    await list(page).locator('summary').click();
    await apples.hover();
    await apples.getByRole('button', { name: 'Take out of the archive' }).click();
    await expect.poll(() => list(page).locator('summary').count(), POLL).toBe(0);
    expect(await titles(page)).toHaveLength(2);
  });

  it('marks what ended while nobody looked, until somebody looks', async () => {
    const { link, url } = await startPageHost(PROMPTS);
    const page = await open(link);
    const desktop = await connect({ url: url.replace('http', 'ws'), token: () => TOKEN });
    onTestFinished(() => desktop.close());
    const session = await desktop.createSession({ provider: 'mock' });
    const opened = await desktop.open(session);
    await opened.dispatch({ type: 'chat/turnStarted', turnId: 't1', message: said('apples') });
    await list(page)
      .getByRole('link', { name: /About apples.*Idle \(new\)/ })
      .waitFor();
    await choose(page, /About apples/);
    await page.getByText('Round.').waitFor();
    await expect.poll(() => list(page).locator('.unread').count(), POLL).toBe(0);
    await page.getByRole('link', { name: 'New' }).click();
    expect(await list(page).locator('.unread').count()).toBe(0);
  });

  it('marks archived sessions wherever they are listed', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await withTwoSessions(page);
    await page.getByRole('button', { name: 'Archive', exact: true }).last().click();
    await page.locator('.session-header').getByText('Archived').waitFor();
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('about');
    await list(page).locator('.session-item', { hasText: 'About pears' }).getByText('Archived').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find a command or a session' }).fill('about');
    const options = page.getByRole('dialog').getByRole('option');
    expect(await options.allInnerTexts()).toEqual([
      expect.stringContaining('About apples'),
      expect.stringMatching(/About pears[\s\S]*Archived/),
    ]);
  });

  it('deletes only after a second yes, says for how long it can be restored, and restores at once', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await withTwoSessions(page);
    const remove = page.getByRole('button', { name: 'Delete', exact: true });
    await remove.click();
    await page.getByRole('button', { name: 'Keep it' }).click();
    expect(await titles(page)).toHaveLength(2);
    await remove.click();
    const dialog = page.getByRole('dialog', { name: 'Delete this session?' });
    expect(await dialog.innerText()).toMatch(/can be restored for 30 days/);
    expect(await dialog.innerText()).not.toMatch(/for good|is gone/);
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('“About pears” is deleted.').waitFor();
    await expect.poll(() => titles(page), POLL).toEqual(['About apples']);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Longish.').waitFor();
    await expect.poll(() => titles(page), POLL).toEqual(['About pears', 'About apples']);
  });

  it.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)('lists deleted sessions and restores them (%s)', async (_, size) => {
    const { link, url } = await startPageHost(PROMPTS);
    const desktop = await connect({ url: url.replace('http', 'ws'), token: () => TOKEN });
    onTestFinished(() => desktop.close());
    const session = await desktop.createSession({ provider: 'mock' });
    await desktop.dispatch(session, { type: 'session/titleChanged', title: 'About plums' });
    await desktop.disposeSession(session);
    const page = await open(link, size);
    await page.getByRole('button', { name: 'Deleted sessions' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deleted sessions' });
    await dialog.getByText('About plums').first().waitFor();
    expect(await dialog.innerText()).toMatch(/kept for 30 days[\s\S]*Deleted just now/);
    await dialog.getByRole('button', { name: 'Restore About plums' }).click();
    await page.getByRole('heading', { name: 'About plums' }).waitFor();
    expect((await desktop.listSessions()).map(({ resource }) => resource)).toContain(session);
  });
});

describeInBrowser('the link for another device', (open) => {
  it('is copied with a code and without the token, and lets a second browser in', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link, { ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: /^Devices/ }).click();
    await page.getByRole('button', { name: 'Add a device' }).click();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).not.toContain(TOKEN);
    const other = await open(copied);
    await other.getByRole('button', { name: 'Come in' }).click();
    await other.getByRole('textbox', { name: 'First message' }).waitFor();
    expect(other.url()).not.toContain(TOKEN);
  });

  it('[DAY-100] brings sessions of other programs here, those that a person chooses', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-page-'));
    vi.stubEnv('CLAUDE_CONFIG_DIR', folder);
    vi.stubEnv('CODEX_HOME', path.join(folder, 'none'));
    vi.stubEnv('XDG_DATA_HOME', path.join(folder, 'none'));
    onTestFinished(() => {
      vi.unstubAllEnvs();
      return rm(folder, { recursive: true, force: true });
    });
    const place = path.join(folder, 'projects', '-srv-app');
    await mkdir(place, { recursive: true });
    for (const [index, content] of ['About plums', 'About grapes'].entries()) {
      const line = { type: 'user', uuid: 'u', timestamp: '2026-03-01T10:00:00.000Z', message: { content } };
      await writeFile(path.join(place, `0000000${index}-0000-0000-0000-000000000000.jsonl`), JSON.stringify(line));
    }
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link, PHONE);
    await page.getByRole('button', { name: /Bring sessions from/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Sessions of other programs' });
    await dialog.getByRole('checkbox', { name: 'About grapes' }).check();
    expect(await problemsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Import 1' }).click();
    await dialog.getByText('1 imported.').waitFor();
    await dialog.getByRole('status').getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => titles(page), POLL).toEqual(['About grapes']);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('other programs');
    await page.keyboard.press('Enter');
    await dialog.getByRole('checkbox', { name: 'All 1' }).waitFor();
  });
});
