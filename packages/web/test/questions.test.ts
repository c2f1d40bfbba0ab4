/** Questions that do not come from the agent: pairing codes, trust, and providers in the details. */
import { expect, it } from 'vitest';
import { describeInBrowser, POLL } from './support/browser.js';
import { type PuppetHost, puppetSession, startPuppetHost } from './support/puppet-host.js';

const completed = (host: PuppetHost) =>
  host
    .ofMethod('dispatchAction')
    .map(({ params }) => params.action as { type: string })
    .filter(({ type }) => type === 'session/inputCompleted');

describeInBrowser('questions of the host', (open) => {
  it('shows a pairing code large, and can refuse it', async () => {
    const message = "A local provider 'ci' asks for access. Type this code there: 123 456";
    const session = puppetSession({ inputRequests: [{ id: 'pair-1', message, questions: [] }] });
    const host = await startPuppetHost({ session });
    const page = await open(host.link);
    const code = page.getByRole('img', { name: 'Code 1 2 3 4 5 6' });
    await code.waitFor();
    expect(await code.evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize))).toBeGreaterThan(40);
    await page.getByRole('button', { name: 'Refuse' }).click();
    await expect.poll(() => completed(host), POLL).toMatchObject([{ requestId: 'pair-1', response: 'decline' }]);
  });

  it('[REL-053] lists the programs that a folder wants to start, as text and apart from the words of the host', async () => {
    const message = [
      'Do you trust this folder? It wants to start programs.',
      '',
      '    /srv/app',
      '',
      'It would start 2 programs:',
      '',
      '    provider ci: node ci.js <b>now</b>',
      '    hook Stop of plugin p in ./p: echo **bold**',
      '',
      'Nothing runs yet.',
    ];
    const session = puppetSession({ inputRequests: [{ id: 'trust-1', message: message.join('\n'), questions: [] }] });
    const host = await startPuppetHost({ session });
    const page = await open(host.link);
    await page.getByText('provider ci: node ci.js <b>now</b>').waitFor();
    const quoted = await page.locator('section.ask code').allTextContents();
    expect(quoted).toEqual([
      '/srv/app',
      ...message.filter((line) => /^ {4}(provider|hook)/.test(line)).map((line) => line.trim()),
    ]);
    await page.getByRole('button', { name: 'Trust this folder' }).click();
    await expect.poll(() => completed(host), POLL).toMatchObject([{ requestId: 'trust-1', response: 'accept' }]);
  });

  it('shows the providers of a session with their trust and tools, and switches one off', async () => {
    const id = 'gateway-provider:/ci';
    const entry = { type: 'plugin' as const, id, uri: id, name: 'ci', enabled: true };
    const provider = { name: 'ci', providerId: 'p1', trust: 'paired', tools: ['build_status'] };
    const session = puppetSession({ customizations: [entry], _meta: { gateway: { providers: [provider] } } });
    const host = await startPuppetHost({ session });
    const page = await open(host.link);
    await page.getByText('trust: paired · 1 tool: build_status').waitFor();
    await page.getByRole('switch', { name: 'Use ci' }).click();
    const toggles = () => host.ofMethod('dispatchAction').map(({ params }) => params.action);
    await expect.poll(toggles, POLL).toContainEqual({ type: 'session/customizationToggled', id, enabled: false });
    await page.getByRole('switch', { name: 'Use ci', checked: false }).waitFor();
  });
});
