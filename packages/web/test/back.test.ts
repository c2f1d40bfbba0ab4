/** Back on a phone closes what covers the page, and does not leave what lies below it. */
import { expect, it } from 'vitest';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startWorkHost } from './support/work-host.js';

describeInBrowser('back on a phone', (open) => {
  it('closes the panel, and the next session is not covered by it [DAY-120]', async () => {
    const { link } = await startWorkHost({ prompts: { one: [{ title: 'One' }, { text: 'First.' }] } });
    const page = await open(link, PHONE, { isNew: true });
    await begin(page, 'one');
    await page.getByText('First.').waitFor();
    const panel = page.getByRole('complementary', { name: 'Details' });
    await page.getByRole('button', { name: 'Details' }).tap();
    await panel.waitFor();
    const at = page.url();
    await page.goBack();
    await panel.waitFor({ state: 'detached' });
    expect(page.url()).toBe(at);
    await page.getByText('First.').waitFor();
    // Closed by its button, it leaves nothing behind that Back would have to go through.
    await page.getByRole('button', { name: 'Details' }).tap();
    await panel.getByRole('button', { name: /close|hide/i }).tap();
    await panel.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => history.state), POLL).toBeNull();
    await page.getByRole('button', { name: 'Details' }).tap();
    await panel.waitFor();
    await page.evaluate(() => {
      location.hash = '#/';
    });
    await page.getByRole('link', { name: /^One/ }).tap();
    await page.getByText('First.').waitFor();
    expect(await panel.count()).toBe(0);
  });

  it('closes a dialog and stays where it was [DAY-120]', async () => {
    const { link } = await startWorkHost({ prompts: { one: [{ title: 'One' }, { text: 'First.' }] } });
    const page = await open(link, PHONE, { isNew: true });
    await begin(page, 'one');
    await page.getByText('First.').waitFor();
    await page.getByRole('link', { name: 'All sessions' }).tap();
    await page.getByRole('button', { name: 'Settings' }).tap();
    const dialog = page.getByRole('dialog', { name: 'Settings' });
    await dialog.waitFor();
    const at = page.url();
    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    expect(page.url()).toBe(at);
  });
});
