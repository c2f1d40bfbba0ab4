/** What a person has not sent yet belongs to the chat: it follows to the next device, and nobody types over it. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { begin, choose, describeInBrowser, hears, PHONE, POLL } from './support/browser.js';
import { startPageHost } from './support/page-host.js';
import { puppetSession, startPuppetHost } from './support/puppet-host.js';

const PROMPTS = { hello: [{ title: 'Hello' }, { text: 'You said: hello' }] };
const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const shown = (page: Page) => expect.poll(() => field(page).inputValue(), POLL);

describeInBrowser('a draft', (open) => {
  it('[UP-134] follows to another device, is finished there, and is gone everywhere once it is sent', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desktop = await open(link);
    await begin(desktop, 'hello');
    await desktop.getByText('You said: hello').waitFor();
    await field(desktop).pressSequentially('begun at the desk');
    const phone = await open(link, PHONE);
    await choose(phone, /Hello/);
    await shown(phone).toBe('begun at the desk');
    await desktop.getByRole('button', { name: 'Details', exact: true }).focus();

    await field(phone).press('End');
    await field(phone).pressSequentially(', done on the way');
    await shown(desktop).toBe('begun at the desk, done on the way');
    await phone.getByRole('button', { name: 'Send', exact: true }).click();
    await desktop.getByText('You said: begun at the desk, done on the way').waitFor();
    await shown(desktop).toBe('');
    await shown(phone).toBe('');
  });

  it('[UP-134] is not written over by another device while a person types', async () => {
    const { link } = await startPageHost(PROMPTS);
    const desktop = await open(link);
    await begin(desktop, 'hello');
    await desktop.getByText('You said: hello').waitFor();
    const phone = await open(link, PHONE);
    await choose(phone, /Hello/);
    await field(desktop).pressSequentially('mine');
    await shown(phone).toBe('mine');
    const heard = await hears(desktop, 'theirs');
    await field(phone).fill('theirs');
    await field(phone).press('End');
    await heard();
    expect(await field(desktop).inputValue()).toBe('mine');
    expect(await field(phone).inputValue()).toBe('theirs');
    await field(desktop).press('Enter');
    await desktop.getByText('You said: mine').waitFor();
    expect(await field(phone).inputValue()).toBe('theirs');
  });

  it('[UP-134] is there again in a browser that has never seen it, with the model that was chosen', async () => {
    const { link } = await startPageHost(PROMPTS);
    const first = await open(link);
    await begin(first, 'hello');
    await first.getByText('You said: hello').waitFor();
    await first.getByRole('combobox', { name: 'Model' }).selectOption('Mock one');
    await field(first).fill('for later');
    await first.getByRole('button', { name: 'Details', exact: true }).focus();
    const second = await open(link, PHONE, { isNew: true });
    await choose(second, /Hello/);
    await shown(second).toBe('for later');
    expect(await second.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('mock-1');
  });

  it('stays in the tab where a host stores none, without a complaint', async () => {
    const host = await startPuppetHost({
      session: puppetSession(),
      isRefusing: ({ type }) => type === 'chat/draftChanged',
    });
    const page = await open(host.link);
    await field(page).fill('keep this');
    const tried = () => host.ofMethod('dispatchAction').length;
    await expect.poll(tried, POLL).toBeGreaterThan(0);
    await page.reload();
    await shown(page).toBe('keep this');
    expect(await page.getByText('did not accept').count()).toBe(0);
  });
});
