/** The contract of entries and records: numbers without gaps, all of a commit or nothing. */
import type { LogEntry } from '../log.js';
import {
  append,
  appendMany,
  CHANNEL,
  type ContractApi,
  entry,
  type OpenLog,
  OTHER,
  onFreshLog,
  sentBy,
  seqsAfter,
} from './support.js';

export function entryContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  describe('entries', () => {
    it(
      'is empty at first',
      onFreshLog(open, async (log) => {
        expect([log.head, log.oldest, log.repairs]).toEqual([0, 1, []]);
        expect(await log.read({ after: 0 })).toEqual([]);
      }),
    );

    it(
      'gives back what was appended, in order',
      onFreshLog(open, async (log) => {
        const entries: LogEntry[] = [
          entry(1, { action: '{"text":"Grüße 👋 \\u0000"}' }),
          entry(2, sentBy('c1', 7)),
          { seq: 3, channel: '', time: 5, action: '' },
        ];
        await append(log, { entries: entries.slice(0, 2), durability: 'full' });
        await append(log, { entries: entries.slice(2) });
        expect(await log.read({ after: 0 })).toEqual(entries);
        expect([log.head, log.oldest]).toEqual([3, 1]);
      }),
    );

    it(
      'reads behind a number, of one channel, and no more than asked for',
      onFreshLog(open, async (log) => {
        await appendMany(log, 10, (seq) => ({ channel: seq % 2 === 0 ? OTHER : CHANNEL }));
        expect(await seqsAfter(log, 8)).toEqual([9, 10]);
        expect(await seqsAfter(log, 10)).toEqual([]);
        const some = await log.read({ after: 3, channel: OTHER, limit: 2 });
        expect(some.map(({ seq }) => seq)).toEqual([4, 6]);
        expect((await log.read({ after: 0, limit: 3 })).length).toBe(3);
      }),
    );

    it(
      'refuses a commit that expects another head, and stores nothing of it',
      onFreshLog(open, async (log) => {
        await appendMany(log, 2);
        const late = append(log, { expectedHead: 1, entries: [entry(2)], records: [{ key: 'k', value: '1' }] });
        await expect(late).rejects.toMatchObject({ name: 'LogConflictError', expectedHead: 1, actualHead: 2 });
        expect(await log.record('k')).toBe(undefined);
        expect(log.head).toBe(2);
      }),
    );

    it(
      'refuses entries that leave a gap',
      onFreshLog(open, async (log) => {
        const gap = append(log, { entries: [entry(1), entry(3)] });
        await expect(gap).rejects.toMatchObject({ name: 'LogWriteError', reason: 'not-contiguous' });
        expect([log.head, await seqsAfter(log, 0)]).toEqual([0, []]);
      }),
    );

    it(
      'holds each number of a client once, and stores nothing of a commit that repeats one',
      onFreshLog(open, async (log) => {
        await append(log, { entries: [entry(1, sentBy('c1', 1))] });
        const entries = [entry(2, sentBy('c1', 2)), entry(3, sentBy('c1', 1))];
        const again = append(log, { entries, records: [{ key: 'k', value: '1' }] });
        await expect(again).rejects.toMatchObject({ name: 'LogWriteError', reason: 'duplicate-origin' });
        expect([log.head, await seqsAfter(log, 0), await log.record('k')]).toEqual([1, [1], undefined]);
        await append(log, { entries: [entry(2, sentBy('c1', 1, 2)), entry(3, sentBy('c2', 1))] });
        expect(log.head).toBe(3);
      }),
    );

    it(
      "tells a client's numbers from one on, of one epoch",
      onFreshLog(open, async (log) => {
        const numbers = [1, 2, 5, 3];
        await appendMany(log, 4, (seq) => sentBy('c1', numbers[seq - 1] ?? 0));
        await appendMany(log, 1, () => sentBy('c1', 9, 2));
        expect(await log.clientSeqs('c1', 1, 2)).toEqual([2, 3, 5]);
        expect(await log.clientSeqs('c1', 2, 0)).toEqual([9]);
        expect(await log.clientSeqs('c3', 1, 0)).toEqual([]);
      }),
    );

    it('refuses everything once closed, and closes twice without complaint', async () => {
      const { log } = await open();
      await log.close();
      await log.close();
      await expect(appendMany(log, 1)).rejects.toMatchObject({ name: 'LogWriteError', reason: 'closed' });
      await expect(log.read({ after: 0 })).rejects.toMatchObject({ reason: 'closed' });
    });
  });

  describe('records', () => {
    it(
      'keeps, replaces and removes them',
      onFreshLog(open, async (log) => {
        await append(log, {
          records: [
            { key: 'a', value: '1' },
            { key: 'b', value: '2' },
          ],
        });
        await append(log, {
          records: [
            { key: 'a', value: '3' },
            { key: 'b', value: null },
          ],
        });
        expect([await log.record('a'), await log.record('b')]).toEqual(['3', undefined]);
      }),
    );

    it(
      'lists those with a prefix, in the order of their keys',
      onFreshLog(open, async (log) => {
        const keys = ['s:2', 's:10', 's', 't:1', 's:é', 's:\uffee', 's:👋', 'S:1', 's%x'];
        await append(log, { records: keys.map((key) => ({ key, value: '{}' })) });
        const listed = await log.records('s:');
        expect(listed.map(({ key }) => key)).toEqual(['s:10', 's:2', 's:é', 's:\uffee', 's:👋']);
        expect((await log.records('')).length).toBe(keys.length);
      }),
    );
  });
}
