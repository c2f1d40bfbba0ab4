import type { Log } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';
import { countingDriver } from '../support/log-drivers.js';
import { dataFolder, drivers, openLog } from '../support/log-folders.js';
import { appendSamples } from '../support/log-samples.js';

const MANY = 10_000;
const CHANNEL = 'ahp-session:/long';

describe.each(drivers)('a large log ($name)', (driver) => {
  it('[REL-036] lists 10,000 sessions without opening one', async () => {
    let characters = 0;
    const counting = countingDriver(driver, (count) => {
      characters += count;
    });
    const log = await openLog(dataFolder(), { driver: counting });
    const summary = { provider: 'offline', title: 'A session '.repeat(5), status: 1, createdAt: 1, modifiedAt: 2 };
    const records = Array.from({ length: MANY }, (_, index) => {
      return { key: `session:${index}`, value: JSON.stringify({ resource: `ahp-session:/${index}`, ...summary }) };
    });
    await log.append({ entries: [], records, durability: 'full' });
    characters = 0;
    expect(await log.records('session:')).toHaveLength(MANY);
    // Each record is read once, and nothing else is.
    expect(characters).toBeLessThan(1.5 * records.reduce((sum, { key, value }) => sum + key.length + value.length, 0));
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
    expect(await log.archiveHead(CHANNEL)).toMatchObject({ seq: 10, turnCount: MANY });
    expect(characters).toBeLessThan(1_000);
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
