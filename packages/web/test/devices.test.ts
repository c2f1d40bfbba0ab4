/** Devices in real browsers: let in by the text of the QR code, still in after every restart, and out at once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { chromiumOptions } from '../../../scripts/browser.mjs';
import { problemsOf } from './support/axe.js';
import { describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startMortalHost } from './support/mortal-host.js';
import { startPageHost } from './support/page-host.js';

async function addDevice(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: /^Devices/ }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await page.getByRole('button', { name: 'Add a device' }).click();
  const code = page.getByRole('img', { name: 'QR code of the link' });
  await code.waitFor();
  // A code that leads nowhere from the phone says so above it.
  const said = await page.getByText('This address works on this machine only').boundingBox();
  expect(said && said.y < ((await code.boundingBox())?.y ?? 0)).toBe(true);
  return page.getByRole('textbox', { name: 'Link for the new device' }).inputValue();
}

describeInBrowser('devices', (open) => {
  it('[DEV-010] [DEV-013] [DEV-005] lets a phone in by the link of the QR code, keeps it in, and removes it at once', async () => {
    const host = await startMortalHost({ provider: 'mock', displayName: 'Mock', models: [], prompts: {} });
    const desk = await open(host.link, undefined, { isNew: true });
    await desk.getByRole('textbox', { name: 'First message' }).waitFor();
    expect(desk.url()).not.toContain('token');
    const link = await addDevice(desk, 'Pocket phone');
    expect(link).toMatch(/\/#add=[\w-]{22}&key=[\da-f]{32}$/);

    // A browser of its own, with a folder that outlives it.
    const profile = await mkdtemp(path.join(tmpdir(), 'atrium-phone-'));
    onTestFinished(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
    const launch = () => chromium.launchPersistentContext(profile, { ...PHONE, ...chromiumOptions({ isLight: true }) });
    let browser = await launch();
    onTestFinished(() => browser.close().catch(() => {}));
    let phone = browser.pages()[0] ?? (await browser.newPage());
    await phone.goto(link);
    await phone.getByRole('heading', { name: 'Let this device in' }).waitFor();
    expect(phone.url()).not.toContain('add=');
    await phone.getByRole('button', { name: 'Come in' }).click();
    const isIn = () =>
      phone.getByText('Connected', { exact: true }).waitFor({ state: 'attached', timeout: POLL.timeout });
    await isIn();

    // The list shows it by itself.
    const row = desk.getByRole('list', { name: 'Devices' }).getByRole('listitem').filter({ hasText: 'Pocket phone' });
    await row.getByText(/connected/).waitFor();
    expect(await row.innerText()).toMatch(/driver[\s\S]*Last here/);
    // Neither scripts nor the address have the token.
    expect(
      await phone.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })),
    ).not.toMatch(/[\w-]{43}/);
    const [cookie] = await browser.cookies();
    expect(cookie).toMatchObject({
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      name: expect.stringMatching(/^atrium-/),
    });

    await phone.reload();
    await isIn();
    await browser.close();
    await host.stop();
    await host.startAgain();
    browser = await launch();
    phone = browser.pages()[0] ?? (await browser.newPage());
    await phone.goto(new URL('/', link).href);
    await isIn();

    await row.getByRole('button', { name: 'Remove Pocket phone' }).click();
    await row.getByRole('button', { name: 'Remove now' }).click();
    await phone.getByRole('heading', { name: 'This device is not let in any more' }).waitFor();
    await expect.poll(() => row.count(), POLL).toBe(0);
    await phone.reload();
    await phone.getByRole('heading', { name: 'This device is not let in any more' }).waitFor();
  });

  it('[DEV-012] sends nothing to a host with another key, and shows both', async () => {
    const { link } = await startPageHost({});
    const desk = await open(link);
    const invited = await addDevice(desk, 'Nobody');
    const phone = await open(invited.replace(/key=.*/, `key=${'0'.repeat(32)}`), PHONE);
    await phone.getByText('This is not the host that the code is from').waitFor();
    expect(await phone.getByRole('button', { name: /come in/i }).count()).toBe(0);
    await phone.getByText('0000 0000 0000 0000 0000 0000 0000 0000').waitFor();
    expect(await problemsOf(phone)).toEqual([]);
    expect(await problemsOf(desk)).toEqual([]);
    await phone.goto('about:blank');
    await phone.goto(invited);
    await phone.getByRole('button', { name: 'Come in' }).click();
    await desk.getByText('The device is in.').waitFor();
  });

  it('[DEV-023] [DEV-013] changes what a phone may do: its open page follows at once, without being opened anew', async () => {
    const { link } = await startPageHost({ 'first words': [{ text: 'hello' }] });
    const desk = await open(link);
    await desk.getByRole('textbox', { name: 'First message' }).fill('first words');
    await desk.keyboard.press('Enter');
    await desk.getByText('hello', { exact: true }).waitFor();
    const session = new URL(desk.url()).hash;
    const phone = await open(await addDevice(desk, 'Lowered phone'), PHONE);
    await phone.getByRole('button', { name: 'Come in' }).click();
    await phone.getByText('Connected', { exact: true }).waitFor({ state: 'attached' });
    await phone.evaluate((hash) => {
      location.hash = hash;
    }, session);
    const message = phone.getByRole('textbox', { name: 'Message', exact: true });
    await message.waitFor();
    const row = desk.getByRole('list', { name: 'Devices' }).getByRole('listitem').filter({ hasText: 'Lowered phone' });
    await row.getByText(/connected/).waitFor();

    await row.getByRole('button', { name: 'Change Lowered phone' }).click();
    const form = desk.getByRole('form', { name: 'What Lowered phone may do' });
    await form.getByLabel('May do').selectOption('viewer');
    await form.getByLabel(/^Until/).fill('2090-01-31T12:00');
    await form.getByText('Not bound to sessions').click();
    await form.getByRole('checkbox').first().check();
    expect(await problemsOf(desk)).toEqual([]);
    await form.getByRole('button', { name: 'Save' }).click();
    await row.getByText(/^viewer/).waitFor();
    await row.getByText(/only ahp-session:\S+ · until .*2090/).waitFor();
    await phone.getByText('You can read along here').waitFor();
    expect(await message.count()).toBe(0);

    await row.getByRole('button', { name: 'Change Lowered phone' }).click();
    await form.getByLabel('May do').selectOption('driver');
    await form.getByLabel(/^Until/).fill('');
    await form.getByRole('checkbox').first().uncheck();
    await form.getByRole('button', { name: 'Save' }).click();
    await message.waitFor();
    await expect.poll(() => row.innerText(), POLL).not.toMatch(/until|only/);
  });

  it('[DEV-011] takes the eight digits where the page asks for a token', async () => {
    const { link, url } = await startPageHost({});
    const desk = await open(link);
    await addDevice(desk, 'Typed');
    const digits = await desk.locator('.short-code').innerText();
    const phone = await open(url, PHONE);
    await phone.getByLabel('Token, link, or the eight digits of a code').fill(digits);
    await phone.getByRole('button', { name: 'Connect' }).click();
    await phone.getByText('Connected', { exact: true }).waitFor({ state: 'attached' });
    await desk.getByRole('list', { name: 'Devices' }).getByText('Typed').waitFor();
  });
});
