/** Finding and order in the page: search over everything, search in a chat, groups, pins, and several sessions at once. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Client, connect } from '@atrium/client';
import { type SearchItem, SessionStatus, type SessionSummary } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { withoutCopies } from '../src/search/copies.js';
import { filterIn, withFilter } from '../src/search/filters.js';
import { problemsOf } from './support/axe.js';
import { choose, DESKTOP, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { type PageHost, startPageHost, TOKEN } from './support/page-host.js';
import { said } from './support/puppet-host.js';

async function clientOf({ url }: PageHost): Promise<Client> {
  const client = await connect({ url: url.replace('http', 'ws'), token: () => TOKEN });
  onTestFinished(() => client.close());
  return client;
}

function turn(index: number, words: string): object {
  return {
    id: `t${index}`,
    startedAt: new Date(Date.now() - (1_000 - index) * 60_000).toISOString(),
    message: said(`Question ${index}`),
    responseParts: [{ kind: 'markdown', id: `m${index}`, content: `Answer ${index}. ${words} ${'More. '.repeat(40)}` }],
    state: 'complete',
  };
}

interface Kept extends Partial<SessionSummary> {
  readonly turns?: readonly object[];
}

async function keep(client: Client, id: string, { turns = [], ...more }: Kept): Promise<string> {
  const channel = `ahp-session:/${id}`;
  const at = new Date().toISOString();
  const summary = { resource: channel, provider: 'mock', title: id, status: SessionStatus.Idle };
  const state = { summary: { ...summary, createdAt: at, modifiedAt: at, ...more } };
  await client.requestExtension('atrium/importSession', { channel, start: 0, turns, state });
  await client.dispatch(channel, { type: 'session/isReadChanged', isRead: true });
  return channel;
}

const list = (page: Page) => page.getByRole('navigation', { name: 'Sessions' });
const titles = (page: Page) => list(page).locator('.title').allInnerTexts();
const isInView = (page: Page, text: string) =>
  page
    .getByText(text, { exact: false })
    .first()
    .evaluate((element) => {
      const box = element.getBoundingClientRect();
      const view = document.querySelector('.timeline')?.getBoundingClientRect();
      return view !== undefined && box.bottom > view.top && box.top < view.bottom;
    });
const markedWords = (page: Page) =>
  page.evaluate(() => [...(CSS.highlights.get('found') ?? [])].map((range) => range.toString()));

it('shows a hit in a fork and in its origin once, and the same words of strangers twice [DAY-124]', () => {
  const hit = (session: string, turn: number) =>
    ({ session, turn, kind: 'answer', snippet: 'A heron stands.' }) as unknown as SearchItem;
  const sessions = [{ resource: 'a' }, { resource: 'b', _meta: { 'atrium.forkOf': 'a' } }, { resource: 'c' }];
  const found = [hit('b', 1), hit('a', 1), hit('a', 2), hit('c', 1), hit('gone', 1)];
  expect(withoutCopies(found, sessions).map(({ item, copies }) => [item.session, item.turn, copies])).toEqual([
    ['b', 1, 1],
    ['a', 2, 0],
    ['c', 1, 0],
    ['gone', 1, 0],
  ]);
});

it('filters are words of the query, which controls put in and take out [DAY-124]', () => {
  expect(withFilter('two words', 'agent', 'claude')).toBe('agent:claude two words');
  expect(withFilter('agent:claude two', 'agent', 'codex')).toBe('agent:codex two');
  expect(withFilter('two folder:"a b" words', 'folder', '')).toBe('two words');
  expect(withFilter('', 'folder', 'my work')).toBe('folder:"my work"');
  expect(filterIn('x folder:"my work" y', 'folder')).toBe('my work');
  expect(filterIn('subfolder:x', 'folder')).toBe('');
});

describeInBrowser('search in the page', (open) => {
  it('[DAY-020] [DAY-023] goes to a turn that is not loaded, marks the words, and finds on in the chat', async () => {
    const host = await startPageHost({});
    const client = await clientOf(host);
    const gap = `\n\n${'Nothing here.\n\n'.repeat(60)}`;
    const long = ['First egret.', 'Second egret.', 'Third egret.'].join(gap);
    const words = (index: number) => (index % 100 === 20 ? 'A heron stands.' : index === 150 ? long : '');
    const turns = Array.from({ length: 300 }, (_, index) => turn(index, words(index)));
    await keep(client, 'Birds', { turns });
    const page = await open(host.link);
    await page.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    await page.keyboard.press('Control+Shift+F');
    const field = page.getByRole('combobox', { name: 'Search everything that was said' });
    await field.fill('hero');
    const options = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
    await expect.poll(() => options.count(), POLL).toBe(3);
    expect(await options.first().locator('mark').innerText()).toBe('heron');
    await page.getByLabel('Any time').selectOption('Last 7 days');
    expect(await field.inputValue()).toBe('since:7d hero');
    await page.getByLabel('Any state').selectOption('Failed');
    await page.getByText('Nothing found for these words.').waitFor();
    await page.getByLabel('Any state').selectOption('');
    await expect.poll(() => options.count(), POLL).toBe(3);
    expect(await problemsOf(page)).toEqual([]);
    await field.focus();
    await field.press('ArrowDown');
    await field.press('ArrowDown');
    await field.press('Enter');
    await page.getByText('Answer 20.').waitFor();
    await expect.poll(() => isInView(page, 'Answer 20.'), POLL).toBe(true);
    await expect.poll(() => markedWords(page), POLL).toContain('heron');
    await page.keyboard.press('Control+f');
    const find = page.getByRole('searchbox', { name: 'Find in this chat' });
    await find.fill('heron');
    await page.getByText('3 of 3').waitFor();
    await expect.poll(() => isInView(page, 'Answer 220.'), POLL).toBe(true);
    await find.press('Enter');
    await page.getByText('2 of 3').waitFor();
    await expect.poll(() => isInView(page, 'Answer 120.'), POLL).toBe(true);
    expect(await problemsOf(page)).toEqual([]);
    await find.press('Shift+Enter');
    await page.getByText('3 of 3').waitFor();
    // A long answer has the words in several places.
    await find.fill('egret');
    for (const [key, place, text] of [
      ['ArrowRight', '3 of 3', 'Third egret.'],
      ['Enter', '2 of 3', 'Second egret.'],
      ['Enter', '1 of 3', 'First egret.'],
      ['Shift+Enter', '2 of 3', 'Second egret.'],
    ] as const) {
      await find.press(key);
      await page.getByText(`1 of 1, place ${place}`).waitFor();
      await expect.poll(() => isInView(page, text), POLL).toBe(true);
    }
    await find.press('Escape');
    await find.waitFor({ state: 'detached' });
    expect(await markedWords(page)).toEqual([]);
  });

  it('[DAY-031] [DAY-033] has a group for each project, pins for every device, and folds that stay', async () => {
    const host = await startPageHost({});
    const client = await clientOf(host);
    const [repository, worktree] = [path.join(host.folder, 'shop'), path.join(host.folder, 'shop-fix')];
    await mkdir(path.join(repository, '.git/worktrees/fix'), { recursive: true });
    await mkdir(path.join(repository, 'web'));
    await mkdir(worktree);
    await writeFile(path.join(worktree, '.git'), `gitdir: ${repository}/.git/worktrees/fix\n`);
    await writeFile(path.join(repository, '.git/worktrees/fix/HEAD'), 'ref: refs/heads/fix/sum\n');
    const at = (folder: string, minutes: number) => ({
      workingDirectories: [pathToFileURL(folder).href],
      modifiedAt: new Date(Date.now() - minutes * 60_000).toISOString(),
    });
    await keep(client, 'In the shop', at(path.join(repository, 'web'), 1));
    await keep(client, 'On a branch', at(worktree, 2));
    await keep(client, 'Elsewhere', at(host.folder, 3));
    const unread = await keep(client, 'Unread', at(repository, 30));
    await client.dispatch(unread, { type: 'session/isReadChanged', isRead: false });
    const page = await open(host.link);
    const groups = () => list(page).getByRole('heading', { level: 2 }).allInnerTexts();
    await expect.poll(groups, POLL).toEqual(['shop', path.basename(host.folder)]);
    expect(await titles(page)).toEqual(['Unread', 'In the shop', 'On a branch', 'Elsewhere']);
    await list(page).getByText('fix/sum').waitFor();
    const phone = await open(host.link, PHONE);
    const branch = list(page).locator('.session-item', { hasText: 'On a branch' });
    await branch.hover();
    await branch.getByRole('button', { name: 'Pin', exact: true }).click();
    for (const each of [page, phone])
      await expect.poll(() => titles(each), POLL).toEqual(['On a branch', 'Unread', 'In the shop', 'Elsewhere']);
    // The order stays while a mouse is over the list.
    await branch.hover();
    await client.dispatch('ahp-session:/In the shop', { type: 'session/isReadChanged', isRead: false });
    const moved = ['On a branch', 'In the shop', 'Unread', 'Elsewhere'];
    await expect.poll(() => titles(phone), POLL).toEqual(moved);
    expect(await titles(page)).toEqual(['On a branch', 'Unread', 'In the shop', 'Elsewhere']);
    await page.mouse.move(900, 400);
    await expect.poll(() => titles(page), POLL).toEqual(moved);
    await list(page).locator('.group-toggle', { hasText: 'shop' }).click();
    await expect.poll(() => titles(page), POLL).toEqual(['On a branch', 'Elsewhere']);
    expect(await problemsOf(page)).toEqual([]);
    expect(await problemsOf(phone)).toEqual([]);
    await page.reload();
    await expect.poll(() => titles(page), POLL).toEqual(['On a branch', 'Elsewhere']);
    await list(page).locator('.group-toggle', { hasText: 'shop' }).click();

    const chat = await client.createChat(unread);
    await list(page).locator('.chat-item').waitFor();
    await list(page).locator('.chat-item a').click();
    await expect.poll(() => page.url(), POLL).toContain(encodeURIComponent(chat));
  });

  it('[DAY-031] reads, archives, deletes and restores several at once', async () => {
    const host = await startPageHost({});
    const client = await clientOf(host);
    for (const name of ['one', 'two', 'three']) {
      const uri = await keep(client, name, {});
      await client.dispatch(uri, { type: 'session/isReadChanged', isRead: false });
    }
    const page = await open(host.link, DESKTOP);
    await expect.poll(() => list(page).locator('.unread').count(), POLL).toBe(3);
    const select = async (...names: string[]) => {
      await list(page).getByRole('button', { name: 'Select several sessions' }).click();
      for (const name of names)
        await list(page)
          .getByRole('checkbox', { name: `Select ${name}` })
          .check();
    };
    const boxes = list(page).getByRole('checkbox');
    await list(page).getByRole('button', { name: 'Select several sessions' }).click();
    await boxes.first().click();
    await boxes.last().click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await select('one', 'two');
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Mark as read' }).click();
    await expect.poll(() => list(page).locator('.unread').count(), POLL).toBe(1);
    await select('one', 'three');
    await page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).click();
    await expect.poll(() => list(page).locator('summary .count').innerText(), POLL).toBe('2');
    await list(page).locator('summary').click();
    await select('one', 'two');
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('2 sessions deleted.').waitFor();
    await expect.poll(() => list(page).locator('.session-item').count(), POLL).toBe(1);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('2 sessions restored.').waitFor();
    await expect.poll(() => list(page).locator('.session-item').count(), POLL).toBe(3);
  });

  it('[DAY-032] begins where the last session worked, with its model, and says which model is the default', async () => {
    const host = await startPageHost({});
    const client = await clientOf(host);
    const folder = path.join(host.folder, 'shop');
    await mkdir(folder);
    const session = await client.createSession({ provider: 'mock', workingDirectories: [pathToFileURL(folder).href] });
    const opened = await client.open(session);
    const message = { ...said('hello'), model: { id: 'mock-2' } };
    await opened.dispatch({ type: 'chat/turnStarted', turnId: 'a', message });
    await expect.poll(() => opened.state.chat.turns.length, POLL).toBe(1);
    const page = await open(host.link);
    await expect.poll(() => page.getByLabel('Folder', { exact: true }).inputValue(), POLL).toBe(folder);
    const model = page.getByRole('combobox', { name: 'Model' });
    await expect.poll(() => model.inputValue(), POLL).toBe('mock-2');
    expect(await model.locator('option').allInnerTexts()).toEqual(['Default: Mock one', 'Mock one', 'Mock two']);
    await keep(client, 'Elsewhere', { workingDirectories: [pathToFileURL(host.folder).href] });
    await choose(page, /Elsewhere/);
    await page.getByRole('heading', { name: 'Elsewhere' }).waitFor();
    await page.getByRole('link', { name: 'New', exact: true }).click();
    await expect.poll(() => page.getByLabel('Folder', { exact: true }).inputValue(), POLL).toBe(host.folder);
    await expect.poll(() => model.inputValue(), POLL).toBe('');
  });
});
