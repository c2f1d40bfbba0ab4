/** The files of a session's folder: a tree that keeps up, and a look into one file. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { connect, REQUEST_TIMEOUT_MS } from '@atrium/client';
import { ACTIVITY_MASK, SessionStatus } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { sorted } from '../src/files/entries.js';
import { stepTo } from '../src/files/virtual-list.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { TOKEN } from './support/page-host.js';
import { said } from './support/puppet-host.js';
import { complaintsOf, openTab, startWorkHost } from './support/work-host.js';

/** One red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const PROMPTS = {
  edit: [
    { callTool: { name: 'edit_file', input: { path: 'src/sum.ts', oldText: '1', newText: '2' } } },
    { text: 'Edited.' },
  ],
};

it('sorts folders first, and 2 before 10', () => {
  const entries = ['b10', 'b2', 'a'].map((name) => ({ name, type: 'file' as const }));
  expect(sorted([...entries, { name: 'z', type: 'directory' }]).map(({ name }) => name)).toEqual([
    'z',
    'a',
    'b2',
    'b10',
  ]);
});

it('walks through a list with keys, and jumps to names by their letters', () => {
  const names = ['apps', 'docs', 'data', 'x'];
  expect(stepTo('ArrowDown', 3, names)).toBe(3);
  expect(stepTo('End', 0, names)).toBe(3);
  expect(stepTo('d', 0, names)).toBe(1);
  expect(stepTo('d', 1, names)).toBe(2);
  expect(stepTo('d', 2, names)).toBe(1);
  expect(stepTo('q', 0, names)).toBeUndefined();
});

describeInBrowser('files', (open) => {
  it('unfolds folders when asked, shows a file in colours, and keeps up with both', async () => {
    const files = { 'src/sum.ts': 'export const sum = 1;\n', 'docs/a.md': '# A\n', 'z.txt': 'z\n' };
    const { link, folder } = await startWorkHost({ files });
    const page = await open(link);
    const complaints = complaintsOf(page);
    await begin(page, 'hello');
    await openTab(page, 'Files');
    const rows = page.getByRole('tree', { name: 'Files' }).getByRole('treeitem');
    await expect.poll(() => rows.allInnerTexts(), POLL).toEqual(['docs', 'src', 'z.txt']);
    await rows.nth(1).click();
    await expect.poll(() => rows.allInnerTexts(), POLL).toEqual(['docs', 'src', 'sum.ts', 'z.txt']);
    await writeFile(path.join(folder, 'src/more.ts'), 'x\n');
    await mkdir(path.join(folder, 'assets'));
    await expect
      .poll(() => rows.allInnerTexts(), POLL)
      .toEqual(['assets', 'docs', 'src', 'more.ts', 'sum.ts', 'z.txt']);
    await rows.filter({ hasText: 'sum.ts' }).click();
    const file = page.getByRole('region', { name: 'src/sum.ts' });
    await file.locator('.hljs-keyword').first().waitFor();
    await writeFile(path.join(folder, 'src/sum.ts'), 'export const sum = 42;\n');
    await file.getByText('42').waitFor();
    await rm(path.join(folder, 'src/sum.ts'));
    await file.getByText('This file is not there (any more).').waitFor();
    await page.getByRole('button', { name: 'All files' }).click();
    await expect.poll(() => rows.allInnerTexts(), POLL).toEqual(['assets', 'docs', 'src', 'more.ts', 'z.txt']);
    expect(complaints).toEqual([]);
  });

  it('shows pictures, and says why it does not show what is no text or too large', async () => {
    const files = {
      'a.png': PNG,
      'b.bin': new Uint8Array([0, 1, 2, 255]),
      'c.txt': 'x'.repeat(2 * 2 ** 20),
      'd.txt': '',
    };
    const { link } = await startWorkHost({ files });
    const page = await open(link, PHONE);
    const complaints = complaintsOf(page);
    await begin(page, 'hello');
    await openTab(page, 'Files');
    const look = async (name: string) => {
      await page.getByRole('treeitem', { name }).click();
      return page.getByRole('region', { name });
    };
    const back = () => page.getByRole('button', { name: 'All files' }).click();
    const picture = (await look('a.png')).getByRole('img', { name: 'a.png' });
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth), POLL).toBe(1);
    await back();
    await (await look('b.bin')).getByText('This file is not text (4 bytes), so it is not shown.').waitFor();
    await back();
    await (await look('c.txt')).getByText('With 2.1 MB this file is too large to be shown here.').waitFor();
    await back();
    await (await look('d.txt')).getByText('This file is empty.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('lists ten thousand files, of which few are drawn, and walks to the last one', async () => {
    const { link, folder } = await startWorkHost({});
    for (let at = 0; at < 10_000; at += 500) {
      const some = Array.from({ length: 500 }, (_, index) => `file-${at + index}.txt`);
      await Promise.all(some.map((name) => writeFile(path.join(folder, name), '')));
    }
    const page = await open(link);
    await begin(page, 'hello');
    await openTab(page, 'Files');
    const tree = page.getByRole('tree', { name: 'Files' });
    await tree.getByRole('treeitem', { name: 'file-0.txt' }).waitFor();
    expect(await tree.getByRole('treeitem').count()).toBeLessThan(100);
    await tree.press('End');
    const last = tree.getByRole('treeitem', { name: 'file-9999.txt' });
    await last.waitFor();
    expect(await last.getAttribute('aria-setsize')).toBe('10000');
    expect(await tree.getAttribute('aria-activedescendant')).toBe(await last.getAttribute('id'));
  });

  it('opens a file from what a tool did, and from a mention', async () => {
    const { link } = await startWorkHost({ files: { 'src/sum.ts': 'export const sum = 1;\n' }, prompts: PROMPTS });
    const page = await open(link);
    await begin(page, 'edit');
    await page.locator('.diff').getByRole('button', { name: 'src/sum.ts' }).click();
    const file = page.getByRole('region', { name: 'src/sum.ts' });
    await file.getByText('sum').first().waitFor();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Edited.').waitFor();
    await expect.poll(() => file.innerText(), POLL).toContain('sum = 2');
    await page.getByRole('button', { name: 'All files' }).click();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.pressSequentially('see @sum');
    await page.getByRole('option', { name: '@src/sum.ts' }).click();
    await field.press('Enter');
    await page.locator('.user-message').last().getByRole('button', { name: 'src/sum.ts' }).click();
    await file.waitFor();
  });

  it('asks for a file outside of the folder, and shows it once somebody in the session agrees', async () => {
    const { link, folder } = await startWorkHost({});
    const outside = path.join(path.dirname(folder), 'outside.txt');
    await writeFile(outside, 'from outside\n');
    const page = await open(link, PHONE);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await mention(link, outside);
    await page.getByRole('button', { name: 'outside' }).click();
    await page.getByText('The host does not show this file here').waitFor();
    await page.getByRole('button', { name: 'Ask to see it' }).click();
    const question = page.getByRole('form', { name: 'Question' });
    await question.getByText('outside.txt').first().waitFor();
    await question.getByRole('button', { name: 'Agree' }).click();
    await page.getByRole('button', { name: 'Details', exact: true }).click();
    await page.getByText('from outside').waitFor();
  });

  it('waits for people as long as it takes: their answer counts after the request has given up', async () => {
    const { link, folder } = await startWorkHost({});
    const outside = path.join(path.dirname(folder), 'outside.txt');
    await writeFile(outside, 'from outside\n');
    const page = await open(link);
    const unanswered = requestsOf(page);
    await page.reload();
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await mention(link, outside);
    await page.getByRole('button', { name: 'outside' }).click();
    await page.clock.install();
    await page.getByRole('button', { name: 'Ask to see it' }).click();
    const question = page.getByRole('form', { name: 'Question' });
    await question.getByText('outside.txt').first().waitFor();
    // Whatever else the page has asked for would give up, too.
    await expect.poll(() => [...unanswered.values()]).toEqual(['resourceRequest']);
    await page.clock.fastForward(REQUEST_TIMEOUT_MS + 1_000);
    await page.getByRole('button', { name: 'The question is in the session' }).waitFor();
    expect(await page.getByText('did not answer in time').count()).toBe(0);
    await question.getByRole('button', { name: 'Agree' }).click();
    await page.getByText('from outside').waitFor();
  });
});

/** The methods that the page has called and that the host has not answered yet, by the numbers of the calls. */
function requestsOf(page: Page): ReadonlyMap<number, string> {
  const unanswered = new Map<number, string>();
  const parsed = (payload: string | Buffer) => JSON.parse(String(payload)) as { id?: number; method?: string };
  page.on('websocket', (socket) => {
    unanswered.clear();
    socket.on('framesent', ({ payload }) => {
      const { id, method } = parsed(payload);
      if (id !== undefined && method !== undefined) unanswered.set(id, method);
    });
    socket.on('framereceived', ({ payload }) => {
      const { id, method } = parsed(payload);
      if (id !== undefined && method === undefined) unanswered.delete(id);
    });
  });
  return unanswered;
}

/** Another client attaches a file to a message. */
async function mention(link: string, file: string): Promise<void> {
  const client = await connect({ url: link.replace(/^http(.*)#.*/, 'ws$1'), token: TOKEN });
  // What is on the page may be the whole answer, and its turn not over yet.
  await expect
    .poll(async () => (await client.listSessions())[0]?.status)
    .toSatisfy((status) => (Number(status) & ACTIVITY_MASK) === SessionStatus.Idle);
  const [session] = await client.listSessions();
  const attachments = [{ type: 'resource' as const, label: 'outside', uri: pathToFileURL(file).href }];
  const opened = await client.open(session?.resource ?? '');
  await opened.dispatch({ type: 'chat/turnStarted', turnId: 'other', message: { ...said('see'), attachments } });
  client.close();
}
