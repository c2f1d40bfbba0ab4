/** The panel at the side, dialogs, and what is written before there is a session. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { distinct } from '../src/model/format.js';
import { begin, describeInBrowser, POLL } from './support/browser.js';
import { puppetSession, startPuppetHost } from './support/puppet-host.js';
import { openTab, startWorkHost } from './support/work-host.js';

it('tells terminals of one name apart', () => {
  expect(distinct(['bash', 'vim', 'bash', 'bash'])).toEqual(['bash', 'vim', 'bash 2', 'bash 3']);
});

const widthOf = async (page: Page) => Math.round((await page.locator('.panel').boundingBox())?.width ?? 0);

describeInBrowser('the panel', (open) => {
  it('is as wide as its edge is dragged or moved with keys, stays so, and is as at first after a double click', async () => {
    const { link } = await startWorkHost({ files: { 'a.txt': 'a\n' } });
    const page = await open(link);
    await begin(page, 'hello');
    await openTab(page, 'Files');
    const first = await widthOf(page);
    const edge = page.getByRole('separator', { name: 'Width of the panel' });
    const { x = 0, y = 0 } = (await edge.boundingBox()) ?? {};
    await page.mouse.move(x + 4, y + 200);
    await page.mouse.down();
    await page.mouse.move(x - 96, y + 200, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => widthOf(page), POLL).toBeGreaterThan(first + 95);
    const dragged = await widthOf(page);
    await edge.press('ArrowRight');
    await expect.poll(() => widthOf(page), POLL).toBe(dragged - 24);
    expect(await edge.getAttribute('aria-valuenow')).toBe(String(dragged - 24));
    await page.reload();
    await openTab(page, 'Files');
    await expect.poll(() => widthOf(page), POLL).toBe(dragged - 24);
    await edge.dblclick();
    await expect.poll(() => widthOf(page), POLL).toBe(first);
  });

  it('leaves the conversation its room, however far the edge is dragged', async () => {
    const { link } = await startWorkHost({ files: { 'a.txt': 'a\n' } });
    const page = await open(link);
    await begin(page, 'hello');
    await openTab(page, 'Files');
    const edge = page.getByRole('separator', { name: 'Width of the panel' });
    const { x = 0, y = 0 } = (await edge.boundingBox()) ?? {};
    await page.mouse.move(x + 4, y + 200);
    await page.mouse.down();
    await page.mouse.move(0, y + 200, { steps: 4 });
    await page.mouse.up();
    const room = async () => (await page.locator('.conversation').boundingBox())?.width ?? 0;
    await expect.poll(room, POLL).toBeGreaterThanOrEqual(320);
    const end = (await page.locator('.panel').boundingBox())?.width ?? 0;
    await page.mouse.move(1280 - end, y + 200);
    await page.mouse.down();
    await page.mouse.move(1280, y + 200, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => widthOf(page), POLL).toBe(320);
  });
});

describeInBrowser('before there is a session', (open) => {
  it('keeps the first message over a reload, until it is sent', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    const field = page.getByRole('textbox', { name: 'First message' });
    await field.fill('hello');
    await page.reload();
    expect(await field.inputValue()).toBe('hello');
    await field.press('Enter');
    await page.getByText('You said: hello').waitFor();
    await page.getByRole('link', { name: 'New', exact: true }).click();
    expect(await field.inputValue()).toBe('');
  });

  it('closes a dialog for a click beside it, and not for one that began in it', async () => {
    const { link } = await startWorkHost({ files: { 'a/b.txt': '' } });
    const page = await open(link);
    await page.getByRole('button', { name: 'Browse folders' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a folder' });
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')), POLL)
      .toBe('Filter folders');
    const { x = 0, y = 0 } = (await dialog.boundingBox()) ?? {};
    await page.mouse.click(x + 4, y + 4);
    await page.mouse.move(x + 60, y + 120);
    await page.mouse.down();
    await page.mouse.move(x - 60, y + 120, { steps: 3 });
    await page.mouse.up();
    expect(await dialog.isVisible()).toBe(true);
    await page.mouse.click(x - 60, y + 120);
    await dialog.waitFor({ state: 'detached' });
  });
});

describeInBrowser('settings of a session', (open) => {
  it('are sent when they have changed, and an empty field is no number', async () => {
    const schema = {
      type: 'object',
      properties: { steps: { type: 'number', title: 'Steps', default: 5, sessionMutable: true } },
    };
    const state = { config: { schema, values: { steps: 5 } } } as unknown as Parameters<typeof puppetSession>[0];
    const host = await startPuppetHost({ session: puppetSession(state) });
    const page = await open(host.link);
    const field = page.getByRole('spinbutton', { name: 'Steps' });
    await field.focus();
    await field.blur();
    await field.fill('');
    await field.blur();
    expect(await field.inputValue()).toBe('5');
    await field.fill('7');
    await field.press('Enter');
    const changes = () => host.ofMethod('dispatchAction').filter(({ params }) => isConfigChange(params.action));
    await expect.poll(() => changes().length, POLL).toBe(1);
    expect(changes()[0]?.params.action).toMatchObject({ config: { steps: 7 } });
  });
});

function isConfigChange(action: unknown): boolean {
  return (action as { type?: string }).type === 'session/configChanged';
}
