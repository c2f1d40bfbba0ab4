/** Turns that are read by the page: the same as those that are read row by row, whatever became of the pages. */
import type { ArchivedTurn, Log } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';
import type { SqliteDriver } from '../../src/log-sqlite/driver.js';
import { databaseOf } from '../support/log-damage.js';
import { copyOf, dataFolder, drivers, openLog } from '../support/log-folders.js';

const CHANNEL = 'ahp-chat:/c';
const COPY = 'ahp-chat:/copy';
const KIB = 2 ** 10;
const ALL = { start: 0, end: 1_000, turnMaxBytes: 64 * KIB };

function turn(index: number, bytes = 20 * KIB): ArchivedTurn {
  const id = `t${index}`;
  return { id, json: JSON.stringify({ id, text: `turn ${index} ${'é'.repeat(bytes / 2)}` }) };
}

function turns(start: number, end: number): ArchivedTurn[] {
  return Array.from({ length: end - start }, (_, index) => turn(start + index));
}

async function archive(log: Log, start: number, items: readonly ArchivedTurn[]): Promise<void> {
  const archives = [{ channel: CHANNEL, head: '{}', turns: { start, items } }];
  await log.append({ entries: [], archives, durability: 'normal' });
}

/** All turns that can be sent as they are, and how many were read at once. */
async function read(log: Log, { channel = CHANNEL, ...range }: Partial<typeof ALL> & { channel?: string } = {}) {
  const counts: number[] = [];
  const texts: string[] = [];
  const { start, end, turnMaxBytes } = { ...ALL, ...range };
  for (let at = start; ; ) {
    const { count, json } = await log.archivedTurnsJson(channel, { start: at, end, turnMaxBytes, maxBytes: 256 * KIB });
    if (count === 0) return { counts, text: texts.join(',') };
    counts.push(count);
    texts.push(json.toString());
    at += count;
  }
}

function joined(items: readonly ArchivedTurn[]): string {
  return items.map(({ json }) => json).join(',');
}

/** Changes the file of a closed log. */
function changed(driver: SqliteDriver, dataDir: string, sql: string): string {
  const copy = copyOf(dataDir);
  const db = driver.open(databaseOf(copy));
  db.exec(sql);
  db.close();
  return copy;
}

function pagesOf(driver: SqliteDriver, dataDir: string, channel: string) {
  const db = driver.open(databaseOf(copyOf(dataDir)));
  const select = 'SELECT start, behind FROM turn_pages WHERE channel = ? ORDER BY start';
  const pages = db.prepare<{ start: number; behind: number }>(select).all(channel);
  db.close();
  return pages.map(({ start, behind }) => [start, behind]);
}

describe.each(drivers)('pages of turns ($name)', (driver) => {
  it('are as long as they may be, also when the turns come one by one, and go on in the next process', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await archive(log, 0, turns(0, 5));
    for (let index = 5; index < 20; index++) await archive(log, index, [turn(index)]);
    await log.close();
    const again = await openLog(dataDir, { driver });
    await archive(again, 20, turns(20, 30));
    expect(await read(again)).toEqual({ counts: [12, 12, 6], text: joined(turns(0, 30)) });
    await again.close();
    expect(pagesOf(driver, dataDir, CHANNEL)).toEqual([
      [0, 12],
      [12, 24],
      [24, 30],
    ]);
  });

  it('leave out a turn that is long, and end before it', async () => {
    const log = await openLog(dataFolder(), { driver });
    const items = [...turns(0, 3), turn(3, 80 * KIB), ...turns(4, 6)];
    await archive(log, 0, items);
    expect(await read(log)).toEqual({ counts: [3], text: joined(items.slice(0, 3)) });
    expect(await read(log, { start: 4 })).toEqual({ counts: [2], text: joined(items.slice(4)) });
    expect((await read(log, { turnMaxBytes: 100 * KIB })).text).toBe(joined(items));
    expect((await read(log, { turnMaxBytes: 10 * KIB })).counts).toEqual([]);
  });

  it('are not needed for what begins or ends inside one', async () => {
    const log = await openLog(dataFolder(), { driver });
    await archive(log, 0, turns(0, 30));
    expect(await read(log, { start: 5, end: 27 })).toEqual({ counts: [7, 12, 3], text: joined(turns(5, 27)) });
  });

  it('follow every cut, and what takes the place of turns', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await archive(log, 0, turns(0, 30));
    await archive(log, 15, [turn(99)]);
    expect((await read(log)).text).toBe(joined([...turns(0, 15), turn(99)]));
    await archive(log, 12, turns(12, 40));
    expect(await read(log)).toEqual({ counts: [12, 12, 12, 4], text: joined(turns(0, 40)) });
    await log.forget(CHANNEL);
    await archive(log, 0, turns(0, 2));
    expect((await read(log)).text).toBe(joined(turns(0, 2)));
    await log.close();
    expect(pagesOf(driver, dataDir, CHANNEL)).toEqual([[0, 2]]);
  });

  it('are copied with their turns, also where a piece ends inside one', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await archive(log, 0, turns(0, 30));
    for (let start = 0; start < 25; ) {
      start += await log.copyTurns(CHANNEL, COPY, { start, end: 25, maxBytes: 100 * KIB });
    }
    expect((await read(log, { channel: COPY })).text).toBe(joined(turns(0, 25)));
    await log.close();
    expect(pagesOf(driver, dataDir, COPY)).toEqual([
      [0, 12],
      [12, 24],
    ]);
  });

  it.each([
    'behind = behind + 5',
    'behind = 1000000',
    'start = start + 1',
    'sum = sum + 1',
    'own_sum = own_sum + 1',
    `bytes = 'abc'`,
    `sum = X'00'`,
    'longest = 9e999',
    'bytes = 1.5',
  ])('[REL-064] cost nothing when they are damaged: %s', async (change) => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await archive(log, 0, turns(0, 30));
    await log.close();
    const again = await openLog(changed(driver, dataDir, `UPDATE turn_pages SET ${change} WHERE start = 12`), {
      driver,
    });
    expect((await read(again)).text).toBe(joined(turns(0, 30)));
    await archive(again, 30, [turn(30)]);
    expect((await read(again)).text).toBe(joined(turns(0, 31)));
    expect(again.repairs).toEqual([]);
  });

  it('are not believed where a version without them has stored something since', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await archive(log, 0, turns(0, 30));
    await log.close();
    const longer = turn(99, 50 * KIB);
    const other = `UPDATE turns SET json = '${longer.json}', sum = NULL WHERE idx = 3; DELETE FROM turns WHERE idx >= 28`;
    const again = await openLog(changed(driver, dataDir, other), { driver });
    const items = [...turns(0, 3), longer, ...turns(4, 28)];
    expect((await read(again)).text).toBe(joined(items));
    await archive(again, 28, [turn(28)]);
    expect((await read(again)).text).toBe(joined([...items, turn(28)]));
    expect(again.repairs).toEqual([]);
  });

  it('begin with the next turn in a folder that has none', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await archive(log, 0, turns(0, 20));
    await log.close();
    const older = changed(driver, dataDir, 'DROP TABLE turn_pages');
    const again = await openLog(older, { driver });
    await archive(again, 20, turns(20, 25));
    expect((await read(again)).text).toBe(joined(turns(0, 25)));
    await again.close();
    expect(pagesOf(driver, older, CHANNEL)).toEqual([[20, 25]]);
  });
});
