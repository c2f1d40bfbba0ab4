/** A share in the browser: made in the page, read in another one without anything else, and over when it is ended. */
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startPageHost } from './support/page-host.js';
import { complaintsOf } from './support/work-host.js';

/** As far as this test uses it. */
interface CredentialStore {
  add(kind: 'device', grant: { name: string; role: string }): Promise<{ credential: { id: string }; token: string }>;
  remove(id: string): Promise<boolean>;
}

const PROMPTS = {
  work: [{ reasoning: 'THOUGHTWORD' }, { text: 'Here is the answer.' }],
  more: [{ text: 'And some more.' }],
  'ask me': [
    {
      tool: {
        ...{ id: 'c', name: 'shell', displayName: 'Shell', invocationMessage: 'Run it', pastTenseMessage: 'Ran it' },
        ...{ input: { command: 'ls' }, output: 'done', success: true, confirm: true },
      },
    },
    { text: 'It was allowed.' },
  ],
};

describeInBrowser('a share', (open) => {
  it('shows one session and no other, live and without what was left out, and nothing after it ended [DEV-030] [DEV-031] [DEV-032]', async () => {
    const { link, url } = await startPageHost(PROMPTS);
    const page = await open(link);
    const complaints = complaintsOf(page);
    await begin(page, 'work');
    await page.getByText('Here is the answer.').waitFor();
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Share this session' });
    await dialog.getByText('This address works on this machine only').waitFor();
    await dialog.getByRole('checkbox', { name: 'contents of files' }).check();
    expect(await dialog.getByRole('checkbox', { name: 'what tools answer' }).isChecked()).toBe(true);
    await dialog.getByRole('checkbox', { name: 'what the model thinks' }).check();
    expect(await problemsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const shared = await dialog.locator('.share-link code').innerText();
    expect(shared).toMatch(new RegExp(`^${url}#share=[\\w-]{43}$`));

    const reader = await open(shared, PHONE);
    await reader.getByText('Here is the answer.').waitFor();
    expect(await reader.getByText('You are reading along').count()).toBe(1);
    expect(await reader.content()).not.toContain('THOUGHTWORD');
    expect(await reader.getByRole('textbox').count()).toBe(0);
    expect(await reader.getByRole('navigation').count()).toBe(0);
    // The token leaves the tab when the host has given a cookie for it, which nothing on the screen waits for.
    const stored = () => reader.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    await expect.poll(stored, POLL).not.toContain(new URL(shared).hash.slice('#share='.length));
    expect(await problemsOf(reader)).toEqual([]);
    await reader.evaluate(() => {
      location.hash = '#/new';
    });
    await expect.poll(() => reader.evaluate(() => location.hash.startsWith('#share=')), POLL).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Message' }).fill('more');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await reader.getByText('And some more.').waitFor();

    await page.getByRole('textbox', { name: 'Message' }).fill('/share');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await expect.poll(() => dialog.getByText('1 reader').count(), POLL).toBe(1);
    await dialog.getByRole('button', { name: 'End it' }).click();
    await reader.getByText('This link has ended or was taken back.').waitFor();
    expect(await reader.getByText('Here is the answer.').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('an approver answers and cannot write, a viewer cannot answer, and a lowered role takes effect on the open page [DEV-020] [DEV-022] [DEV-023] [DEV-024]', async () => {
    const { host, url, link } = await startPageHost(PROMPTS);
    const { store } = (host as unknown as { components: { devices: { store: CredentialStore } } }).components.devices;
    const device = async (role: 'approver' | 'viewer') => store.add('device', { name: `The ${role}`, role });
    const [approver, viewer] = [await device('approver'), await device('viewer')];
    const owner = await open(link);
    await begin(owner, 'ask me');
    await owner.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    const session = new URL(owner.url()).hash;
    const [first, second] = [await open(`${url}#token=${viewer.token}`), await open(`${url}#token=${approver.token}`)];
    for (const page of [first, second]) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, session);
      await page.getByText('You can read along here').waitFor();
      expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
    }
    expect(await first.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
    await second.getByRole('button', { name: 'Approve', exact: true }).click();
    await owner.getByText('It was allowed.').waitFor();
    await store.remove(approver.credential.id);
    await expect.poll(() => second.getByText('You can read along here').count(), POLL).toBe(0);
  });
});
