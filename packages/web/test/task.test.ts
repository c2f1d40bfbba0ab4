/** What people do with one session all day: watch it work, change its input, choose who works, wait, go on. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Message } from '@atrium/protocol/ahp-1';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { begin, describeInBrowser, PHONE, POLL, pass } from './support/browser.js';
import { startPageHost } from './support/page-host.js';
import { begun, puppetSession, said, startPuppetHost } from './support/puppet-host.js';

/** Goes on when a test says so, by making these files. */
const until = (file: string) => `until [ -e ${file} ]; do sleep 0.1; done`;
const SHELL = { name: 'shell', input: { command: `echo line 1; ${until('go')}; echo line 2; ${until('end')}` } };
const PROMPTS = {
  run: [{ text: 'Let me see. '.repeat(400) }, { callTool: SHELL }, { text: 'It ran.' }],
  write: [{ callTool: { name: 'write_file', input: { path: 'a.txt', content: 'one\n' } } }, { text: 'Written.' }],
  many: [
    ...Array.from({ length: 12 }, () => ({ callTool: { name: 'read_file', input: { path: 'missing' } } })),
    { callTool: { name: 'write_file', input: { path: 'b.txt', content: 'x\n'.repeat(500) } } },
  ],
  wait: [{ text: 'Working' }, { delayMs: 60_000 }],
  steer: [{ text: 'Begun.' }, { callTool: SHELL }, { text: 'Went ${steering}.' }],
};

/** Whether all of it is inside of what the window shows of the conversation. */
function isInView(page: Page, selector: string): Promise<boolean> {
  return page.evaluate((wanted) => {
    const [box, shown] = [document.querySelector('.timeline'), document.querySelector(wanted)].map((element) =>
      element?.getBoundingClientRect(),
    );
    return !!box && !!shown && shown.bottom <= box.bottom + 1 && shown.top < box.bottom;
  }, selector);
}

describeInBrowser('a session at work', (open) => {
  it('shows the output of a command while it runs, with the end in view', async () => {
    const { link, folder } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'run');
    await page.getByRole('group', { name: 'Permission' }).waitFor();
    await expect.poll(() => isInView(page, '.confirmation'), POLL).toBe(true);
    await page.locator('[data-answer=approve]:enabled').first().waitFor();
    await page.keyboard.press('Alt+y');
    const output = page.locator('.tool-output');
    await output.getByText('line 1').waitFor();
    expect(await output.innerText()).not.toContain('line 2');
    expect(await page.locator('.tool-state').innerText()).toBe('Running');
    await writeFile(path.join(folder, 'go'), '');
    await output.getByText('line 2').waitFor();
    await writeFile(path.join(folder, 'end'), '');
    await page.getByText('It ran.').waitFor();
    await expect.poll(() => isInView(page, '.turn-end'), POLL).toBe(true);
  });

  it('[REL-070] shows what steered it as words of the person, where it arrived, also after a reload', async () => {
    const { link, folder } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'steer');
    await page.getByRole('group', { name: 'Permission' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('to the\n<b>left</b>');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Steering').waitFor();
    await page.locator('[data-answer=approve]:enabled').first().waitFor();
    await page.keyboard.press('Alt+y');
    for (const file of ['go', 'end']) await writeFile(path.join(folder, file), '');
    const said = page.locator('.user-message .bubble');
    for (const _load of ['live', 'reloaded']) {
      await page.getByText('Went to the').waitFor();
      await expect.poll(() => said.allInnerTexts(), POLL).toEqual(['steer', 'to the\n<b>left</b>']);
      const order = await page.locator('.timeline').innerText();
      expect(order.indexOf('Begun.')).toBeLessThan(order.indexOf('to the\n<b>left</b>'));
      expect(order.indexOf('to the\n<b>left</b>')).toBeLessThan(order.indexOf('Went to the'));
      await page.reload();
    }
  });

  it.each([
    ['on the desktop', undefined],
    ['on the phone', PHONE],
  ])('keeps a question in view behind many calls and a long change, %s', async (_where, size) => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link, size);
    if (size) await page.getByRole('textbox', { name: 'First message' }).waitFor();
    await begin(page, 'many');
    await page.getByRole('group', { name: 'Permission' }).waitFor();
    await page.locator('.diff .line').first().waitFor();
    await expect.poll(() => isInView(page, '.confirmation'), POLL).toBe(true);
    expect(await page.getByText('There is no "missing"').first().isVisible()).toBe(true);
    expect(await page.locator('.diff .line.added').count()).toBe(500);
    expect(await page.getByRole('button', { name: /more lines/ }).count()).toBe(0);
    await page.locator('.timeline').evaluate((timeline) => timeline.scrollTo(0, 0));
    await page.getByRole('button', { name: 'The agent asks you something' }).click();
    await expect.poll(() => isInView(page, '.confirmation'), POLL).toBe(true);
  });

  it('lets a person change the command before it runs', async () => {
    const { link } = await startPageHost({ run: [{ callTool: SHELL }, { text: 'Got: ${lastResult}' }] });
    const page = await open(link);
    await begin(page, 'run');
    await page.getByRole('button', { name: 'Edit input' }).click();
    const field = page.getByRole('textbox', { name: 'command' });
    expect(await field.inputValue()).toBe(SHELL.input.command);
    await field.fill('echo changed');
    await page.locator('[data-answer=approve]').first().click();
    await page.getByText(/Got: changed/).waitFor();
  });

  it('keeps waiting messages after a stop, says so, and sends them when asked', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'wait');
    const field = page.getByRole('textbox', { name: 'Message' });
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    for (const text of ['next', 'after that']) {
      await field.fill(text);
      await field.press('Enter');
    }
    await page.getByText('after that').waitFor();
    await page.keyboard.press('Alt+.');
    await page.getByText('Not sent yet: the last turn was stopped.').waitFor();
    await pass(page, 300);
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['wait']);
    await page.getByRole('button', { name: 'Send them' }).click();
    await page.getByText('You said: after that').waitFor();
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['wait', 'next', 'after that']);
    expect(await page.getByRole('region', { name: 'Messages that wait' }).count()).toBe(0);
  });

  it('keeps a draft while an earlier message is edited, and has it back', async () => {
    const { link } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'first');
    await page.getByText('You said: first').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('half a thought');
    await page.locator('.bubble').hover();
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    expect(await field.inputValue()).toBe('first');
    await field.press('Escape');
    expect(await field.inputValue()).toBe('half a thought');
  });

  it('denies with advice', async () => {
    const { link, folder } = await startPageHost(PROMPTS);
    const page = await open(link);
    await begin(page, 'write');
    await page.getByRole('button', { name: 'Deny with advice' }).click();
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'What to do instead');
    await page.keyboard.type('not there');
    await page.keyboard.press('Enter');
    await page.getByText('Denied by a person').waitFor();
    await expect(readFile(path.join(folder, 'a.txt'))).rejects.toThrow('ENOENT');
  });
});

const REVIEWER = 'file:///home/me/.agents/agents/reviewer.md';
const CONTAINER = {
  type: 'directory' as const,
  id: 'agents',
  uri: 'file:///home/me/.agents/agents',
  name: 'agents',
  enabled: true,
  contents: 'agent' as const,
  writable: false,
  children: [
    { type: 'agent' as const, id: 'reviewer', uri: REVIEWER, name: 'reviewer', description: 'Finds mistakes' },
  ],
};

describeInBrowser('a custom agent', (open) => {
  it('is chosen for the next turns, and given up again', async () => {
    const host = await startPuppetHost({
      session: puppetSession({ customizations: [CONTAINER] }, { activeTurn: begun([]) }),
    });
    const page = await open(host.link);
    const choice = page.getByRole('combobox', { name: 'Custom agent' });
    const sent = () =>
      host
        .ofMethod('dispatchAction')
        .map(({ params }) => params.action as { readonly type: string; readonly message?: Message })
        .flatMap(({ type, message }) => (type === 'chat/pendingMessageSet' && message ? [message] : []));
    const field = page.getByRole('textbox', { name: 'Message' });
    await choice.selectOption('reviewer');
    await expect.poll(() => choice.inputValue(), POLL).toBe(REVIEWER);
    await field.fill('one');
    await field.press('Enter');
    await expect.poll(sent, POLL).toEqual([{ ...said('one'), agent: { uri: REVIEWER } }]);
    await field.fill('two');
    await field.press('Enter');
    await expect.poll(sent, POLL).toHaveLength(2);
    expect(sent()[1]).toEqual({ ...said('two'), agent: { uri: REVIEWER } });
    await choice.selectOption('No custom agent');
    await field.fill('three');
    await field.press('Enter');
    await expect.poll(sent, POLL).toHaveLength(3);
    expect(sent()[2]).toEqual(said('three'));
  });

  it('is not offered while what brings it is switched off', async () => {
    const customizations = [{ ...CONTAINER, enabled: false }];
    const host = await startPuppetHost({ session: puppetSession({ customizations }) });
    const page = await open(host.link);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Custom agent' }).count()).toBe(0);
  });
});
