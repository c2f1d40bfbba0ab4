/** Terminals of the host, watched and used from several browsers at once. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { isDark } from '../src/terminals/colours.js';
import { UNREAD_MAX_CHARACTERS, UnreadOutput } from '../src/terminals/unread.js';
import { begin, choose, describeInBrowser, PHONE } from './support/browser.js';
import { complaintsOf, openTab, startWorkHost } from './support/work-host.js';

const POLL = { timeout: 8_000 };
/** For four hundred thousand lines. */
const LONG = { timeout: 15_000 };
const COUNT = 'for i in 1 2 3 4 5 6 7 8 9; do echo "tick $i"; sleep 0.5; done';
const PROMPTS = {
  hello: [{ title: 'Hello' }, { text: 'You said: hello' }],
  run: [
    { title: 'Run it' },
    { callTool: { name: 'shell', input: { command: COUNT } } },
    { text: 'Result: ${lastResult}' },
  ],
  ask: [
    { title: 'Ask me' },
    { callTool: { name: 'shell', input: { command: 'printf "name? "; read name; echo "hello $name"' } } },
    { text: 'Result: ${lastResult}' },
  ],
};

it('reads only what is new, and notices what was cleared or replaced', () => {
  const unread = new UnreadOutput();
  const part = (value: string) => ({ type: 'unclassified' as const, value });
  const command = (output: string) => ({
    ...{ type: 'command' as const, commandId: '1', commandLine: 'x', timestamp: 0, isComplete: false },
    output,
  });
  expect(unread.take([part('$ ')])).toEqual({ text: '$ ', isFresh: true });
  expect(unread.take([part('$ ls'), command('a\n')])).toEqual({ text: 'lsa\n', isFresh: false });
  expect(unread.take([part('$ ls'), command('a\nb\n')])).toEqual({ text: 'b\n', isFresh: false });
  expect(unread.take([part('$ ls'), command('a\nb\n')])).toEqual({ text: '', isFresh: false });
  expect(unread.take([part('new')])).toEqual({ text: 'new', isFresh: true });
  expect(unread.take([part('other text')])).toEqual({ text: 'other text', isFresh: true });
  expect(unread.take([])).toEqual({ text: '', isFresh: true });
  const much = unread.take([part('line\n'.repeat(UNREAD_MAX_CHARACTERS))]);
  expect(much.isFresh).toBe(true);
  expect(much.text.length).toBeLessThan(UNREAD_MAX_CHARACTERS);
  expect(much.text.startsWith('line\n')).toBe(true);
});

it('tells dark from light', () => {
  expect(isDark('rgb(17, 18, 17)')).toBe(true);
  expect(isDark('rgb(243, 241, 237)')).toBe(false);
});

function screenOf(page: Page) {
  const screen = page.locator('.terminal-screen');
  return {
    text: () => screen.locator('.xterm-rows').innerText(),
    type: async (keys: string) => {
      await screen.locator('textarea').focus();
      await page.keyboard.type(keys);
      await page.keyboard.press('Enter');
    },
    columns: () => page.locator('.terminal-bar [role=status]').innerText(),
  };
}

describeInBrowser('terminals', (open) => {
  it('shares one: the desk opens it, both see it, the phone types', async () => {
    const { link, folder } = await startWorkHost({ files: { 'a.txt': 'a\n' }, prompts: PROMPTS });
    const desk = await open(link);
    const complaints = complaintsOf(desk);
    await begin(desk, 'hello');
    await desk.getByText('You said: hello').waitFor();
    await openTab(desk, 'Terminal');
    await desk.getByRole('button', { name: 'New terminal' }).click();
    const onDesk = screenOf(desk);
    await expect.poll(onDesk.text, POLL).toMatch(/[$#] /);
    await onDesk.type('ls; echo "from the desk"');
    await expect.poll(onDesk.text, POLL).toMatch(/a\.txt\s+from the desk/);
    await expect.poll(onDesk.columns, POLL).toMatch(/Yours|yours/);

    const phone = await open(link, PHONE);
    await choose(phone, /Hello/);
    await openTab(phone, 'Terminal');
    const onPhone = screenOf(phone);
    await expect.poll(onPhone.text, POLL).toContain('from the desk');
    expect(await onPhone.columns()).toMatch(/opened on another device/i);
    await onPhone.type('echo $((6*7)) > answer; echo "from the phone"');
    await expect.poll(onDesk.text, POLL).toMatch(/\nfrom the phone/);
    expect(await readFile(path.join(folder, 'answer'), 'utf8')).toBe('42\n');
    // Both show the same columns: those of the desk, which has it.
    const size = async (columns: () => Promise<string>) => /\d+ × \d+/.exec(await columns())?.[0];
    expect(await size(onPhone.columns)).toBe(await size(onDesk.columns));

    await onPhone.type('exit 3');
    await desk.getByText('Ended with exit code 3').waitFor();
    await phone.getByRole('button', { name: 'Close', exact: true }).click();
    await desk.getByText('No terminal is open.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows the command of a tool live on two browsers, and lets one of them type', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS });
    const desk = await open(link);
    const complaints = complaintsOf(desk);
    await begin(desk, 'ask');
    await desk.getByRole('button', { name: 'Run', exact: true }).click();
    const inline = desk.getByRole('region', { name: /^Terminal: printf/ });
    await expect.poll(() => inline.locator('.xterm-rows').innerText(), POLL).toContain('name?');
    const phone = await open(link, PHONE);
    await choose(phone, /Ask me/);
    await phone.getByRole('button', { name: 'Open in the panel' }).click();
    const onPhone = screenOf(phone);
    await expect.poll(onPhone.text, POLL).toContain('name?');
    await onPhone.type('phone');
    await desk.getByText(/Result: [\s\S]*hello phone/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('takes a command over from the agent, which goes on without it', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS });
    const page = await open(link);
    await begin(page, 'run');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const inline = page.getByRole('region', { name: /^Terminal: for i/ });
    await expect.poll(() => inline.locator('.xterm-rows').innerText(), POLL).toContain('tick 2');
    await inline.getByRole('button', { name: 'Take over' }).click();
    await page
      .getByText(/a person has taken over the terminal/)
      .first()
      .waitFor();
    const screen = screenOf(page);
    await expect.poll(screen.text, POLL).toContain('tick 9');
    await expect.poll(screen.columns, POLL).toMatch(/Ended with exit code 0/);
  });

  it('detaches a command, which then runs in the background', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS });
    const page = await open(link);
    await begin(page, 'run');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const inline = page.getByRole('region', { name: /^Terminal: for i/ });
    await expect.poll(() => inline.locator('.xterm-rows').innerText(), POLL).toContain('tick 1');
    await inline.getByRole('button', { name: 'Detach' }).click();
    await page
      .getByText(/a person has put it into the background/)
      .first()
      .waitFor();
    await openTab(page, 'Terminal');
    expect(await screenOf(page).columns()).toMatch(/of this session/i);
  });

  it('draws colours and survives a flood, under the content policy', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    const complaints = complaintsOf(page);
    await begin(page, 'hello');
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).click();
    const screen = screenOf(page);
    await expect.poll(screen.text, POLL).toMatch(/[$#] /);
    await screen.type("printf '\\033[31mred\\033[0m \\033[38;2;10;200;30mtrue\\033[0m\\n'");
    const colour = (text: string) =>
      page
        .locator('.terminal-screen .xterm-rows span')
        .getByText(text, { exact: true })
        .last()
        .evaluate((element) => getComputedStyle(element).color);
    await expect.poll(() => colour('red'), POLL).not.toBe(await colourOfInk(page));
    expect(await colour('true')).not.toBe(await colour('red'));
    await screen.type('yes | head -n 400000; echo the end');
    await expect.poll(screen.text, LONG).toMatch(/\nthe end/);
    expect(complaints).toEqual([]);
  });

  it('leaves with Shift+Escape, and asks before it ends what runs', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    await begin(page, 'hello');
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).click();
    const screen = screenOf(page);
    await expect.poll(screen.text, POLL).toMatch(/[$#] /);
    await page.locator('.terminal-screen textarea').focus();
    await page.keyboard.press('Shift+Escape');
    expect(await page.evaluate(() => document.activeElement?.closest('.terminal-head') !== null)).toBe(true);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await page.getByText('No terminal is open.').waitFor();
  });
});

function colourOfInk(page: Page): Promise<string> {
  return page.locator('.terminal-screen').evaluate((element) => getComputedStyle(element).color);
}
