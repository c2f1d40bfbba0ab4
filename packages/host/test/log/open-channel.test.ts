import type { ArchivedTurn } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';

import { dataFolder, openLog } from '../support/log-folders.js';

const CHANNEL = 'ahp-session:/large';
const TURNS = 20;
const ENTRIES = 3_500;

const turn = (index: number): ArchivedTurn => ({ id: `t${index}`, json: JSON.stringify('x'.repeat(100_000 + index)) });

async function largeChannel() {
  const log = await openLog(dataFolder());
  const items = Array.from({ length: TURNS }, (_, index) => turn(index));
  const archive = { channel: CHANNEL, head: '{}', turns: { start: 0, items } };
  await log.append({ entries: [], archives: [archive], durability: 'normal' });
  const entries = Array.from({ length: ENTRIES }, (_, time) => ({ channel: CHANNEL, time, action: '{}' }));
  await log.append({ entries, durability: 'normal' });
  return log;
}

/** How many turns of the event loop the work takes. */
async function loopTurns<T>(work: Promise<T>): Promise<{ result: T; count: number }> {
  let count = 0;
  let isDone = false;
  const counting = () => {
    count += 1;
    if (!isDone) setImmediate(counting);
  };
  setImmediate(counting);
  const result = await work.finally(() => {
    isDone = true;
  });
  return { result, count };
}

describe('a large channel in the log on disk', () => {
  it('[REL-058] is read in slices: others are served in between', async () => {
    const log = await largeChannel();
    const { result, count } = await loopTurns(log.openChannel(CHANNEL, TURNS));
    expect([result?.turns.length, result?.tail.length]).toEqual([TURNS, ENTRIES]);
    expect(count).toBeGreaterThan(5);
    await log.close();
  });

  it('[CLU-001] is read again when it is archived meanwhile', async () => {
    const log = await largeChannel();
    const opening = log.openChannel(CHANNEL, TURNS);
    const cut = { channel: CHANNEL, head: '{"cut":true}', turns: { start: 3, items: [turn(99)] } };
    await log.append({ entries: [], archives: [cut], durability: 'normal' });
    const opened = await opening;
    expect(opened?.archive).toEqual({ seq: ENTRIES, head: '{"cut":true}', turnCount: 4 });
    expect([opened?.turns.map(({ id }) => id), opened?.tail]).toEqual([['t0', 't1', 't2', 't99'], []]);
    await log.close();
  });

  it('cannot be read on once the log is closed', async () => {
    const log = await largeChannel();
    const opening = log.openChannel(CHANNEL, TURNS);
    await log.close();
    await expect(opening).rejects.toMatchObject({ reason: 'closed' });
  });
});
