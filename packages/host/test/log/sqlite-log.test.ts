/** What the log on disk does besides its contract: in pieces, beside others, and at its end. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '@atrium/core/log/log.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LOCK_CHECK_MS } from '../../src/log-sqlite/sqlite-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { dataFolder, drivers, openLog } from '../support/log-folders.js';
import { appendSamples } from '../support/log-samples.js';

const CHANNEL = 'ahp-session:/s';

/** A log of so many entries of one channel, all of them in its archive. */
async function archived(log: Log, count: number): Promise<void> {
  const entries = Array.from({ length: count }, () => ({ channel: CHANNEL, time: 1, action: '{}' }));
  const archives = [{ channel: CHANNEL, head: '{}', turns: { start: 0, items: [] } }];
  await log.append({ entries, archives, durability: 'normal' });
}

describe.each(drivers)('a log on disk ($name)', (driver) => {
  it('is compacted in pieces, with others served in between', async () => {
    const log = await openLog(dataFolder(), { driver });
    await archived(log, 4_100);
    const compacted = log.compact({ upTo: 4_090, keep: 0 });
    expect(log.oldest).toBe(2_001);
    expect((await log.read({ after: 0, limit: 1 }))[0]?.seq).toBe(2_001);
    await compacted;
    expect([log.oldest, (await log.read({ after: 0 })).map(({ seq }) => seq)]).toEqual([
      4_091,
      Array.from({ length: 10 }, (_, at) => 4_091 + at),
    ]);
  });

  it('may be closed while it is compacted', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await archived(log, 4_100);
    const compacted = log.compact({ upTo: 4_100, keep: 0 });
    await log.close();
    await compacted;
    const again = await openLog(dataDir, { driver });
    expect([again.oldest, again.head, again.repairs]).toEqual([2_001, 4_100, []]);
  });

  it('[REL-013] remembers the numbers of a client that were dropped, of its newest start only', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    const asked = (clientId: string, epoch: number, clientSeq: number) => ({
      ...{ channel: CHANNEL, time: 1, action: '{}', origin: { clientId, epoch, clientSeq } },
    });
    const archives = [{ channel: CHANNEL, head: '{}', turns: { start: 0, items: [] } }];
    const entries = [asked('a', 1, 1), asked('a', 1, 2), asked('b', 1, 1), asked('a', 2, 7)];
    await log.append({ entries, archives, durability: 'full' });
    const known = async (of: typeof log) =>
      Promise.all([of.clientSeqs('a', 1, 0), of.clientSeqs('a', 2, 0), of.clientSeqs('b', 1, 0)]);
    await log.compact({ upTo: 2, keep: 0 });
    expect(await known(log)).toEqual([[1, 2], [7], [1]]);
    await log.compact({ upTo: 4, keep: 0 });
    expect(await known(log)).toEqual([[], [7], [1]]);
    await log.close();
    const again = await openLog(dataDir, { driver });
    expect(await known(again)).toEqual([[], [7], [1]]);
    const twice = again.append({ entries: [asked('a', 2, 7)], durability: 'normal' });
    await expect(twice).rejects.toMatchObject({ reason: 'duplicate-origin' });
  });

  it('reads as many records as there are, those in the journal in their place', async () => {
    const log = await openLog(dataFolder(), { driver });
    const keys = Array.from({ length: 1_203 }, (_, at) => `K:${String(at).padStart(4, '0')}`);
    const records = keys.map((key) => ({ key, value: `"${key}"` }));
    await log.append({ entries: [], records, durability: 'full' });
    const waiting = [
      { key: 'K:0000', value: null },
      { key: 'K:0601', value: '1' },
      { key: 'K:9', value: '2' },
    ];
    await log.append({ entries: [], records: waiting, durability: 'normal' });
    const expected = [...keys.slice(1), 'K:9'];
    expect((await log.records('K:')).map(({ key }) => key)).toEqual(expected);
    const visited: [string, string][] = [];
    await log.eachRecord('K:', ({ key, value }) => visited.push([key, value]));
    expect(visited.map(([key]) => key).sort()).toEqual(expected);
    expect(visited.filter(([, value]) => value.length === 1).sort()).toEqual([
      ['K:0601', '1'],
      ['K:9', '2'],
    ]);
    const atHand = log.recordsAtHand('K:');
    expect([atHand.count(), atHand.keys().sort()]).toEqual([1_203, expected]);
    expect(atHand.keysUnlike('9"').filter((key) => key.endsWith('9'))).toEqual(['K:9']);
    expect(atHand.read(['K:0000', 'K:0601', 'K:0602', 'K:none']).sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
      { key: 'K:0601', value: '1' },
      { key: 'K:0602', value: '"K:0602"' },
    ]);
  });

  it('moves its journal once for all lines, and waits for nothing once it is closed', async () => {
    const clock = new FakeClock();
    const log = await openLog(dataFolder(), { driver, clock });
    for (let line = 0; line < 3; line += 1) await appendSamples(log, 1);
    expect(clock.pending).toBe(1);
    await appendSamples(log, 1, 'full');
    expect(clock.pending).toBe(0);
    await appendSamples(log, 1);
    expect(clock.pending).toBe(1);
    await log.close();
    expect(clock.pending).toBe(0);
  });

  it('gives nothing that is at hand once it is closed', async () => {
    const log = await openLog(dataFolder(), { driver });
    await log.append({ entries: [], records: [{ key: 'k:1', value: '1' }], durability: 'full' });
    const atHand = log.recordsAtHand('k:');
    expect([atHand.count(), atHand.keys()]).toEqual([1, ['k:1']]);
    await log.close();
    const closed = expect.objectContaining({ reason: 'closed' });
    for (const read of [
      () => atHand.count(),
      () => atHand.keys(),
      () => atHand.keysUnlike(''),
      () => atHand.read(['k:1']),
      () => atHand.each(() => {}),
      () => atHand.glance(['$'], () => {}),
    ])
      expect(read).toThrow(closed);
    await expect(log.openTextIndex()).rejects.toMatchObject({ reason: 'closed' });
    for (const asked of [
      () => log.archivedTurnsJson(CHANNEL, { start: 0, end: 1, turnMaxBytes: 1 }),
      () => log.archivedTurnsText(CHANNEL, { start: 0, end: 1 }),
      () => log.archivedTurns(CHANNEL, { start: 0, end: 1 }),
      () => log.archiveHead(CHANNEL),
      () => log.channels(),
      () => log.clientSeqs('c', 1, 0),
      () => log.compact({ upTo: 1, keep: 0 }),
      () => log.copyTurns(CHANNEL, 'c', { start: 0, end: 1 }),
      () => log.eachRecord('k:', () => {}),
      () => log.findTurn(CHANNEL, 't'),
      () => log.forget(CHANNEL),
      () => log.forgetClient('c'),
      () => log.missed(0, [], { entries: 1, bytes: 1 }),
      () => log.record('k:1'),
      () => log.records('k:'),
    ])
      await expect(asked()).rejects.toMatchObject({ reason: 'closed' });
  });

  it('[DAY-021] has one index of its texts at a time, anew when asked for, and closes it with itself', async () => {
    const log = await openLog(dataFolder(), { driver });
    const first = await log.openTextIndex();
    await first.replace('a', { seq: 1, start: 0, documents: [] });
    const second = await log.openTextIndex();
    await expect(first.channels()).rejects.toThrow('closed');
    expect(await second.channels()).toEqual(['a']);
    const anew = await log.openTextIndex({ anew: true });
    expect(await anew.channels()).toEqual([]);
    await log.close();
    await expect(anew.channels()).rejects.toThrow('closed');
  });

  it('[REL-067] looks for its lock also when the clock goes back, and says when another has it', async () => {
    let now = 1_000_000;
    const clock = { now: () => now, after: () => () => {} };
    const lines: [string, string][] = [];
    const dataDir = dataFolder();
    const lock = path.join(dataDir, 'atrium.lock');
    const log = await openLog(dataDir, { driver, clock, logger: { log: (level, text) => lines.push([level, text]) } });
    rmSync(lock);
    now -= LOCK_CHECK_MS - 1;
    await appendSamples(log, 1);
    expect(lines).toEqual([]);
    now -= 1;
    await appendSamples(log, 1);
    expect(lines).toEqual([['warn', expect.stringContaining('created it again')]]);
    rmSync(lock);
    writeFileSync(lock, '');
    const other = driver.open(lock);
    onTestFinished(() => other.close());
    other.exec('BEGIN EXCLUSIVE');
    now += LOCK_CHECK_MS;
    await appendSamples(log, 1);
    await appendSamples(log, 1);
    expect(lines.slice(1)).toEqual([['error', expect.stringContaining('another process has locked')]]);
  });
});
