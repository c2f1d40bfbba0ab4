import { statSync } from 'node:fs';
import type { Clock } from '@atrium/core/util/clock.js';
import { describe, expect, it, vi } from 'vitest';
import type { Database } from '../../src/log-sqlite/driver.js';
import { CHECKPOINT_QUIET_MS, Checkpoints } from '../../src/log-sqlite/schema.js';
import { databaseOf } from '../support/log-damage.js';
import { dataFolder, drivers, openLog } from '../support/log-folders.js';
import { appendSamples } from '../support/log-samples.js';

/** A clock that stands still and remembers what waits for it. */
class StillClock implements Clock {
  waiting: { milliseconds: number; callback: () => void } | undefined;

  now(): number {
    return 1_000;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const entry = { milliseconds, callback };
    this.waiting = entry;
    return () => {
      if (this.waiting === entry) this.waiting = undefined;
    };
  }
}

describe.each(drivers)('checkpoints ($name)', (driver) => {
  it('wait for a quiet moment, and move what was committed into the database file', async () => {
    const dataDir = dataFolder();
    const clock = new StillClock();
    const log = await openLog(dataDir, { clock, driver });
    await appendSamples(log, 100);
    expect(clock.waiting).toBe(undefined);
    await appendSamples(log, 2_000);
    expect(clock.waiting?.milliseconds).toBe(CHECKPOINT_QUIET_MS);
    const before = statSync(databaseOf(dataDir)).size;
    clock.waiting?.callback();
    expect(statSync(databaseOf(dataDir)).size).toBeGreaterThan(before);
  });

  it('do not wait for ever, and not at all once the log is closed', async () => {
    const clock = new StillClock();
    const log = await openLog(dataFolder(), { clock, driver });
    for (let round = 0; round < 5; round++) await appendSamples(log, 2_000);
    expect(clock.waiting?.milliseconds).toBe(0);
    await log.close();
    expect(clock.waiting).toBe(undefined);
  });
});

describe('the estimate of what a checkpoint has to move', () => {
  function counted() {
    const clock = new StillClock();
    const [all, log] = [vi.fn(), vi.fn()];
    const db = { prepare: () => ({ all }) } as unknown as Database;
    return { clock, all, log, checkpoints: new Checkpoints({ db, clock, logger: { log } }) };
  }

  it.each([
    ['rows', 1_995, 0, 0, 1],
    ['text', 0, 4_087_807, 0, 1],
    ['commits', 1_991, 0, 0, 3],
  ])('counts %s', (_, rows, characters, moreRows, calls) => {
    const { clock, checkpoints } = counted();
    checkpoints.wrote(rows, characters);
    if (calls > 1) checkpoints.wrote(0, 0);
    expect(clock.waiting).toBe(undefined);
    checkpoints.wrote(moreRows, 0);
    expect(clock.waiting?.milliseconds).toBe(CHECKPOINT_QUIET_MS);
  });

  it('waits for the last commit, and begins anew behind each checkpoint, also behind one that failed', () => {
    const { clock, all, log, checkpoints } = counted();
    checkpoints.wrote(2_000, 0);
    const first = clock.waiting;
    checkpoints.wrote(1, 0);
    expect(clock.waiting).not.toBe(first);
    all.mockImplementation(() => {
      throw new Error('busy');
    });
    const { callback } = clock.waiting ?? {};
    clock.waiting = undefined;
    callback?.();
    expect([all.mock.calls.length, log.mock.calls.length, log.mock.calls[0]?.[2]]).toEqual([1, 1, { reason: 'busy' }]);
    checkpoints.wrote(1, 0);
    expect(clock.waiting).toBe(undefined);
    checkpoints.wrote(7_995, 0);
    expect(clock.waiting).toMatchObject({ milliseconds: 0 });
    checkpoints.stop();
    expect(clock.waiting).toBe(undefined);
  });

  it('includes entries, archives, turns and records, each with its text', async () => {
    const dataDir = dataFolder();
    const text = JSON.stringify('x'.repeat(2 ** 20));
    const entry = { channel: 'ahp-session:/s', time: 1, action: text };
    const turns = { start: 0, items: [{ id: 't', json: text }] };
    for (const commit of [
      { entries: [entry, entry, entry, entry] },
      { entries: [], archives: [{ channel: 'ahp-session:/s', head: text, turns: { ...turns, items: [] } }] },
      { entries: [], archives: [{ channel: 'ahp-session:/s', head: '{}', turns }] },
      { entries: [], records: [{ key: 'k', value: text }] },
    ]) {
      const clock = new StillClock();
      const log = await openLog(dataDir, { clock });
      for (let round = 0; round < 4; round += 1) await log.append({ ...commit, durability: 'normal' });
      expect(clock.waiting?.milliseconds).toBe(commit.entries.length > 0 ? 0 : CHECKPOINT_QUIET_MS);
      await log.close();
    }
  });
});
