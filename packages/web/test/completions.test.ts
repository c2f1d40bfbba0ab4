/** Mentions in a message: asked for at the caret, chosen with keys, and sent along. */
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { expect, it } from 'vitest';
import { inserted, isMention } from '../src/composer/mention.js';
import { begin, describeInBrowser, PHONE, POLL, pass } from './support/browser.js';
import { puppetSession, said, startPuppetHost } from './support/puppet-host.js';
import { startWorkHost } from './support/work-host.js';

const FILES = {
  'src/parser.ts': 'export class Parser {}\n\nexport function parseLine(text: string) {}\n',
  'src/printer.ts': 'export const printer = 1;\n',
  '.agents/skills/deploy/SKILL.md': '---\nname: deploy\ndescription: Puts it online\n---\nDo it.\n',
};

it('finds a mention in front of the caret, and nowhere else', () => {
  const triggers = ['@', '#'];
  expect(isMention('look at @par', 12, triggers)).toBe(true);
  expect(isMention('look at @par now', 12, triggers)).toBe(true);
  expect(isMention('look at @par now', 16, triggers)).toBe(false);
  expect(isMention('see (#sym', 9, triggers)).toBe(true);
  expect(isMention('me@example.org', 14, triggers)).toBe(false);
  expect(isMention('@', 0, triggers)).toBe(false);
});

it('inserts what was found before the last letters were typed, but not into another text', () => {
  const item = {
    insertText: '@parser.ts ',
    rangeStart: 5,
    rangeEnd: 8,
    attachment: { type: 'simple' as const, label: 'x' },
  };
  const found = { text: 'read @pa now', caret: 8, items: [item] } as const;
  expect(inserted({ ...found, items: [item] }, item, 'read @pars now')).toEqual({
    text: 'read @parser.ts  now',
    caret: 16,
  });
  expect(inserted({ ...found, items: [item] }, item, 'write @pa now')).toBeUndefined();
  expect(inserted({ ...found, items: [] }, item, 'read @pa now')).toBeUndefined();
});

describeInBrowser('completions in the composer', (open) => {
  it('[AHP-024] asks when a trigger character is typed, and shows what the real host finds', async () => {
    const { link } = await startWorkHost({ files: FILES });
    const page = await open(link);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    const list = page.getByRole('listbox', { name: 'Completions' });
    await field.pressSequentially('read @par');
    await list.getByRole('option', { name: '@src/parser.ts' }).waitFor();
    expect(await field.getAttribute('aria-activedescendant')).toBe(
      await list.getByRole('option', { selected: true }).getAttribute('id'),
    );
    await field.press('Tab');
    expect(await field.inputValue()).toBe('read @src/parser.ts ');
    await field.pressSequentially('and #parseL');
    await list.getByRole('option', { name: '#parseLine' }).waitFor();
    await field.press('Enter');
    expect(await field.inputValue()).toBe('read @src/parser.ts and #parseLine ');
    const chips = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem');
    expect(await chips.count()).toBe(2);
    await page.reload();
    await expect.poll(() => chips.count(), POLL).toBe(2);
    expect(await field.inputValue()).toBe('read @src/parser.ts and #parseLine ');
    await field.press('Enter');
    await page.getByText('You said: read @src/parser.ts and #parseLine').waitFor();
    const sent = page.locator('.user-message').last().getByRole('list', { name: 'Attachments' });
    expect(await sent.getByRole('listitem').first().innerText()).toBe('src/parser.ts');
  });

  it('completes a first message in the folder of its session, and runs commands of the page [DAY-121] [DAY-126]', async () => {
    const { link } = await startWorkHost({ files: FILES, isRepository: true });
    const page = await open(link);
    const field = page.getByRole('textbox', { name: 'First message' });
    const options = page.getByRole('listbox', { name: 'Completions' }).getByRole('option');
    await field.pressSequentially('/dep');
    await expect.poll(() => options.allInnerTexts(), POLL).toEqual([expect.stringContaining('/deploy')]);
    await field.fill('');
    await field.pressSequentially('/mo');
    await expect.poll(() => options.count(), POLL).toBe(2);
    expect((await options.allInnerTexts()).join()).toMatch(/\/model.*\/mode/s);
    await field.fill('/mode plan');
    await field.press('Enter');
    await page
      .getByText(/^Plan: /)
      .first()
      .waitFor();
    expect(await field.inputValue()).toBe('');
    expect(await page.getByLabel('Mode', { exact: true }).inputValue()).toBe('plan');
    await page.getByLabel('Works in').selectOption('worktree');
    await field.pressSequentially('read @par');
    await options.first().waitFor();
    await field.press('Enter');
    expect(await field.inputValue()).toBe('read @src/parser.ts ');
    await field.press('Enter');
    await page.getByText('You said: read @src/parser.ts').waitFor();
    const file = page.locator('.user-message').getByRole('list', { name: 'Attachments' }).getByRole('listitem');
    expect(await file.innerText()).toBe('src/parser.ts');
    await page
      .getByRole('navigation', { name: 'Sessions' })
      .getByText(/atrium\/read/)
      .waitFor();
  });

  it('[AHP-024] asks for commands at the beginning, walks through them with keys, and closes with Escape', async () => {
    const { link } = await startWorkHost({ files: FILES });
    const page = await open(link, PHONE);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    const options = page.getByRole('listbox', { name: 'Completions' }).getByRole('option');
    await field.pressSequentially('/dep');
    await expect.poll(() => options.allInnerTexts(), POLL).toEqual([expect.stringContaining('/deploy')]);
    await field.press('Escape');
    expect(await options.count()).toBe(0);
    await field.fill('');
    await field.pressSequentially('@src');
    await expect.poll(() => options.count(), POLL).toBe(2);
    await field.press('ArrowDown');
    expect(await options.nth(1).getAttribute('aria-selected')).toBe('true');
    await field.press('ArrowDown');
    expect(await options.nth(0).getAttribute('aria-selected')).toBe('true');
    await options.nth(1).click();
    expect(await field.inputValue()).toBe('@src/printer.ts ');
  });

  it('[AHP-024] [CLI-027] asks once for letters in a row, and sends the attachment back as it came', async () => {
    const attachment = { type: 'simple', label: 'main.ts', _meta: { ticket: { deep: [1, 2] } } };
    const item = { insertText: '#main.ts', rangeStart: 4, rangeEnd: 7, attachment };
    const host = await startPuppetHost({
      session: puppetSession({}),
      answer: (method) => (method === 'completions' ? { items: [item] } : undefined),
    });
    const page = await open(host.link);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.pressSequentially('see ');
    await pass(page, 300);
    expect(host.ofMethod('completions')).toEqual([]);
    await field.pressSequentially('#ma');
    await page.getByRole('option', { name: '#main.ts' }).waitFor();
    expect(host.ofMethod('completions').at(-1)?.params).toMatchObject({
      channel: defaultChatUri('ahp-session:/puppet'),
      kind: 'userMessage',
      text: 'see #ma',
      offset: 7,
    });
    await field.press('Enter');
    await pass(page, 300);
    expect(await page.getByRole('option').count()).toBe(0);
    await field.press('Enter');
    const sent = () => host.ofMethod('dispatchAction').map(({ params }) => params.action);
    await expect
      .poll(sent, POLL)
      .toContainEqual(expect.objectContaining({ message: { ...said('see #main.ts'), attachments: [attachment] } }));
  });
});

describeInBrowser('commands in the composer', (open) => {
  it('asks before it sends one that is not there, with the nearest name, and sends it with a second slash [DAY-080]', async () => {
    const { link } = await startWorkHost({ files: FILES });
    const page = await open(link);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('/deplyo now');
    await field.press('Enter');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.locator('span').innerText()).toBe(
      'There is no command /deplyo. Did you mean /deploy? To send it as a text, write //deplyo',
    );
    expect(await field.inputValue()).toBe('/deplyo now');
    await alert.getByRole('button', { name: '/deploy' }).click();
    expect(await field.inputValue()).toBe('/deploy now');
    expect(await alert.count()).toBe(0);
    await field.fill('/nope');
    await field.press('Enter');
    await alert.getByRole('button', { name: 'Send as text' }).click();
    await page.getByText('You said: /nope').waitFor();
    await field.fill('//deplyo now');
    expect(await alert.count()).toBe(0);
    await field.press('Enter');
    await page.getByText('You said: /deplyo now').waitFor();
    await field.fill('/deploy now');
    await field.press('Enter');
    await page.getByText('You said: /deploy now').waitFor();
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['hello', '/nope', '/deplyo now', '/deploy now']);
  });

  it('has those of the table, completes them and their arguments, and runs them [DAY-080]', async () => {
    const { link } = await startWorkHost({ files: FILES });
    const page = await open(link);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    const options = page.getByRole('listbox', { name: 'Completions' }).getByRole('option');
    await field.pressSequentially('/ren');
    await expect.poll(() => options.allInnerTexts(), POLL).toEqual([expect.stringMatching(/\/rename <text>\s+rename/)]);
    await field.press('Enter');
    expect(await field.inputValue()).toBe('/rename ');
    await field.pressSequentially('Rain and sun');
    await field.press('Enter');
    await page.getByRole('heading', { name: 'Rain and sun' }).waitFor();
    expect(await field.inputValue()).toBe('');
    await field.pressSequentially('/auto o');
    await expect.poll(() => options.allInnerTexts(), POLL).toEqual(['on', 'off']);
    await field.press('ArrowDown');
    await field.press('Enter');
    expect(await field.inputValue()).toBe('/auto off ');
    await field.press('Enter');
    await page.getByText('Tools ask first.').waitFor();
    await field.pressSequentially('/open pars');
    await expect.poll(() => options.first().innerText(), POLL).toContain('src/parser.ts');
    await field.press('Enter');
    expect(await field.inputValue()).toBe('/open src/parser.ts ');
    expect(await page.getByRole('list', { name: 'Attachments' }).count()).toBe(0);
    await field.fill('/archive');
    await field.press('Enter');
    await page.getByText('This session is put aside').waitFor();
    const saved = page.waitForEvent('download');
    await field.fill('/export');
    await field.press('Enter');
    expect((await saved).suggestedFilename()).toBe('Rain-and-sun.md');
    await field.fill('/help');
    await field.press('Enter');
    const help = page.getByRole('dialog', { name: 'Keyboard and commands' });
    await help.getByText('/compact [what to keep]').waitFor();
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['hello']);
  });

  it('begins a session with one, and keeps a mistyped one in the field', async () => {
    const { link } = await startWorkHost({ files: FILES });
    const page = await open(link);
    await begin(page, '/deploy it');
    await page.getByText('You said: /deploy it').waitFor();
    await page.getByRole('link', { name: 'New', exact: true }).click();
    await begin(page, '/deplyo it');
    await page.getByText('Did you mean /deploy?').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe('/deplyo it');
    expect(await page.locator('.bubble').count()).toBe(0);
  });
});
