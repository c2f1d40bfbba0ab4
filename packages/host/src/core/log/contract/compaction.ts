/** The contract of compaction: only what archives hold is dropped, and no client's number is forgotten. */
import type { Log } from '../log.js';
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

export function compactionContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  describe('compaction', () => {
    it(
      'drops entries up to a number, and keeps the newest',
      onFreshLog(open, async (log) => {
        await appendMany(log, 20);
        await archiveAt(log, CHANNEL, 20);
        await log.compact({ upTo: 5, keep: 0 });
        expect([log.oldest, log.head, (await seqsAfter(log, 0)).length]).toEqual([6, 20, 15]);
        await log.compact({ upTo: 20, keep: 4 });
        expect([log.oldest, await seqsAfter(log, 0)]).toEqual([17, [17, 18, 19, 20]]);
      }),
    );

    it(
      'keeps what a channel needs to be opened',
      onFreshLog(open, async (log) => {
        await appendMany(log, 10, (seq) => ({ channel: seq === 7 ? OTHER : seq === 2 ? '' : CHANNEL }));
        await archiveAt(log, CHANNEL, 9);
        await log.compact({ upTo: 10, keep: 0 });
        expect(log.oldest).toBe(7);
        await archiveAt(log, OTHER, 10);
        await log.compact({ upTo: 10, keep: 0 });
        expect([log.oldest, await seqsAfter(log, 0)]).toEqual([10, [10]]);
      }),
    );

    it(
      '[REL-016] goes on counting when every entry is gone',
      onFreshLog(open, async (log) => {
        await appendMany(log, 5);
        await archiveAt(log, CHANNEL, 5);
        await log.compact({ upTo: 5, keep: 0 });
        expect([log.head, log.oldest, await seqsAfter(log, 0)]).toEqual([5, 6, []]);
        await appendMany(log, 1);
        expect([log.head, log.oldest, await seqsAfter(log, 0)]).toEqual([6, 6, [6]]);
      }),
    );

    it(
      "still knows a client's numbers, and refuses them again",
      onFreshLog(open, async (log) => {
        const numbers = [1, 2, 3, 7, 8, 5];
        await appendMany(log, 6, (seq) => sentBy('c1', numbers[seq - 1] ?? 0));
        await archiveAt(log, CHANNEL, 6);
        await log.compact({ upTo: 4, keep: 0 });
        expect(await log.clientSeqs('c1', 1, 0)).toEqual([1, 2, 3, 5, 7, 8]);
        await log.compact({ upTo: 6, keep: 0 });
        expect(await log.clientSeqs('c1', 1, 3)).toEqual([3, 5, 7, 8]);
        const again = append(log, { entries: [entry(7, sentBy('c1', 2))] });
        await expect(again).rejects.toMatchObject({ reason: 'duplicate-origin' });
        await append(log, { entries: [entry(7, sentBy('c1', 4))] });
        expect(await log.clientSeqs('c1', 1, 0)).toEqual([1, 2, 3, 4, 5, 7, 8]);
      }),
    );

    it(
      'forgets the numbers of a client that is gone for good, and of no other',
      onFreshLog(open, async (log) => {
        await appendMany(log, 4, (seq) => sentBy(seq % 2 === 0 ? 'c1' : 'c2', seq));
        await archiveAt(log, CHANNEL, 4);
        await log.compact({ upTo: 2, keep: 0 });
        await log.forgetClient('c1');
        await log.compact({ upTo: 4, keep: 0 });
        expect([await log.clientSeqs('c1', 1, 0), await log.clientSeqs('c2', 1, 0)]).toEqual([[], [1, 3]]);
        await append(log, { entries: [entry(5, sentBy('c1', 2))] });
        expect(await log.clientSeqs('c1', 1, 0)).toEqual([2]);
      }),
    );

    it(
      'does nothing when there is nothing to drop',
      onFreshLog(open, async (log) => {
        await appendMany(log, 3);
        await log.compact({ upTo: 3, keep: 0 });
        await log.compact({ upTo: 99, keep: 99 });
        expect([log.oldest, log.head]).toEqual([1, 3]);
      }),
    );
  });
}

function archiveAt(log: Log, channel: string, seq: number): Promise<void> {
  return append(log, { archives: [{ channel, seq, head: '{}', turns: { start: 0, items: [] } }] });
}
