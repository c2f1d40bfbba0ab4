/** Two browsers on one session: a whole coding task, approved from the phone. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { begin, choose, DESK, describeInBrowser, PHONE } from './support/browser.js';
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
  it('runs a coding task on the desk that the phone approves', async () => {
    const { link, folder } = await startPageHost(PROMPTS);
    const file = path.join(folder, 'sum.js');
    await writeFile(file, 'for (const v of values) total = v;\n');
    const desk = await open(link);
    await begin(desk, 'fix it');
    await desk.getByText('Edit sum.js?').waitFor();
    expect(await readFile(file, 'utf8')).toContain('total = v');

    const phone = await open(link, PHONE);
    await choose(phone, /Fix the sum.*Needs you/);
    const question = phone.getByRole('group', { name: 'Permission' });
    await question.waitFor();
    expect(await phone.locator('.diff .line.added').innerText()).toContain('total += v');
    await question.getByRole('button', { name: 'Allow', exact: true }).click();

    await desk.getByText(/Done: Edited sum\.js/).waitFor();
    await phone.getByText(/Done: Edited sum\.js/).waitFor();
    expect(await readFile(file, 'utf8')).toContain('total += v');
    expect(await desk.getByRole('group', { name: 'Permission' }).count()).toBe(0);
    expect(await desk.locator('.turn-end .usage').innerText()).toBe('1.2k in · 30 out');
  });

  it('shows on the phone what is typed into a question on the desk', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desk = await open(link);
    await begin(desk, 'ask me');
    const phone = await open(link, PHONE);
    await choose(phone, /Needs you/);
    await phone.getByRole('textbox', { name: /What name/ }).waitFor();
    await desk.getByRole('textbox', { name: /What name/ }).fill('atrium');
    await phone.waitForFunction(() => document.querySelector<HTMLInputElement>('.ask input')?.value === 'atrium');
    await phone.getByRole('button', { name: 'Answer' }).click();
    await desk.getByText(/Answered:.*atrium/).waitFor();
  });

  it('begins a survey on the desk and ends it on the phone, where the place to write stays in view', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desk = await open(link);
    await begin(desk, 'survey');
    await desk.getByRole('radio', { name: 'Descending' }).click();
    await desk.getByRole('checkbox', { name: 'Page' }).click();
    const phone = await open(link, PHONE);
    await choose(phone, /Needs you/);
    await phone.getByRole('radio', { name: 'Descending', checked: true }).waitFor();
    await phone.getByRole('checkbox', { name: 'Shell' }).click();
    await phone.getByRole('spinbutton', { name: 'How many?' }).fill('7');
    await phone.getByRole('radio', { name: 'Yes' }).click();
    await desk.getByRole('checkbox', { name: 'Shell', checked: true }).waitFor();
    const ends = await phone
      .locator('.ask .buttons, .composer')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().bottom));
    expect(Math.max(...ends)).toBeLessThanOrEqual(PHONE.viewport?.height ?? 0);
    await phone.getByRole('button', { name: 'Answer' }).click();
    const answer = desk.getByText(/Answered:/);
    await answer.waitFor();
    for (const part of ['down', 'page', 'shell', '7', 'true']) expect(await answer.innerText()).toContain(part);
  });

  it('sends the last letter, too, when Enter follows at once', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desk = await open(link);
    await begin(desk, 'ask me');
    const field = desk.getByRole('textbox', { name: /What name/ });
    await field.press('Enter');
    await desk.getByText('This needs an answer.').waitFor();
    await field.focus();
    await desk.keyboard.type('quick');
    await desk.keyboard.press('Enter');
    await desk.getByText(/Answered:.*quick/).waitFor();
  });

  it('queues, steers, takes back and stops', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desk = await open(link);
    await begin(desk, 'wait');
    const field = desk.getByRole('textbox', { name: 'Message' });
    await desk.getByRole('button', { name: 'Stop' }).waitFor();
    await field.fill('later');
    await field.press('Enter');
    await field.fill('sooner');
    await field.press('Control+Enter');
    const waiting = desk.getByRole('list', { name: 'Waiting messages' });
    await waiting.getByText('Steering').waitFor();
    expect(await waiting.innerText()).toMatch(/Steering[\s\S]*sooner[\s\S]*Queued[\s\S]*later/);
    await waiting.getByRole('button', { name: 'Take back' }).last().click();
    await waiting.getByText('later').waitFor({ state: 'detached' });
    await desk.getByRole('button', { name: 'Stop' }).click();
    await desk.getByText('Stopped', { exact: true }).waitFor();
  });

  it('says a message differently, and forks', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desk = await open(link);
    await begin(desk, 'first');
    await desk.getByText('You said: first').waitFor();
    await desk.locator('.bubble').hover();
    await desk.getByRole('button', { name: 'Edit and resend' }).click();
    const field = desk.getByRole('textbox', { name: 'Message' });
    await field.fill('second');
    await field.press('Enter');
    await desk.getByText('You said: second').waitFor();
    expect(await desk.getByText('You said: first').count()).toBe(0);

    await desk.locator('.turn-end').hover();
    await desk.getByRole('button', { name: 'Fork from here' }).click();
    await desk.getByText('This is the fork').waitFor();
    await desk.getByText('You said: second').waitFor();
    expect(await desk.locator('.session-item').count()).toBe(2);
  });

  it('keeps the token out of the address, and asks for it where there is none', async () => {
    const { link, url } = await startPageHost(PROMPTS);
    const desk = await open(link, DESK, { isNew: true });
    await desk.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    expect(desk.url()).not.toContain(TOKEN);
    expect(await desk.evaluate(() => history.length)).toBeLessThanOrEqual(2);

    const stranger = await open(url);
    await stranger.getByLabel('Token, or the link that the host printed').fill(`${url}#token=${TOKEN}`);
    await stranger.getByRole('button', { name: 'Connect' }).click();
    await stranger.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    expect(stranger.url()).not.toContain(TOKEN);
  });
});
