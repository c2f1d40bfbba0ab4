import { describe, expect, it } from 'vitest';
import { CpuBudget, CREDIT_MAX_MS, Inbox } from '../../../src/gateway/inbox.js';
import { checkParsingCost, NESTING_MAX_LEVELS, PIECES_MAX } from '../../../src/gateway/provider-frame.js';
import { openFixture, stateOf } from '../../support/session-fixture.js';
import { TestProvider } from '../../support/test-provider.js';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const objects = (count: number) => `[${Array(count).fill('{}').join()}]`;

describe('a message', () => {
  it.each([
    ['as deep as it may be', nested(NESTING_MAX_LEVELS)],
    ['with as many objects as it may have', objects(PIECES_MAX - 1)],
    [
      'with any number of numbers',
      `[${Array(PIECES_MAX * 2)
        .fill(0)
        .join()}]`,
    ],
    ['with brackets in its texts', JSON.stringify([`${'[{:'.repeat(PIECES_MAX)}"\\`, '\\\\', '"'])],
    ['that is no JSON', '"'.repeat(5)],
  ])('%s is worth parsing', (_which, text) => {
    expect(() => checkParsingCost(text)).not.toThrow();
  });

  it.each([
    ['too deep', 'INVALID_JSON', nested(NESTING_MAX_LEVELS + 1)],
    ['too deep and without an end', 'INVALID_JSON', '{"a":'.repeat(300_000)],
    ['of too many objects', 'PAYLOAD_TOO_LARGE', objects(PIECES_MAX)],
    ['of too many members', 'PAYLOAD_TOO_LARGE', `{${'"a":0,'.repeat(PIECES_MAX)}"b":0}`],
    ['too deep behind a text', 'INVALID_JSON', `["\\\\",${nested(NESTING_MAX_LEVELS)}]`],
  ])('%s is not parsed', (_which, code, text) => {
    expect(() => checkParsingCost(text)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['tools.update', { tools: [{ name: 'deep', description: 'Deep.', parameters: 'DEEP' }] }],
    ['push', { level: 'inject', event: 'x', metadata: { deep: 'DEEP' } }],
    ['hello', { name: 'ci', protocolVersion: 2, metadata: { deep: 'DEEP' } }],
  ])('that is too deep to be stored (%s) is refused, and the line stays open', async (type, content) => {
    const { host, client, uri } = await openFixture();
    const provider = await TestProvider.bound(host);
    const deep = `${'{"a":'.repeat(6_000)}{}${'}'.repeat(6_000)}`;
    provider.sendText(JSON.stringify({ type, ...content }).replace('"DEEP"', deep));
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_JSON' });
    provider.send({ type: 'tools.update', requestId: 'r', tools: [] });
    await provider.next('ack');
    expect((await stateOf(client, uri)).activeTurn).toBeUndefined();
  });
});

/** Work that takes so long, and nothing else. */
function work(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

describe('the cpuBudget of providers', () => {
  it('is used up by long work, and comes back', async () => {
    let now = 0;
    const cpuBudget = new CpuBudget(() => now);
    const spend = (milliseconds: number) =>
      cpuBudget.spend('', () => {
        now += milliseconds;
      });
    spend(CREDIT_MAX_MS / 4);
    expect(cpuBudget.isExhausted).toBe(false);
    spend(CREDIT_MAX_MS);
    expect(cpuBudget.isExhausted).toBe(true);
    await new Promise<void>((resolve) => cpuBudget.whenRefilled(resolve));
    expect(cpuBudget.isExhausted).toBe(false);
  });

  it('counts also what is done later because of a message', async () => {
    let now = 0;
    const cpuBudget = new CpuBudget(() => now);
    const later = () => {
      now += 20;
    };
    for (let count = 0; count < 10 && !cpuBudget.isExhausted; count++) {
      cpuBudget.spend('', () => queueMicrotask(later));
      // A message is watched for two turns of the event loop; those that come meanwhile count with it.
      for (let turns = 0; turns < 3; turns++) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    expect(cpuBudget.isExhausted).toBe(true);
  });

  it('is one for all: who waits is served in turn, and reading stops until then', async () => {
    const cpuBudget = new CpuBudget();
    const taken: string[] = [];
    const paused = new Set<string>();
    const inbox = (name: string) =>
      new Inbox({
        cpuBudget,
        take: (text) => {
          taken.push(name + text);
          work(CREDIT_MAX_MS / 2);
        },
        pause: () => paused.add(name),
        resume: () => paused.delete(name),
        overflow: () => {},
      });
    const one = inbox('a');
    const other = inbox('b');
    for (const text of ['1', '2', '3', '4', '5']) one.push(text);
    other.push('1');
    expect(taken.length).toBeLessThan(6);
    expect([...paused]).toEqual(['a', 'b']);
    await expect.poll(() => taken.length, { timeout: 15_000 }).toBe(6);
    expect(taken.indexOf('b1')).toBeLessThan(taken.indexOf('a5'));
    await expect.poll(() => [...paused]).toEqual([]);
  });
});
