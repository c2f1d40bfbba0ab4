/** A turn that the end of its host cut off goes on in place, from the page. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ModelServer } from '../../host/test/support/model-server.js';
import { begin, describeInBrowser, POLL } from './support/browser.js';
import { startMortalHost } from './support/mortal-host.js';
import { puppetSession, said, startPuppetHost } from './support/puppet-host.js';

const CALL = { id: 'c1', name: 'shell', input: { command: 'echo ran >> runs.txt' } };

async function startModelHost(model: ModelServer) {
  const agent = { type: 'model', api: 'openai-compatible', baseURL: model.url, models: ['m-1'] };
  return startMortalHost(
    { provider: 'none', displayName: 'None', prompts: {} },
    { config: { agents: { served: agent }, titles: false } },
  );
}

describeInBrowser('a turn that was cut off', (open) => {
  it('[UP-115] goes on where it was when its host was killed; its call has run once', async () => {
    const model = await ModelServer.start(
      { text: ['Looking. '], calls: [CALL] },
      { text: ['Half an ans'], ending: 'hang' },
    );
    onTestFinished(() => model.stop());
    const host = await startModelHost(model);
    const page = await open(host.link);
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('served');
    await begin(page, 'go');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Half an ans').waitFor();
    await host.kill();
    await page.getByText('Connection lost.').waitFor();
    model.answer({ text: ['The rest of the answer.'] });
    await host.startAgain();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The rest of the answer.').waitFor();

    expect(await readFile(path.join(host.folder, 'runs.txt'), 'utf8')).toBe('ran\n');
    await expect.poll(() => page.locator('.turn-end').count(), POLL).toBe(1);
    expect(await page.locator('.tool-call').count()).toBe(1);
    expect(await page.locator('.user-message').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    expect(rolesIn(model).filter((role) => role === 'tool')).toHaveLength(1);
  });

  it('[UP-155] offers to resume only the last turn, and only where its error says so', async () => {
    const failed = (id: string, resumable: boolean) => ({
      ...{ id, message: said(`ask ${id}`), state: 'error' as const },
      responseParts: [{ kind: 'error' as const, error: { errorType: 'agent', message: `broke ${id}` }, resumable }],
    });
    const resume = async (...turns: readonly ReturnType<typeof failed>[]) => {
      const host = await startPuppetHost({ session: puppetSession({}, { turns: [...turns] }) });
      const page = await open(host.link);
      await page.getByText(`broke ${turns.at(-1)?.id}`).waitFor();
      return { host, button: page.getByRole('button', { name: 'Resume' }) };
    };
    expect(await (await resume(failed('t1', true), failed('t2', false))).button.count()).toBe(0);
    const { host, button } = await resume(failed('t1', true), failed('t2', true));
    expect(await button.count()).toBe(1);
    await button.click();
    const sent = () => host.ofMethod('dispatchAction').map(({ params }) => params.action);
    await expect.poll(sent, POLL).toContainEqual({ type: 'chat/turnResume', turnId: 't2' });
  });
});

function rolesIn({ requests }: ModelServer): string[] {
  const { messages = [] } = (requests.at(-1)?.body ?? {}) as { readonly messages?: readonly { role: string }[] };
  return messages.map(({ role }) => role);
}
