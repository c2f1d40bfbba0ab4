/** `atrium usage`, and money in the chat. */
import { moneyText, readUsageLimit, type UsageReport, usageCsv } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { tokensText, totalsText, usageTable } from '../src/usage-text.js';
import { answer, openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, sharedHost } from './support/host.js';

const COUNTS = { cacheRead: 8_000, cacheWrite: 0, reasoning: 5, requests: 3, turns: 2, milliseconds: 4_000 };
const REPORT: UsageReport = {
  by: 'session',
  entries: [
    {
      key: 'ahp-session:/1f2e',
      title: '=SUM(A1), "quoted"',
      input: 12_000,
      output: 1_200,
      ...COUNTS,
      cost: 0.42,
      unpricedTokens: 0,
    },
    {
      key: 'ahp-session:/gone',
      input: 3_000_000,
      output: 10,
      ...COUNTS,
      cacheRead: 0,
      turns: 1,
      unpricedTokens: 3_000_010,
    },
  ],
  total: { input: 3_012_000, output: 1_210, ...COUNTS, turns: 3, cost: 0.42, unpricedTokens: 3_000_010 },
  prices: { date: '2025-12-01', source: 'somewhere', own: ['mine'] },
};

describe('usage in words', () => {
  it('[DAY-043] is a table with a sum, and says where prices come from and what has none', () => {
    const lines = usageTable(REPORT).split('\n');
    expect(lines[0]).toMatch(/^SESSION +IN +CACHED +WRITTEN +OUT +REASONING +TURNS +COST$/);
    expect(lines[1]).toMatch(/ 12k +8k +0 +1\.2k +5 +2 +\$0\.42$/);
    expect(lines[2]).toMatch(/\(removed\) +3M +0 +0 +10 +5 +1 +–$/);
    expect(lines[3]).toMatch(/^all +3M/);
    expect(lines.at(-1)).toBe(
      'US dollars, with prices of 2025-12-01 (somewhere), and your own for mine. 3M tokens have no price, or a plan pays.',
    );
    expect(totalsText(REPORT.total)).toBe('$0.42 · 3M in (8k cached) · 1.2k out · 3 turns · 3M without a price');
    expect([moneyText(0.001), moneyText(12), tokensText(999_600)]).toEqual(['$0.0010', '$12.00', '1M']);
  });

  it('[DAY-043] is CSV that no spreadsheet takes for a formula', () => {
    const [head, first] = usageCsv(REPORT).split('\r\n');
    expect(head).toBe(
      'session,title,input,cacheRead,cacheWrite,output,reasoning,requests,turns,milliseconds,costUsd,unpricedTokens',
    );
    expect(first).toBe(`ahp-session:/1f2e,"'=SUM(A1), ""quoted""",12000,8000,0,1200,5,3,2,4000,0.42,0`);
  });

  it('[DAY-042] reads limits as people write them', () => {
    expect(['$5', '2M', '500k', '1200', 'off'].map(readUsageLimit)).toEqual([
      ...[{ money: 5 }, { tokens: 2_000_000 }, { tokens: 500_000 }, { tokens: 1_200 }],
      {},
    ]);
    expect(['', '$0', '5$', '-1', 'much'].map(readUsageLimit)).toEqual(Array(5).fill(undefined));
  });
});

describe.skipIf(!isBuilt)('usage of a real host (skipped unless it has been built)', { timeout: 90_000 }, () => {
  const shared = sharedHost();

  it('[DAY-042] [DAY-043] is shown by the command and in the chat, and a budget is asked about and answered', async () => {
    const host = shared();
    const { terminal } = await openChat('chat', { host });
    await terminal.sees(PROMPT);
    await say(terminal, '/cost');
    await terminal.sees(/Nothing was used in this session yet/);
    await say(terminal, 'count tokens');
    await terminal.sees(/Counted\./);
    await say(terminal, '/cost');
    await terminal.sees(/This session: \$3\.30 · 1M in · 20k out · 1 turn/);
    const report = JSON.parse((await host.run(['usage', '--by', 'model', '--json'])).stdout);
    expect(report).toMatchObject({ by: 'model', entries: [{ key: 'claude-sonnet-4-5', cost: 3.3 }] });
    expect((await host.run(['usage'])).stdout).toMatch(/^DAY +IN .*\n\d{4}-\d\d-\d\d +1M /);
    expect((await host.run(['usage', '--csv'])).stdout).toMatch(/^day,title,input/);
    expect((await host.run(['usage', '--by', 'moon'])).code).toBe(2);
    terminal.type('/budget session $2');
    terminal.keys('Enter');
    await terminal.sees(/Budget of the session: \$3\.30 of \$2\.00/);
    await say(terminal, 'hello');
    await terminal.sees(/The budget of this session is used up: \$3\.30 of \$2\.00/);
    await terminal.sees(/1 Go on with 50 % more\n +The budget becomes \$4\.95\./);
    await answer(terminal, '2');
    terminal.keys('Enter');
    await terminal.sees(/Stopped\. The budget of this session is used up/);
    const limit = (tokens?: number) => JSON.stringify({ scope: 'day', ...(tokens && { tokens }) });
    await host.run(['call', 'atrium/setBudget', limit(10)]);
    const stopped = await host.run(['run', 'hello']);
    expect([stopped.code === 0, stopped.stderr]).toEqual([false, expect.stringContaining("Today's budget is used up")]);
    await host.run(['call', 'atrium/setBudget', limit()]);
    expect((await host.run(['run', 'hello'])).code).toBe(0);
  });

  it('[DAY-050] the list of tasks stands above the line, and how far it is in the list of sessions', async () => {
    const host = shared();
    const { terminal } = await openChat('chat', { host });
    await terminal.sees(PROMPT);
    await say(terminal, 'plan it');
    await terminal.sees(/To-dos: 1 of 3 done\n +✓ Read the code\n +▸ Change the parser\n +· Run the tests\n/);
    expect((await host.run(['sessions', 'list'])).stdout).toMatch(/asks you 1\/3/);
    await answer(terminal, 'Escape');
  });
});
