/** Questions that do not come from the agent: pairing codes, trust, and providers in the details. */
import { expect, it } from 'vitest';
import { describeInBrowser, POLL } from './support/browser.js';
import { type PuppetHost, puppetSession, standing, startPuppetHost } from './support/puppet-host.js';

const completed = (host: PuppetHost) =>
  host
    .ofMethod('dispatchAction')
    .map(({ params }) => params.action as { type: string })
    .filter(({ type }) => type === 'chat/inputCompleted');

describeInBrowser('questions of the host', (open) => {
  it('[REL-069] shows a pairing request once and large, beside all sessions, and can refuse it', async () => {
    const session = puppetSession({});
    const codes = [
      { session: session.uri, title: 'One', code: '123 456' },
      { session: 'ahp-session:/other', title: 'Other', code: '654 321' },
    ];
    let items: readonly object[] = [{ id: 'pair-1', name: 'ci\u202e', codes }];
    const answer = (method: string) => {
      if (method === 'atrium/declinePairing') items = [];
      return method === 'atrium/pairings' ? { items } : { wasOpen: true };
    };
    const host = await startPuppetHost({ session, answer });
    const page = await open(host.link);
    await page.getByText('A local program, “ci\\u{202e}”, asks for access').waitFor();
    expect(await page.getByRole('alert', { name: 'Pairing' }).count()).toBe(1);
    await page.getByLabel('For the session').selectOption('ahp-session:/other');
    await page.getByRole('img', { name: 'Code 6 5 4 3 2 1' }).waitFor();
    await page.getByLabel('For the session').selectOption(session.uri);
    const code = page.getByRole('img', { name: 'Code 1 2 3 4 5 6' });
    await code.waitFor();
    expect(await code.evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize))).toBeGreaterThan(40);
    await page.getByRole('button', { name: 'Refuse' }).click();
    await expect.poll(() => host.ofMethod('atrium/declinePairing'), POLL).toMatchObject([{ params: { id: 'pair-1' } }]);
    await page.getByRole('alert', { name: 'Pairing' }).waitFor({ state: 'detached' });
  });

  it('[REL-069] names the session that a code is for, also when there is one code only', async () => {
    const codes = [{ session: 'ahp-session:/other', title: 'Other', code: '654 321' }];
    const host = await startPuppetHost({
      session: puppetSession({}),
      answer: (method) => (method === 'atrium/pairings' ? { items: [{ id: 'pair-1', codes }] } : {}),
    });
    const page = await open(host.link);
    await page.getByText('For the session Other').waitFor();
  });

  it('[REL-069] says so when a pairing request could not be refused', async () => {
    const codes = [{ session: 'ahp-session:/other', title: 'Other', code: '654 321' }];
    const answer = (method: string) => {
      if (method === 'atrium/pairings') return { items: [{ id: 'pair-1', codes }] };
      throw new Error('the host is stopping');
    };
    const host = await startPuppetHost({ session: puppetSession({}), answer });
    const page = await open(host.link);
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.getByText('Not refused: the host is stopping').waitFor();
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
    const session = puppetSession({
      inputNeeded: standing({ id: 'trust-1', message: message.join('\n'), questions: [] }),
    });
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

  it('[REL-053] takes no yes to a question about trust that has come up just now', async () => {
    const message =
      'Do you trust this folder?\n\n    /srv/app\n\nIt would start 1 program:\n\n    provider ci: node ci.js';
    const session = puppetSession({ inputNeeded: standing({ id: 'trust-1', message, questions: [] }) });
    const host = await startPuppetHost({ session });
    const page = await open('about:blank');
    // Its clock stands still unless told otherwise, so that it does not matter how busy the machine is.
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
    await page.goto(host.link);
    const button = page.locator('[aria-label="Trust"] button.primary');
    const buttons = async () => {
      await page.clock.runFor(10);
      return button.count();
    };
    await expect.poll(buttons, POLL).toBe(1);
    let closedMs = 0;
    for (; await button.isDisabled(); closedMs += 10) await page.clock.runFor(10);
    expect(closedMs).toBeGreaterThan(250);
  });

  it('shows the providers of a session with their trust and tools, and switches one off', async () => {
    const id = 'gateway-provider:/ci';
    const entry = { type: 'plugin' as const, id, uri: id, name: 'ci' };
    const provider = { name: 'ci', providerId: 'p1', trust: 'paired', tools: ['build_status'] };
    const session = puppetSession({ customizations: [entry], _meta: { gateway: { providers: [provider] } } });
    const host = await startPuppetHost({ session });
    const page = await open(host.link);
    await page.getByText('trust: paired · 1 tool: build_status').waitFor();
    await page.getByRole('switch', { name: 'Use ci' }).click();
    const toggles = () => host.ofMethod('dispatchAction').map(({ params }) => params.action);
    await expect.poll(toggles, POLL).toContainEqual({
      type: 'session/customizationToggled',
      id,
      enablement: [{ kind: 'session', enabled: false }],
    });
    await page.getByRole('switch', { name: 'Use ci', checked: false }).waitFor();
  });
});
