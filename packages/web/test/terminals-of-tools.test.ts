/** The terminal in which a tool runs its command: watched live, helped, taken over, left alone. */
import { expect, it } from 'vitest';
import { begin, choose, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { screenOf } from './support/terminal-screen.js';
import { complaintsOf, startWorkHost } from './support/work-host.js';

const COUNT = 'for i in 1 2 3 4 5 6 7 8 9; do echo "tick $i"; sleep 0.5; done';
const ASK = 'printf "name? "; read name; echo "hello $name"';
const PROMPTS = {
  run: [
    { title: 'Run it' },
    { callTool: { name: 'shell', input: { command: COUNT } } },
    { text: 'Result: ${lastResult}' },
  ],
  ask: [
    { title: 'Ask me' },
    { callTool: { name: 'shell', input: { command: ASK, interactive: true } } },
    { text: 'Result: ${lastResult}' },
  ],
};

describeInBrowser('terminals of tools', (open) => {
  it('shows the command of a tool live on two browsers, and lets one of them type', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS });
    const desktop = await open(link);
    const complaints = complaintsOf(desktop);
    await begin(desktop, 'ask');
    await desktop.getByRole('button', { name: 'Run', exact: true }).click();
    const inline = desktop.getByRole('region', { name: /^Terminal: printf/ });
    await expect.poll(() => inline.locator('.xterm-rows').innerText(), POLL).toContain('name?');
    const phone = await open(link, PHONE);
    await choose(phone, /Ask me/);
    await phone.getByRole('button', { name: 'Open in the panel' }).click();
    const onPhone = screenOf(phone);
    await expect.poll(onPhone.text, POLL).toContain('name?');
    await onPhone.type('phone');
    await desktop.getByText(/Result: [\s\S]*hello phone/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('takes a command over from the agent, which goes on without it', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS });
    const page = await open(link);
    await begin(page, 'run');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const inline = page.getByRole('region', { name: /^Terminal: for i/ });
    await expect.poll(() => inline.locator('.xterm-rows').innerText(), POLL).toContain('tick 2');
    await inline.getByRole('button', { name: 'Take over' }).click();
    await page
      .getByText(/a person has taken over the terminal/)
      .first()
      .waitFor();
    const screen = screenOf(page);
    await expect.poll(screen.text, POLL).toContain('tick 9');
    await expect.poll(screen.columns, POLL).toMatch(/Ended with exit code 0/);
  });

  it('[UP-139] detaches a command, which then runs in the background, and is listed until it ends', async () => {
    const { link } = await startWorkHost({ prompts: PROMPTS });
    const page = await open(link, PHONE);
    await begin(page, 'run');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const inline = page.getByRole('region', { name: /^Terminal: for i/ });
    await expect.poll(() => inline.locator('.xterm-rows').innerText(), POLL).toContain('tick 1');
    await inline.getByRole('button', { name: 'Detach' }).click();
    await page
      .getByText(/a person has put it into the background/)
      .first()
      .waitFor();
    await page.getByText('1 command in the background').click();
    const work = page.getByRole('listitem').filter({ hasText: COUNT });
    await work.getByRole('button', { name: /^Terminal for i/ }).click();
    const screen = screenOf(page);
    await expect.poll(screen.columns, POLL).toMatch(/of this session/i);
    await expect.poll(screen.text, POLL).toContain('tick 9');
    await expect.poll(() => page.getByText('in the background').filter({ visible: true }).count(), POLL).toBe(0);
  });
});
