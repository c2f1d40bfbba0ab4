/** Terminals of the host, watched and used from several browsers at once. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, choose, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { cutterOf } from './support/sockets.js';
import { screenOf } from './support/terminal-screen.js';
import { complaintsOf, openTab, startWorkHost } from './support/work-host.js';

/** For four hundred thousand lines. */
const LONG = { timeout: 15_000 };
const PROMPTS = { hello: [{ title: 'Hello' }, { text: 'You said: hello' }] };

describeInBrowser('terminals', (open) => {
  it('shares one: the desktop opens it, both see it, the phone types', async () => {
    const { link, folder } = await startWorkHost({ files: { 'a.txt': 'a\n' }, prompts: PROMPTS });
    const desktop = await open(link);
    const complaints = complaintsOf(desktop);
    await begin(desktop, 'hello');
    await desktop.getByText('You said: hello').waitFor();
    await openTab(desktop, 'Terminal');
    await desktop.getByRole('button', { name: 'New terminal' }).click();
    const onDesktop = screenOf(desktop);
    await expect.poll(onDesktop.text, POLL).toMatch(/[$#] /);
    await onDesktop.type('ls; echo "from the desktop"');
    await expect.poll(onDesktop.text, POLL).toMatch(/a\.txt\s+from the desktop/);
    await expect.poll(onDesktop.columns, POLL).toMatch(/Yours|yours/);

    const phone = await open(link, PHONE);
    await choose(phone, /Hello/);
    await openTab(phone, 'Terminal');
    const onPhone = screenOf(phone);
    await expect.poll(onPhone.text, POLL).toContain('from the desktop');
    expect(await onPhone.columns()).toMatch(/opened on another device/i);
    await onPhone.type('echo $((6*7)) > answer; echo "from the phone"');
    await expect.poll(onDesktop.text, POLL).toMatch(/\nfrom the phone/);
    expect(await readFile(path.join(folder, 'answer'), 'utf8')).toBe('42\n');
    // Both show the same columns: those of the desktop, which has it.
    const size = async (columns: () => Promise<string>) => /\d+\s×\s\d+/.exec(await columns())?.[0];
    expect(await size(onPhone.columns)).toBe(await size(onDesktop.columns));

    await onPhone.type('exit 3');
    await desktop.getByText('Ended with exit code 3').waitFor();
    await phone.getByRole('button', { name: 'Close', exact: true }).click();
    await desktop.getByText('No terminal is open.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('draws colours and survives a flood, under the content policy', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    const complaints = complaintsOf(page);
    await begin(page, 'hello');
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).click();
    const screen = screenOf(page);
    await expect.poll(screen.text, POLL).toMatch(/[$#] /);
    await screen.type("printf '\\033[31mred\\033[0m \\033[38;2;10;200;30mtrue\\033[0m\\n'");
    const colour = (text: string) =>
      page
        .locator('.terminal-screen .xterm-rows span')
        .getByText(text, { exact: true })
        .last()
        .evaluate((element) => getComputedStyle(element).color);
    await expect.poll(() => colour('red'), POLL).not.toBe(await colourOfInk(page));
    expect(await colour('true')).not.toBe(await colour('red'));
    await screen.type('yes | head -n 400000; echo the end');
    await expect.poll(screen.text, LONG).toMatch(/\nthe end/);
    expect(complaints).toEqual([]);
  });

  it('shows what came while the connection was lost, once and in its place', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    const cut = await cutterOf(page);
    await begin(page, 'hello');
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).click();
    const screen = screenOf(page);
    await expect.poll(screen.text, POLL).toMatch(/[$#] /);
    await screen.type('echo got$((1)); sleep 1; echo got$((2)); sleep 3; echo got$((3))');
    await expect.poll(screen.text, POLL).toMatch(/\ngot1/);
    await cut();
    await expect.poll(screen.text, POLL).toMatch(/\ngot1\s+got2\s+got3\s/);
    expect((await screen.text()).match(/got\d/g)).toEqual(['got1', 'got2', 'got3']);
  });

  it('has its terminal again when it is loaded again, and leaves it to others when it goes', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS });
    const desktop = await open(link);
    await begin(desktop, 'hello');
    await desktop.getByText('You said: hello').waitFor();
    await openTab(desktop, 'Terminal');
    await desktop.getByRole('button', { name: 'New terminal' }).click();
    const onDesktop = screenOf(desktop);
    await expect.poll(onDesktop.columns, POLL).toMatch(/yours/i);
    await desktop.reload();
    await openTab(desktop, 'Terminal');
    await expect.poll(onDesktop.columns, POLL).toMatch(/yours/i);

    const phone = await open(link, PHONE);
    await choose(phone, /Hello/);
    await openTab(phone, 'Terminal');
    await expect.poll(screenOf(phone).columns, POLL).toMatch(/another device/i);
    await desktop.close({ runBeforeUnload: true });
    await phone.getByRole('button', { name: 'Take over' }).click();
    await expect.poll(screenOf(phone).columns, POLL).toMatch(/yours/i);
  });

  it('keeps its lines for screen readers when somebody asks for it, also over a reload', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    const complaints = complaintsOf(page);
    await begin(page, 'hello');
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).click();
    const screen = screenOf(page);
    await expect.poll(screen.text, POLL).toMatch(/[$#] /);
    const lines = page.locator('.xterm-accessibility');
    expect(await lines.count()).toBe(0);
    await screen.type('echo $((6*7))');
    await page.keyboard.press('Shift+Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Find/ }).fill('aloud');
    await page.keyboard.press('Enter');
    await expect.poll(() => lines.innerText(), POLL).toMatch(/\n42\n/);
    expect(await problemsOf(page)).toEqual([]);
    await page.reload();
    await openTab(page, 'Terminal');
    await expect.poll(() => lines.innerText(), POLL).toMatch(/\n42\n/);
    expect(complaints).toEqual([]);
  });

  it('leaves with Shift+Escape, and asks before it ends what runs', async () => {
    const { link } = await startWorkHost({});
    const page = await open(link);
    await begin(page, 'hello');
    await openTab(page, 'Terminal');
    await page.getByRole('button', { name: 'New terminal' }).click();
    const screen = screenOf(page);
    await expect.poll(screen.text, POLL).toMatch(/[$#] /);
    await page.locator('.terminal-screen textarea').focus();
    await page.keyboard.press('Shift+Escape');
    expect(await page.evaluate(() => document.activeElement?.closest('.terminal-head') !== null)).toBe(true);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await page.getByText('No terminal is open.').waitFor();
  });
});

function colourOfInk(page: Page): Promise<string> {
  return page.locator('.terminal-screen').evaluate((element) => getComputedStyle(element).color);
}
