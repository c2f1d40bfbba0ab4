import path from 'node:path';
import { COMPACT_EVERY_ENTRIES, Compaction } from '@atrium/core/log/compaction.js';
import { REPLAY_MAX_ENVELOPES } from '@atrium/core/log/limits.js';
import type { Log, Stored } from '@atrium/core/log/log.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { describe, expect, it } from 'vitest';
import { DATABASE_FILE } from '../../src/log-sqlite/folder.js';
import { skipNumbers, withDatabase } from '../../src/log-sqlite/schema.js';
import { dataFolder, drivers, openLog } from '../support/log-folders.js';

const OLD = 'ahp-session:/old';
const NEW = 'ahp-session:/new';

/** Archives a channel as it is now. */
async function archive(log: Log, channel: string): Promise<boolean> {
  const archives = [{ channel, head: '{}', turns: { start: 0, items: [] } }];
  await log.append({ entries: [], archives, durability: 'normal' });
  return true;
}

function append(log: Log, channel: string, count: number): Promise<Stored> {
  const entries = Array.from({ length: count }, () => ({ channel, time: 0, action: '{}' }));
  return log.append({ entries, durability: 'normal' });
}

describe.each(drivers)('a log that gave up numbers after a damage ($name)', (driver) => {
  it('drops also what was there before, once it is archived', async () => {
    const dataDir = dataFolder();
    const before = await openLog(dataDir, { driver });
    await append(before, OLD, 3);
    await before.close();
    withDatabase(driver, path.join(dataDir, DATABASE_FILE), (db) => skipNumbers(db, 7 * COMPACT_EVERY_ENTRIES));
    const log = await openLog(dataDir, { driver });
    const archived: string[] = [];
    const compaction = new Compaction({
      log,
      logger: silentLogger,
      keep: REPLAY_MAX_ENVELOPES,
      storeArchive: (channel) => {
        archived.push(channel);
        return archive(log, channel);
      },
    });
    compaction.stored(await append(log, NEW, COMPACT_EVERY_ENTRIES));
    await expect.poll(() => log.head - log.oldest).toBe(REPLAY_MAX_ENVELOPES - 1);
    expect(archived).toEqual([OLD, NEW]);
    expect(await log.read({ after: 0, channel: OLD })).toEqual([]);
  });
});
