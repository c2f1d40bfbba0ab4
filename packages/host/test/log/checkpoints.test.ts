import { statSync } from 'node:fs';
import type { Clock } from '@atrium/core/util/clock.js';
import { describe, expect, it } from 'vitest';
import { CHECKPOINT_QUIET_MS } from '../../src/log-sqlite/schema.js';
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
