/** The page under a name in the network, where browsers give a page less than on localhost. */
import { expect, it } from 'vitest';
import { NETWORK_NAME } from '../../../scripts/browser.mjs';
import { begin, describeInBrowser } from './support/browser.js';
import { startMortalHost } from './support/mortal-host.js';

const SCRIPT = {
  provider: 'parrot',
  displayName: 'Parrot',
  default: [{ text: 'You said: ${text}\n\n```js\nlet a = 1;\n```' }],
};

describeInBrowser('a host that the network reaches', (open) => {
  it('serves the page, lets in with the token, and without it does not', async () => {
    const host = await startMortalHost(SCRIPT, { more: ['--host', '0.0.0.0', '--allowed-hosts', NETWORK_NAME] });
    const at = (link: string) => link.replace('localhost', NETWORK_NAME);
    const stranger = await open(at(host.link).replace(/#.*$/, ''));
    await stranger.getByRole('heading', { name: 'This host asks for a token' }).waitFor();
    const page = await open(at(host.link));
    expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await page.getByRole('button', { name: 'Copy code' }).click();
    await page.getByText('Copied').waitFor();
    await page.getByRole('button', { name: 'Open on another device' }).click();
    expect(await page.getByRole('textbox', { name: 'Link with the token' }).inputValue()).toBe(at(host.link));
    expect(await page.getByText('This address works on this machine only').count()).toBe(0);
  });
});
