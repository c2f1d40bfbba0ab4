import type { Log } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';
import { countingDriver } from '../support/log-drivers.js';
import { dataFolder, drivers, openLog } from '../support/log-folders.js';
import { appendSamples } from '../support/log-samples.js';

const MANY = 10_000;
/** The promise is 100 ms; a busy machine gets far more, and opening every session would still take longer. */
const LIST_LIMIT_MS = 2_000;
const OPEN_LIMIT_MS = 1_000;
const CHANNEL = 'ahp-session:/long';

describe.each(drivers)('a large log ($name)', (driver) => {
  it('[REL-036] lists 10,000 sessions without opening one', async () => {
    const log = await openLog(dataFolder(), { driver });
    const summary = { provider: 'offline', title: 'A session '.repeat(5), status: 1, createdAt: 1, modifiedAt: 2 };
    const records = Array.from({ length: MANY }, (_, index) => {
      return { key: `session:${index}`, value: JSON.stringify({ resource: `ahp-session:/${index}`, ...summary }) };
    });
    await log.append({ entries: [], records, durability: 'full' });
    const { result, milliseconds } = await timed(() => log.records('session:'));
    expect(result).toHaveLength(MANY);
    expect(milliseconds).toBeLessThan(LIST_LIMIT_MS);
  });

  it('[REL-036] opens a session of 10,000 turns without reading them', async () => {
    const dataDir = dataFolder();
    const writer = await openLog(dataDir, { driver });
    await appendSamples(writer, 10);
    await archiveLongSession(writer);
    await writer.close();

    let characters = 0;
    const counting = countingDriver(driver, (count) => {
      characters += count;
    });
    const log = await openLog(dataDir, { driver: counting });
    const { result, milliseconds } = await timed(() => log.archiveHead(CHANNEL));
    expect(result).toMatchObject({ seq: 10, turnCount: MANY });
    expect(characters).toBeLessThan(1_000);
    expect(milliseconds).toBeLessThan(OPEN_LIMIT_MS);
    expect(await log.archivedTurns(CHANNEL, { start: MANY - 2, end: MANY })).toHaveLength(2);
  });
});

async function archiveLongSession(log: Log): Promise<void> {
  const text = 'A long answer. '.repeat(60);
  const items = Array.from({ length: MANY }, (_, index) => ({
    id: `t${index}`,
    json: JSON.stringify({ index, text }),
  }));
  const archive = { channel: CHANNEL, head: '{"title":"Long"}', turns: { start: 0, items } };
  await log.append({ entries: [], archives: [archive], durability: 'full' });
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; milliseconds: number }> {
  const start = performance.now();
  const result = await work();
  return { result, milliseconds: performance.now() - start };
}
