/** Nothing is lost or doubled when the page is loaded again, or when the host dies. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { begin, describeInBrowser, POLL } from './support/browser.js';
import { startMortalHost } from './support/mortal-host.js';
import { cutterOf } from './support/sockets.js';

/** Numbers that stream for two to three seconds. */
const WORDS = Array.from({ length: 60 }, (_, index) => `w${index}.`).join(' ');
const SCRIPT = {
  provider: 'slow',
  displayName: 'Slow',
  prompts: {
    count: [{ text: WORDS, chunk: 4, everyMs: 30 }],
    command: [{ callTool: { name: 'shell', input: { command: 'echo STARTED; sleep 60' } } }],
  },
  default: [{ text: 'You said: ${text}' }],
};

describeInBrowser('a page that comes back', (open) => {
  it('is loaded again in the middle of an answer, and has all of it', async () => {
    const { link } = await startMortalHost(SCRIPT);
    const page = await open(link);
    await begin(page, 'count');
    await page.getByText('w3.').waitFor();
    await page.reload();
    await page.getByText('w59.').waitFor();
    expect(await page.locator('.prose').allInnerTexts()).toEqual([WORDS]);
  });

  it('stays through the death of its host, says so, and goes on', async () => {
    const host = await startMortalHost(SCRIPT);
    const page = await open(host.link);
    await begin(page, 'count');
    await page.getByText('w3.').waitFor();
    await host.kill();
    await page.getByText('Connection lost.').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('are you there?');
    await host.startAgain();
    await page.getByText('Connected again').waitFor();
    await page.getByText('This turn failed.').waitFor();
    await field.press('Enter');
    await page.getByText('You said: are you there?').waitFor();
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['count', 'are you there?']);
  });

  it.skipIf(process.platform === 'win32')(
    '[REL-062] says that a call was interrupted while running, shows its output, and claims nothing else',
    async () => {
      const host = await startMortalHost(SCRIPT);
      const page = await open(host.link);
      await begin(page, 'command');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('STARTED', { exact: true }).first().waitFor();
      await host.kill();
      await page.getByText('Connection lost.').waitFor();
      await host.startAgain();
      await page.getByText('Connected again.', { exact: true }).waitFor();
      await page.getByText(/A turn was cut off meanwhile in/).waitFor();
      expect(await page.getByText('Nothing was lost').count()).toBe(0);
      await page.getByText('Interrupted', { exact: true }).waitFor();
      await page.getByText(/A tool was interrupted while it ran/).waitFor();
      await page
        .getByText(/^Interrupted while running: Run echo STARTED/)
        .first()
        .click();
      await page.locator('pre', { hasText: /^STARTED/ }).waitFor();
      expect(await page.getByText('Skipped').count()).toBe(0);
    },
  );

  it('[REL-063] says what was saved and lost when the files of its host were damaged', async () => {
    const host = await startMortalHost(SCRIPT);
    const page = await open(host.link);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await host.stop();
    const bytes = await readFile(host.database);
    const at = bytes.indexOf('session:ahp-session:');
    bytes.fill(0, at - (at % 4_096), at - (at % 4_096) + 4_096);
    await writeFile(host.database, bytes);
    await host.startAgain();
    await page.reload();
    await page.getByText('Stored data was damaged.').waitFor();
    await page.getByText('You said: hello').waitFor();
    await page.getByRole('button', { name: 'I have read it' }).click();
    await page.reload();
    await page.getByText('You said: hello').waitFor();
    expect(await page.getByText('Stored data was damaged.').count()).toBe(0);
  });

  it('does not take a cut connection for a refused token', async () => {
    const { link } = await startMortalHost(SCRIPT);
    const page = await open(link);
    const cut = await cutterOf(page);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await cut();
    const next = page
      .getByText('Connected again')
      .or(page.getByRole('heading', { name: 'The host has another token' }));
    await next.waitFor();
    expect(await next.innerText()).toContain('Connected again');
  });

  it('asks for the new token of a host that has another one, and goes on where it was', async () => {
    const host = await startMortalHost(SCRIPT);
    const page = await open(host.link);
    await page.clock.install();
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('half a thou');
    let attempts = 0;
    page.on('websocket', () => {
      attempts += 1;
    });
    /** How often the page tries to connect within five minutes of its clock. */
    const attemptsInMinutes = async () => {
      attempts = 0;
      for (let minute = 0; minute < 5; minute++) {
        await page.clock.runFor(60_000);
        await page.evaluate(() => fetch('/').catch(() => {}));
      }
      return attempts;
    };
    await host.kill();
    expect(await attemptsInMinutes()).toBeGreaterThan(1);
    await host.startAgain('another-token-0123456789');
    await page.clock.runFor(60_000);
    await page.getByRole('heading', { name: 'The host has another token' }).waitFor();
    // Apart from what it had begun, it does not go on as it does without a connection.
    await expect.poll(attemptsInMinutes, POLL).toBe(0);
    const field = page.getByLabel('Token, link, or the eight digits of a code');
    await field.fill('a-wrong-token-0123456789');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('heading', { name: 'The host refused this token' }).waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('Copy it again');
    await field.fill('another-token-0123456789');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('You said: hello').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a thou');
  });

  it('says that the token which somebody typed or brought along was refused', async () => {
    const { link } = await startMortalHost(SCRIPT);
    const page = await open(link.replace(/#.*/, ''));
    await page.getByRole('heading', { name: 'This host asks for a token' }).waitFor();
    const field = page.getByLabel('Token, link, or the eight digits of a code');
    for (const wrong of ['wrong-token-0123456789', 'again-wrong-0123456789']) {
      await field.fill(wrong);
      await page.getByRole('button', { name: 'Connect' }).click();
      await page.getByRole('heading', { name: 'The host refused this token' }).waitFor();
      await expect.poll(() => field.inputValue()).toBe('');
    }
    await field.fill(link);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('textbox', { name: 'First message' }).waitFor();
    const other = await open(`${link}-and-more`);
    await other.getByRole('heading', { name: 'The host refused this token' }).waitFor();
  });

  it('finds a host that has its first token again when somebody comes back to look', async () => {
    const host = await startMortalHost(SCRIPT);
    const page = await open(host.link);
    await begin(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await host.kill();
    await host.startAgain('another-token-0123456789');
    await page.getByRole('heading', { name: 'The host has another token' }).waitFor();
    await host.kill();
    await host.startAgain();
    const look = () => page.evaluate(() => void dispatchEvent(new Event('focus')));
    const isBack = () => look().then(() => page.getByText('You said: hello').isVisible());
    await expect.poll(isBack).toBe(true);
  });
});
