/** The page under a name in the network, where browsers give a page less than on localhost. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { NETWORK_NAME } from '../../../scripts/browser.mjs';
import { begin, describeInBrowser } from './support/browser.js';
import { startMortalHost } from './support/mortal-host.js';

const SCRIPT = {
  provider: 'parrot',
  displayName: 'Parrot',
  default: [{ text: 'You said: ${text}\n\n```js\nlet a = 1;\n```' }],
};

/** On top, not covered, in one line; and the page below it still fits. */
async function expectNotice(page: Page): Promise<void> {
  const notice = page.getByRole('note').filter({ hasText: 'Not encrypted' });
  await notice.waitFor();
  const box = await notice.boundingBox();
  expect(box).toMatchObject({ x: 0, y: 0, height: 26 });
  expect(await notice.evaluate((note) => document.elementFromPoint(5, 5) === note)).toBe(true);
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBeLessThanOrEqual(0);
}

describeInBrowser('a host that the network reaches', (open) => {
  it('[DEV-050] serves the page, which says on every screen that it is not encrypted, and lets in with the token only', async () => {
    const host = await startMortalHost(SCRIPT, {
      more: ['--host', '0.0.0.0', '--insecure-remote', '--allowed-hosts', NETWORK_NAME],
    });
    const at = (link: string) => link.replace('localhost', NETWORK_NAME);
    const stranger = await open(at(host.link).replace(/#.*$/, ''));
    await stranger.getByRole('heading', { name: 'This host asks for a token' }).waitFor();
    await expectNotice(stranger);
    const page = await open(at(host.link));
    expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await expectNotice(page);
    await page.setViewportSize({ width: 390, height: 800 });
    await expectNotice(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Copy code' }).click();
    await page.getByText('Copied').waitFor();
  });

  it('[DEV-012] shows both fingerprints before a device sends its code without encryption', async () => {
    const host = await startMortalHost(SCRIPT, {
      more: ['--host', '0.0.0.0', '--insecure-remote', '--allowed-hosts', NETWORK_NAME],
    });
    const page = await open(host.link.replace('localhost', NETWORK_NAME));
    await page.getByRole('button', { name: /^Devices/ }).click();
    await page.getByRole('button', { name: 'Add a device' }).click();
    const field = page.getByRole('textbox', { name: 'Link for the new device' });
    const link = await field.inputValue();
    expect(link).toContain(`http://${NETWORK_NAME}:`);
    expect(await page.getByText('This address works on this machine only').count()).toBe(0);
    expect(await page.locator('.short-code').count()).toBe(0);
    const sent: string[] = [];
    const phone = await open('about:blank');
    phone.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await phone.goto(link);
    const join = phone.getByRole('button', { name: 'They are the same: come in' });
    await join.waitFor();
    expect(await phone.locator('.fingerprints dd').allInnerTexts()).toEqual([
      expect.stringMatching(/^([\da-f]{4} ?){8}$/),
      await phone.locator('.fingerprints dd').first().innerText(),
    ]);
    expect(sent.filter((line) => line.startsWith('POST'))).toEqual([]);
    await join.click();
    await phone.getByText('Connected', { exact: true }).waitFor({ state: 'attached' });
    expect(sent).toContain('POST /devices/redeem');
  });

  it('[DEV-055] loads without a word of the browser about its headers', async () => {
    const host = await startMortalHost(SCRIPT);
    const page = await open(host.link);
    const words: string[] = [];
    page.on('console', (message) => words.push(message.text()));
    await page.reload();
    await page.getByRole('textbox', { name: 'First message' }).waitFor();
    expect(words.filter((text) => /header|policy/i.test(text))).toEqual([]);
  });
});
