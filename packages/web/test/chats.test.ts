/** A session with several chats: forks, questions aside, and workers that tools started. */
import type { ChatSummary } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chatRows, sessionActivity, waitingElsewhere } from '../src/model/chats.js';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startPageHost } from './support/page-host.js';
import { puppetSession } from './support/puppet-host.js';

const WRITE = { callTool: { name: 'write_file', input: { path: 'a.txt', content: 'one\n' } } };
const PROMPTS = {
  count: [{ title: 'Count' }, { text: 'There are seven tests, and none of them fails.' }],
  work: [
    { title: 'Work' },
    { worker: { title: 'Write the file', prompt: 'Write it', steps: [WRITE, { text: 'The file is there.' }] } },
    { text: 'The worker says: ${lastResult}' },
  ],
};

const chats = (page: Page) => page.getByRole('navigation', { name: 'Chats' });
const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });

function summary(id: string, more: Partial<ChatSummary> = {}): ChatSummary {
  return { resource: `ahp-chat:/${id}`, title: id, status: 1, modifiedAt: '2026-01-01T00:00:00.000Z', ...more };
}

describe('the tree of chats', () => {
  const fork = (of: string) => ({ origin: { kind: 'fork' as const, chat: `ahp-chat:/${of}`, turnId: 't' } });
  const shown = (all: readonly ChatSummary[], defaultChat = 'ahp-chat:/main') =>
    chatRows({ chats: [...all], defaultChat }).map(({ chat, depth }) => `${depth} ${chat.title}`);

  it('[UP-039] has the default chat first, and every branch below its source', () => {
    const all = [summary('other'), summary('b', fork('a')), summary('main'), summary('a', fork('main'))];
    expect(shown(all)).toEqual(['0 main', '1 a', '2 b', '0 other']);
  });

  it('leaves out what is hidden, and survives parents that are gone or go in circles', () => {
    const hidden = summary('secret', { interactivity: 'hidden' });
    expect(shown([summary('main'), hidden, summary('orphan', fork('gone'))])).toEqual(['0 main', '0 orphan']);
    expect(shown([summary('x', fork('y')), summary('y', fork('x'))])).toEqual(['0 x', '1 y']);
  });

  it('[UP-174] knows in which other chats something waits for a person', () => {
    const request = { id: 'q', questions: [] };
    const entry = { kind: 'chatInput' as const, id: 'e', request };
    const [main, side] = [summary('main'), summary('side')];
    const { session } = puppetSession({
      chats: [main, side],
      inputNeeded: [
        { ...entry, chat: main.resource },
        { ...entry, id: 'e2', chat: side.resource },
      ],
    });
    expect(waitingElsewhere(session, main.resource)).toEqual([side]);
    expect(waitingElsewhere(session, side.resource)).toEqual([main]);
  });
});

describe('a session with chats', () => {
  const [idle, error, working, asking] = [1, 2, 8, 24];
  const doing = (...all: readonly number[]) => {
    const listed = all.map((status, index) => summary(`c${index}`, { status }));
    return sessionActivity(puppetSession({ status: idle, chats: listed, defaultChat: 'ahp-chat:/c0' }).session);
  };

  it('[UP-174] needs you or works when one of its chats does, and has failed when the first one has', () => {
    expect(doing(idle)).toBe('idle');
    expect(doing(idle, working)).toBe('working');
    expect(doing(working, asking)).toBe('needs-you');
    expect(doing(idle, error)).toBe('idle');
    expect(doing(error, idle)).toBe('error');
  });

  it('[UP-101] does not go on working when what waited was answered', () => {
    const { session } = puppetSession({ status: working, chats: [summary('c0')], defaultChat: 'ahp-chat:/c0' });
    expect(sessionActivity(session)).toBe('idle');
  });
});

describeInBrowser('several chats', (open) => {
  it('[UP-039] [UP-044] forks in place, goes on there, comes back, and deletes the fork on every device', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'count');
    await page.getByText('seven tests').waitFor();
    expect(await chats(page).count()).toBe(0);
    await page.locator('.turn-end').hover();
    await page.getByRole('button', { name: 'Fork from here' }).click();
    await chats(page).getByRole('link', { name: /Fork/ }).waitFor();
    await page.getByText('seven tests').waitFor();
    await field(page).fill('only here');
    await field(page).press('Enter');
    await page.getByText('You said: only here').waitFor();
    expect(await page.locator('.session-item').count()).toBe(1);

    const phone = await open(page.url().replace(/#.*/, link.slice(link.indexOf('#'))), PHONE);
    await phone.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: /Count/ }).first().click();
    await chats(phone).getByRole('link', { name: /Fork/ }).click();
    await phone.getByText('You said: only here').waitFor();
    await chats(page).getByRole('link').first().click();
    await expect.poll(() => page.getByText('You said: only here').count(), POLL).toBe(0);
    await page.getByText('seven tests').waitFor();

    await chats(page).getByRole('link', { name: /Fork/ }).click();
    await page.getByRole('button', { name: 'Delete this chat' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The chat is deleted.').waitFor();
    await chats(page).waitFor({ state: 'detached' });
    await page.getByText('seven tests').waitFor();
    await phone.getByText('Somebody removed this chat.').waitFor();
    await phone.getByRole('link', { name: 'To the session' }).click();
    await phone.getByText('seven tests').waitFor();
  });

  it('[UP-039] asks aside about the selected words; the conversation stays as it was', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'count');
    await page.getByText('seven tests').dblclick({ position: { x: 80, y: 10 } });
    const words = await page.evaluate(() => String(getSelection()).trim());
    expect(words).not.toBe('');
    await page.locator('.turn-end').hover();
    await page.getByRole('button', { name: 'Ask aside' }).click();
    await chats(page).getByRole('link', { name: /Aside/ }).waitFor();
    expect(await page.locator('.chat-strip q').innerText()).toBe(words);
    expect(await page.locator('.user-message').count()).toBe(0);
    await expect.poll(() => field(page).evaluate((it) => it === document.activeElement), POLL).toBe(true);
    await field(page).fill('which ones?');
    await field(page).press('Enter');
    await page.getByText('You said: which ones?').waitFor();
    await page.locator('.chat-strip').getByRole('link', { name: 'Count' }).click();
    await page.getByText('seven tests').waitFor();
    expect(await page.getByText('which ones?').count()).toBe(0);
  });

  it('[UP-078] [UP-174] leads to a worker that asks: announced, one click away, read-only, answered there', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'work');
    const call = page.locator('.worker-link');
    await call.getByText('Write the file').waitFor();
    const waiting = page.getByRole('list', { name: 'Waiting in other chats' });
    await waiting.getByText('needs you').waitFor();
    expect(
      await chats(page)
        .getByRole('link', { name: /Write the file Worker Needs you/ })
        .count(),
    ).toBe(1);
    expect(await problemsOf(page)).toEqual([]);
    await waiting.getByRole('link', { name: 'Go there to Write the file' }).click();
    await page.getByText('only agents write in this chat').waitFor();
    expect(await field(page).count()).toBe(0);
    await page.getByRole('article', { name: 'An agent said' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('The file is there.').waitFor();
    await chats(page).getByRole('link').first().click();
    await page.getByText('The worker says: The file is there.').waitFor();
    await call.getByText('Done').waitFor();
    expect(await waiting.count()).toBe(0);
    await call.click();
    await page.getByText('only agents write in this chat').waitFor();
  });

  it('[UP-039] opens an empty chat beside the first, and keeps a text for each', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link, PHONE);
    await begin(page, 'count');
    await page.getByText('seven tests').waitFor();
    await field(page).fill('for the first');
    await page.getByRole('button', { name: 'New chat' }).click();
    await chats(page).waitFor();
    await page.getByText('Nothing has been said yet').waitFor();
    expect(await field(page).inputValue()).toBe('');
    await field(page).fill('for the second');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await chats(page).getByRole('link').first().click();
    await expect.poll(() => field(page).inputValue(), POLL).toBe('for the first');
    await chats(page).getByRole('link').last().click();
    await expect.poll(() => field(page).inputValue(), POLL).toBe('for the second');
    expect(await problemsOf(page)).toEqual([]);
  });
});
