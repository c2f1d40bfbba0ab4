/** The hosts of a cluster in the page of its owner: a real host on a real PostgreSQL. */
import { clusterView, type EngineUrl, openPostgresLog } from '@atrium/host/cluster';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeWithEngine, freshCluster, onEngine, takeOver } from '../../host/test/support/postgres.js';
import { problemsOf } from './support/axe.js';
import { describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startPageHost } from './support/page-host.js';

/** The active host a, b, which stands by, and perhaps runs programs for it. */
async function activePage(facts = {}) {
  const url: EngineUrl = await freshCluster();
  const owner = await takeOver(url);
  await onEngine(url, async (engine) => {
    await engine.run("SELECT join_cluster('b', 'b:9500', '0.1.0', 1)");
    await engine.run("UPDATE hosts SET facts = $1 WHERE id = 'b'", [JSON.stringify(facts)]);
  });
  const log = await openPostgresLog({ url, owner });
  return startPageHost({}, log, { cluster: clusterView({ url, hostId: 'a' }) });
}

async function searchCommands(page: Page) {
  await page.getByRole('heading', { name: 'What should we work on?' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find a command or a session' }).fill('hosts of');
}

async function openHosts(page: Page) {
  await searchCommands(page);
  await page.keyboard.press('Enter');
  return page.getByRole('dialog', { name: 'Hosts' });
}

describeWithEngine('with an engine', () => {
  describeInBrowser('the hosts of a cluster', (open) => {
    it.each([
      ['on the desk', undefined],
      ['on the phone', PHONE],
    ] as const)('[CLU-043] are shown with what they do, and one is sent away after a yes, %s', async (_where, size) => {
      const { link } = await activePage();
      const page = await open(link, size);
      const dialog = await openHosts(page);
      await dialog.getByText('serves this page').waitFor();
      const rows = dialog.getByRole('list', { name: 'Hosts' }).getByRole('listitem');
      await expect.poll(() => rows.count(), POLL).toBe(2);
      expect(await rows.nth(0).textContent()).toMatch(/^aActiveserves this page/);
      expect(await rows.nth(1).textContent()).toMatch(/^bStands by0 clients/);
      await dialog.getByText(/PostgreSQL \d+, [\d.]+ ms away/).waitFor();
      expect(await problemsOf(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Drain b' }).click();
      await dialog.getByText('It leaves at once.').waitFor();
      await dialog.getByRole('group', { name: 'Drain b?' }).getByRole('button', { name: 'Drain b' }).click();
      await dialog.getByText('Stands by, leaving').waitFor();
      expect(await dialog.getByRole('button', { name: /^Drain b/ }).count()).toBe(0);
      expect(await problemsOf(page)).toEqual([]);
    });

    it('[CLU-049] say what they run for the active one, and what becomes of it', async () => {
      const { link } = await activePage({ work: 1, programs: 3 });
      const dialog = await openHosts(await open(link));
      await dialog.getByText('0 clients · 0 sessions at work · 3 programs of agents · ').waitFor();
      await dialog.getByRole('button', { name: 'Drain b' }).click();
      await dialog.getByText('It gets no more agents').waitFor();
    });
  });
});

describeInBrowser('a host that is alone', (open) => {
  it('[CLU-043] offers no list of hosts', async () => {
    const { link } = await startPageHost({});
    const page = await open(link);
    await searchCommands(page);
    await page.getByText('Nothing found for these words.').waitFor();
  });
});
