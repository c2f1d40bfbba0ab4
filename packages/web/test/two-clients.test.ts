/** Two browsers on one session: a whole coding task, approved from the phone. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { begin, choose, DESKTOP, describeInBrowser, PHONE } from './support/browser.js';
import { startPageHost, TOKEN } from './support/page-host.js';

const PROMPTS = {
  'fix it': [
    { title: 'Fix the sum' },
    { reasoning: 'The loop looks wrong.' },
    { callTool: { name: 'read_file', input: { path: 'sum.js' } } },
    { text: 'I will change **one line**.' },
    { callTool: { name: 'edit_file', input: { path: 'sum.js', oldText: 'total = v', newText: 'total += v' } } },
    { text: 'Done: ${lastResult}' },
    { usage: { inputTokens: 1200, outputTokens: 30 } },
  ],
  'ask me': [
    {
      ask: {
        message: 'First:',
        questions: [{ kind: 'text' as const, id: 'name', message: 'What name?', required: true }],
      },
    },
    { text: 'Answered: ${lastResult}' },
  ],
  survey: [
    {
      ask: {
        message: 'Before I start:',
        questions: [
          {
            kind: 'single-select' as const,
            id: 'order',
            message: 'Which order?',
            allowFreeformInput: true,
            options: [
              { id: 'up', label: 'Ascending' },
              { id: 'down', label: 'Descending' },
            ],
          },
          {
            kind: 'multi-select' as const,
            id: 'where',
            message: 'Where?',
            options: [
              { id: 'page', label: 'Page' },
              { id: 'shell', label: 'Shell' },
            ],
          },
          { kind: 'integer' as const, id: 'most', message: 'How many?' },
          { kind: 'boolean' as const, id: 'docs', message: 'Docs, too?' },
        ],
      },
    },
    { text: 'Answered: ${lastResult}' },
  ],
  wait: [{ text: 'Working' }, { delayMs: 60_000 }],
};

describeInBrowser('two clients on one session', (open) => {
  it('runs a coding task on the desktop that the phone approves', async () => {
    const { link, folder } = await startPageHost(PROMPTS);
    const file = path.join(folder, 'sum.js');
    await writeFile(file, 'for (const v of values) total = v;\n');
    const desktop = await open(link);
    await begin(desktop, 'fix it');
    await desktop.getByText('Edit sum.js?').waitFor();
    expect(await readFile(file, 'utf8')).toContain('total = v');

    const phone = await open(link, PHONE);
    await choose(phone, /Fix the sum.*Needs you/);
    const question = phone.getByRole('group', { name: 'Permission' });
    await question.waitFor();
    expect(await phone.locator('.diff .line.added').innerText()).toContain('total += v');
    await question.getByRole('button', { name: 'Allow', exact: true }).click();

    await desktop.getByText(/Done: Edited sum\.js/).waitFor();
    await phone.getByText(/Done: Edited sum\.js/).waitFor();
    expect(await readFile(file, 'utf8')).toContain('total += v');
    expect(await desktop.getByRole('group', { name: 'Permission' }).count()).toBe(0);
    expect(await desktop.locator('.turn-end .usage').innerText()).toBe('1.2k in · 30 out');
  });

  it('shows on the phone what is typed into a question on the desktop', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desktop = await open(link);
    await begin(desktop, 'ask me');
    const phone = await open(link, PHONE);
    await choose(phone, /Needs you/);
    await phone.getByRole('textbox', { name: /What name/ }).waitFor();
    await desktop.getByRole('textbox', { name: /What name/ }).fill('atrium');
    await phone.waitForFunction(() => document.querySelector<HTMLInputElement>('.ask input')?.value === 'atrium');
    await phone.getByRole('button', { name: 'Answer' }).click();
    await desktop.getByText(/Answered:.*atrium/).waitFor();
  });

  it('ends a survey on the phone that the desktop began, and loses none of two messages sent at once [CLI-037]', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desktop = await open(link);
    await begin(desktop, 'survey');
    await desktop.getByRole('radio', { name: 'Descending' }).click();
    await desktop.getByRole('checkbox', { name: 'Page' }).click();
    const phone = await open(link, PHONE);
    await choose(phone, /Needs you/);
    await phone.getByRole('radio', { name: 'Descending', checked: true }).waitFor();
    await phone.getByRole('checkbox', { name: 'Shell' }).click();
    await phone.getByRole('spinbutton', { name: 'How many?' }).fill('7');
    await phone.getByRole('radio', { name: 'Yes' }).click();
    await desktop.getByRole('checkbox', { name: 'Shell', checked: true }).waitFor();
    const ends = await phone
      .locator('.ask .buttons, .composer')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().bottom));
    expect(Math.max(...ends)).toBeLessThanOrEqual(PHONE.viewport?.height ?? 0);
    await phone.getByRole('button', { name: 'Answer' }).click();
    const answer = desktop.getByText(/Answered:/);
    await answer.waitFor();
    for (const part of ['down', 'page', 'shell', '7', 'true']) expect(await answer.innerText()).toContain(part);

    // Both send a message at the same moment: one begins a turn, the other waits, and none is lost.
    const pages = { desk: desktop, phone };
    for (const [name, page] of Object.entries(pages))
      await page.getByRole('textbox', { name: 'Message' }).fill(`from the ${name}`);
    await Promise.all(
      Object.values(pages).map((page) => page.getByRole('textbox', { name: 'Message' }).press('Enter')),
    );
    for (const name of Object.keys(pages)) await phone.getByText(`You said: from the ${name}`).waitFor();
  });

  it('sends the last letter, too, when Enter follows at once', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desktop = await open(link);
    await begin(desktop, 'ask me');
    const field = desktop.getByRole('textbox', { name: /What name/ });
    await field.press('Enter');
    await desktop.getByText('This needs an answer.').waitFor();
    await field.focus();
    await desktop.keyboard.type('quick');
    await desktop.keyboard.press('Enter');
    await desktop.getByText(/Answered:.*quick/).waitFor();
  });

  it('queues, steers, takes back and stops', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desktop = await open(link);
    await begin(desktop, 'wait');
    const field = desktop.getByRole('textbox', { name: 'Message' });
    await desktop.getByRole('button', { name: 'Stop' }).waitFor();
    await field.fill('later');
    await field.press('Enter');
    await field.fill('sooner');
    await field.press('Control+Enter');
    const waiting = desktop.getByRole('list', { name: 'Waiting messages' });
    await waiting.getByText('Steering').waitFor();
    expect(await waiting.innerText()).toMatch(/Steering[\s\S]*sooner[\s\S]*Queued[\s\S]*later/);
    await waiting.getByRole('button', { name: 'Take back' }).last().click();
    await waiting.getByText('later').waitFor({ state: 'detached' });
    await desktop.getByRole('button', { name: 'Stop' }).click();
    await desktop.getByText('Stopped', { exact: true }).waitFor();
  });

  it('says a message differently, and forks', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desktop = await open(link);
    await begin(desktop, 'first');
    await desktop.getByText('You said: first').waitFor();
    await desktop.locator('.bubble').hover();
    await desktop.getByRole('button', { name: 'Edit and resend' }).click();
    const field = desktop.getByRole('textbox', { name: 'Message' });
    await field.fill('second');
    await field.press('Enter');
    await desktop.getByText('You said: second').waitFor();
    expect(await desktop.getByText('You said: first').count()).toBe(0);

    await desktop.locator('.turn-end').hover();
    await desktop.getByRole('button', { name: 'New session from here' }).click();
    await desktop.getByText('This is the fork').waitFor();
    await desktop.getByText('You said: second').waitFor();
    expect(await desktop.locator('.session-item').count()).toBe(2);
  });

  it('keeps the token out of the address, and asks for it where there is none', async () => {
    const { link, url } = await startPageHost(PROMPTS);
    const desktop = await open(link, DESKTOP, { isNew: true });
    await desktop.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    expect(desktop.url()).not.toContain(TOKEN);
    expect(await desktop.evaluate(() => history.length)).toBeLessThanOrEqual(2);

    const stranger = await open(url);
    await stranger.getByLabel('Token, link, or the eight digits of a code').fill(`${url}#token=${TOKEN}`);
    await stranger.getByRole('button', { name: 'Connect' }).click();
    await stranger.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    expect(stranger.url()).not.toContain(TOKEN);
  });
});
