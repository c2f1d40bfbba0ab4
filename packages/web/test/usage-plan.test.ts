/** What was used, what it cost, and the agent's list of tasks, on the desk and on the phone. */
import { type AgentBackend, MemoryLog } from '@atrium/host';
import { expect, it } from 'vitest';
import { problemsOf } from './support/axe.js';
import { begin, describeInBrowser, PHONE, POLL } from './support/browser.js';
import { startPageHost } from './support/page-host.js';
import { startWorkHost } from './support/work-host.js';

const usage = { inputTokens: 1_000_000, outputTokens: 20_000, cacheReadTokens: 0, model: 'claude-sonnet-4-5' };
const list = (...items: string[]) => ({ callTool: { name: 'todo_list', input: { items } } });
const PROMPTS = {
  work: [
    { title: 'A task' },
    { usage },
    list('[x] Read the code', '[>] Change the parser', 'Run the tests'),
    { ask: { message: 'Well?', questions: [{ kind: 'text' as const, id: 'a', message: 'Words?' }] } },
    list('[x] Read the code', '[x] Change the parser', '[x] Run the tests'),
    { text: 'Done.' },
  ],
};

/** A month in which something was used on every third day. */
async function pastDays(): Promise<MemoryLog> {
  const log = new MemoryLog();
  const row = { project: 'file:///srv/shop', agent: 'mock', model: 'claude-sonnet-4-5', input: 100_000, output: 5_000 };
  const records = Array.from({ length: 10 }, (_, index) => {
    const day = new Date(Date.now() - (index * 3 + 1) * 86_400_000).toLocaleDateString('sv');
    const counts = { cacheRead: 20_000, cacheWrite: 0, reasoning: 0, requests: 4, turns: 2, milliseconds: 9_000 };
    const value = { ...row, ...counts, input: row.input * (1 + (index % 4)), costUsd: 0 };
    return { key: `usage:day:${day}:seed`, value: JSON.stringify(value) };
  });
  await log.append({ entries: [], records, durability: 'normal' });
  return log;
}

describeInBrowser('usage, cost and plan', (open) => {
  it.each([
    ['on the desk', undefined],
    ['on the phone', PHONE],
  ] as const)('[DAY-043] [DAY-050] are shown, exported and free of what axe finds, %s', async (_where, size) => {
    const { link } = await startPageHost(PROMPTS, await pastDays());
    const page = await open(link, size);
    await begin(page, 'work');
    await page.getByRole('form', { name: 'Question' }).waitFor();
    const strip = page.locator('.plan-strip summary');
    await expect.poll(() => strip.textContent(), POLL).toBe('To-dos: 1 of 3 · Change the parser');
    await strip.click();
    await page.locator('.plan-strip li.active').getByText('Change the parser').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await strip.click();
    await page.getByRole('textbox', { name: 'Message' }).fill('/cost');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    // Budgets are set in the page, by command and by hand.
    await page.getByRole('textbox', { name: 'Message' }).fill('/budget session $5');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await page.getByText('The budget of the session is $5 now.').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('/budget');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    const usage = page.getByRole('dialog', { name: 'Usage' });
    await usage.getByText(/^This session \$3\.30 of \$5\.00$/).waitFor();
    await usage.getByLabel('Budget of').selectOption('day');
    await usage.getByLabel('Limit').fill('much');
    expect(await usage.getByRole('button', { name: 'Set' }).isDisabled()).toBe(true);
    await usage.getByLabel('Limit').fill('900M');
    await usage.getByRole('button', { name: 'Set' }).click();
    await usage.getByText(/^Each day .* of 900M tokens$/).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await usage.getByRole('button', { name: 'Remove the budget: This session' }).click();
    await usage.getByText(/^This session \$/).waitFor({ state: 'detached' });
    await usage.getByRole('button', { name: 'Close' }).click();
    const panel = page.getByRole('complementary', { name: 'Details' });
    await panel.getByRole('heading', { name: 'To-dos: 1 of 3 done' }).waitFor();
    await panel.getByText('$3.30').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    if (size) {
      await panel.getByRole('button', { name: 'Hide details' }).click();
      await page.getByRole('link', { name: 'All sessions' }).click();
    }
    await expect.poll(() => page.locator('.session-item .detail').textContent(), POLL).toContain('1 of 3');
    await page.getByRole('button', { name: 'Usage and cost' }).click();
    const dialog = page.getByRole('dialog', { name: 'Usage' });
    await dialog.getByRole('img', { name: /^The last 30 days: \$\d+\.\d\d on 1[01] of them, most on/ }).waitFor();
    expect(await dialog.locator('rect.bar').count()).toBe(30);
    await dialog.getByLabel('Add up by').selectOption('model');
    await dialog.getByRole('rowheader', { name: 'claude-sonnet-4-5' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    const saved = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Export CSV' }).click();
    expect((await saved).suggestedFilename()).toBe('usage-by-model.csv');
    // Nothing is wider than the screen but the table, which scrolls by itself.
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).toBeLessThanOrEqual(0);
  });
});

/** An agent that is opened when the test lets it, and hears when it is given up. */
function slowAgent() {
  let isGivenUp = false;
  const info = { provider: 'slow', displayName: 'Slow', description: 'Takes its time', models: [] };
  const agent: AgentBackend = {
    info,
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: false },
    sections: {},
    open: ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isGivenUp = true;
          reject(signal.reason);
        });
      }),
  };
  return { agent, isGivenUp: () => isGivenUp };
}

describeInBrowser('the creation of a session', (open) => {
  it('[DAY-051] shows what is being done and how far it is, and can be given up', async () => {
    const { agent, isGivenUp } = slowAgent();
    const { link } = await startWorkHost({ agents: [agent] });
    const page = await open(link);
    await page.getByRole('textbox', { name: 'First message' }).fill('hello');
    await page.getByRole('textbox', { name: 'First message' }).press('Enter');
    await page.getByText('Opening Slow').waitFor();
    const bar = page.getByRole('progressbar', { name: 'Getting ready' });
    expect(Number(await bar.getAttribute('value'))).toBeGreaterThan(0);
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Give it up' }).click();
    await page.getByRole('heading', { name: 'What should we work on?' }).waitFor();
    await expect.poll(isGivenUp, POLL).toBe(true);
  });
});
