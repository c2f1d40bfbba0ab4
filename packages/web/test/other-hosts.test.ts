/** A host of somebody else, which knows nothing beside the protocol: the page does without, and says so. */
import { expect, it } from 'vitest';
import { describeInBrowser, POLL } from './support/browser.js';
import { puppetSession, said, startPuppetHost } from './support/puppet-host.js';
import { complaintsOf, openTab } from './support/work-host.js';

const TURN = {
  ...{ id: 't1', message: said('hi'), state: 'complete' as const },
  responseParts: [{ kind: 'markdown' as const, id: 'm1', content: 'An answer.' }],
};
const SERVER = { type: 'mcpServer' as const, id: 'srv', uri: 'mcp:srv', name: 'search' };

describeInBrowser('a host of somebody else', (open) => {
  it.each(['1.0.0', '0.9.0'])(
    '[UP-008] of version %s is worked with, without what only ours can do',
    async (version) => {
      const session = puppetSession({ workingDirectories: ['file:///srv/app'] }, { turns: [TURN] });
      const host = await startPuppetHost({ session, greeting: { protocolVersion: version } });
      const page = await open('about:blank');
      const complaints = complaintsOf(page);
      await page.goto(host.link);
      await page.getByText('An answer.').waitFor();
      for (const name of ['Fork from here', 'Deleted sessions', 'Resume'])
        expect(await page.getByRole('button', { name }).count(), name).toBe(0);
      const field = page.getByRole('textbox', { name: 'Message' });
      await field.fill('hello');
      await field.press('Enter');
      const sent = () => host.ofMethod('dispatchAction').map(({ params }) => params.action);
      const message = expect.objectContaining({ type: 'chat/turnStarted', message: said('hello') });
      await expect.poll(sent, POLL).toContainEqual(message);
      await openTab(page, 'Files');
      await page.getByText('This host does not show its files.').waitFor();
      await openTab(page, 'Terminal');
      await page.getByRole('button', { name: 'New terminal' }).click();
      await page.getByText('This host opens no terminals.').waitFor();
      expect(await page.getByRole('tab', { name: 'Changes' }).count()).toBe(0);
      expect(host.asked.filter(({ method }) => method.startsWith('atrium/'))).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  it('[UP-105] has its MCP servers stopped and started, and says how they are doing', async () => {
    const customizations = [{ ...SERVER, state: { kind: 'ready' as const } }];
    const session = puppetSession({ customizations });
    const host = await startPuppetHost({ session, greeting: {} });
    const page = await open(host.link);
    const act = (action: object) => host.act(session.uri, action);
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop search' }).click();
    await page.getByRole('button', { name: 'Start search' }).waitFor();
    await page.getByRole('button', { name: 'Start search' }).click();
    await page.getByText('Starting', { exact: true }).waitFor();
    const error = { errorType: 'spawn', message: 'No such program' };
    act({ type: 'session/mcpServerStateChanged', id: 'srv', state: { kind: 'error', error } });
    await page.getByText('No such program').waitFor();
    const sent = host.ofMethod('dispatchAction').map(({ params }) => params.action);
    expect(sent).toContainEqual({ type: 'session/mcpServerStopRequested', id: 'srv' });
    expect(sent).toContainEqual({ type: 'session/mcpServerStartRequested', id: 'srv' });
  });

  it('[UP-068] [UP-102] switches for this session only what was decided for the folder or everywhere', async () => {
    const elsewhere = { kind: 'workspace' as const, uri: 'file:///srv/app', enabled: false };
    const everywhere = { kind: 'global' as const, enabled: true };
    const plugin = { type: 'plugin' as const, id: 'p', uri: 'file:///p', name: 'tests' };
    const customizations = [{ ...plugin, enablement: [elsewhere, everywhere] }];
    const host = await startPuppetHost({ session: puppetSession({ customizations }), greeting: {} });
    const page = await open(host.link);
    await page.getByText('Switched off for this folder').waitFor();
    await page.getByRole('switch', { name: 'Use tests', checked: false }).click();
    await page.getByRole('switch', { name: 'Use tests', checked: true }).waitFor();
    const sent = host.ofMethod('dispatchAction').map(({ params }) => params.action);
    const enablement = [{ kind: 'session', enabled: true }, elsewhere, everywhere];
    expect(sent).toContainEqual({ type: 'session/customizationToggled', id: 'p', enablement });
  });
});
