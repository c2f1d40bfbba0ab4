/** The contract of archives (a state at one number, plus turns that are read page by page) and of compaction. */

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
  turn,
  turns,
} from './conformance-support.js';
import type { ArchivedTurn, Log } from './log.js';

export function archiveContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  describe('archives', () => {
    it(
      'knows nothing of a channel without one',
      onFreshLog(open, async (log) => {
        expect(await log.archiveHead(CHANNEL)).toBe(undefined);
        expect(await log.archivedTurns(CHANNEL, { start: 0, end: 10 })).toEqual([]);
        expect(await log.archivedTurnsText(CHANNEL, { start: 0, end: 10 })).toBe('');
        const none = await log.archivedTurnsJson(CHANNEL, { start: 0, end: 10, turnMaxBytes: 100 });
        expect([none.count, none.json.length]).toEqual([0, 0]);
        expect(await log.findTurn(CHANNEL, 't0')).toBe(undefined);
      }),
    );

    it(
      'tells the head with the number of turns, and pages of turns',
      onFreshLog(open, async (log) => {
        await appendMany(log, 3);
        const archive = { channel: CHANNEL, head: '{"a":1}', turns: { start: 0, items: turns(0, 5) } };
        await append(log, { archives: [archive] });
        expect(await log.archiveHead(CHANNEL)).toEqual({ seq: 3, head: '{"a":1}', turnCount: 5 });
        expect(await log.archivedTurns(CHANNEL, { start: 1, end: 3 })).toEqual([turn(1), turn(2)]);
        expect(await log.archivedTurns(CHANNEL, { start: 4, end: 99 })).toEqual([turn(4)]);
        const bytes = Buffer.byteLength(turn(1).json);
        const pageOf = async (maxBytes: number) =>
          (await log.archivedTurns(CHANNEL, { start: 1, end: 99, maxBytes })).map(({ id }) => id);
        expect(await pageOf(1)).toEqual(['t1']);
        expect(await pageOf(bytes)).toEqual(['t1']);
        expect(await pageOf(bytes + 1)).toEqual(['t1', 't2']);
        expect(await pageOf(100 * bytes)).toEqual(['t1', 't2', 't3', 't4']);
        expect(await log.archivedTurnsText(CHANNEL, { start: 3, end: 5 })).toBe(`${turn(3).json},${turn(4).json}`);
        expect([await log.findTurn(CHANNEL, 't4'), await log.findTurn(CHANNEL, 't5')]).toEqual([4, undefined]);
        expect(await log.archiveHead(OTHER)).toBe(undefined);
      }),
    );

    it(
      'gives turns as bytes, up to a size and not beyond a long turn',
      onFreshLog(open, async (log) => {
        const long = { id: 'long', json: JSON.stringify({ text: 'é🚀'.repeat(100) }) };
        const items = [...turns(0, 3), long, ...turns(4, 6)];
        await append(log, { archives: [{ channel: CHANNEL, head: '{}', turns: { start: 0, items } }] });
        const bytes = Buffer.byteLength(turn(1).json);
        const longBytes = Buffer.byteLength(long.json);
        const read = async (range: { start: number; end?: number; maxBytes?: number; turnMaxBytes?: number }) => {
          const { count, json } = await log.archivedTurnsJson(CHANNEL, { end: 99, turnMaxBytes: longBytes, ...range });
          return [count, json.toString()];
        };
        const joined = (start: number, end: number) =>
          [
            end - start,
            items
              .slice(start, end)
              .map(({ json }) => json)
              .join(','),
          ] as const;
        expect(await read({ start: 0 })).toEqual(joined(0, 6));
        expect(await read({ start: 2, end: 5 })).toEqual(joined(2, 5));
        expect(await read({ start: 1, maxBytes: bytes })).toEqual(joined(1, 2));
        expect(await read({ start: 1, maxBytes: bytes + 1 })).toEqual(joined(1, 3));
        expect(await read({ start: 1, turnMaxBytes: longBytes - 1 })).toEqual(joined(1, 3));
        expect(await read({ start: 3, turnMaxBytes: longBytes - 1 })).toEqual(joined(3, 3));
        expect(await read({ start: 4, turnMaxBytes: bytes })).toEqual(joined(4, 6));
      }),
    );

    it(
      'names every channel with an archive or turns, once, and no other',
      onFreshLog(open, async (log) => {
        expect(await log.channels()).toEqual([]);
        await appendMany(log, 2);
        const archive = { channel: CHANNEL, head: '{}', turns: { start: 0, items: turns(0, 3) } };
        await append(log, { archives: [archive] });
        await log.copyTurns(CHANNEL, OTHER, { start: 0, end: 2 });
        expect([...(await log.channels())].sort()).toEqual([CHANNEL, OTHER].sort());
        await log.forget(CHANNEL);
        expect(await log.channels()).toEqual([OTHER]);
      }),
    );

    it(
      'adds turns, and cuts off those behind the start',
      onFreshLog(open, async (log) => {
        await append(log, {
          archives: [{ channel: CHANNEL, head: '{}', turns: { start: 0, items: turns(0, 4) } }],
        });
        await append(log, {
          archives: [{ channel: CHANNEL, head: '{}', turns: { start: 4, items: turns(4, 6) } }],
        });
        expect((await log.archiveHead(CHANNEL))?.turnCount).toBe(6);
        const cut = { channel: CHANNEL, head: '{"cut":1}', turns: { start: 2, items: [turn(9)] } };
        await append(log, { archives: [cut] });
        expect(await log.archivedTurns(CHANNEL, { start: 0, end: 9 })).toEqual([turn(0), turn(1), turn(9)]);
        expect(await log.archiveHead(CHANNEL)).toEqual({ seq: 0, head: '{"cut":1}', turnCount: 3 });
      }),
    );

    it(
      '[CLU-001] stand behind the last entry of their commit, and at the head when it has none',
      onFreshLog(open, async (log) => {
        const archive = { channel: CHANNEL, head: '{}', turns: { start: 0, items: [] } };
        await append(log, { archives: [archive] });
        expect((await log.archiveHead(CHANNEL))?.seq).toBe(0);
        await append(log, { entries: [entry(1), entry(2, { channel: OTHER })], archives: [archive] });
        expect((await log.archiveHead(CHANNEL))?.seq).toBe(2);
        await appendMany(log, 3, () => ({ channel: OTHER }));
        await append(log, { archives: [archive] });
        expect((await log.archiveHead(CHANNEL))?.seq).toBe(5);
      }),
    );

    it(
      'refuses a hole between turns, with the whole commit',
      onFreshLog(open, async (log) => {
        const records = [{ key: 'k', value: '1' }];
        const hole = { channel: CHANNEL, head: '{}', turns: { start: 1, items: [turn(1)] } };
        const refused = append(log, { entries: [entry(1)], archives: [hole], records });
        await expect(refused).rejects.toMatchObject({ kind: 'refused', reason: 'invalid-archive' });
        expect([log.head, await seqsAfter(log, 0)]).toEqual([0, []]);
        expect([await log.archiveHead(CHANNEL), await log.record('k')]).toEqual([undefined, undefined]);
      }),
    );

    it(
      'copies the first turns to a channel that has none',
      onFreshLog(open, async (log) => {
        await append(log, {
          archives: [{ channel: CHANNEL, head: '{}', turns: { start: 0, items: turns(0, 5) } }],
        });
        expect(await log.copyTurns(CHANNEL, OTHER, { start: 0, end: 3 })).toBe(3);
        expect(await log.archivedTurns(OTHER, { start: 0, end: 9 })).toEqual(turns(0, 3));
        expect(await log.findTurn(OTHER, 't2')).toBe(2);
        await append(log, { archives: [{ channel: OTHER, head: '{}', turns: { start: 3, items: [] } }] });
        expect((await log.archiveHead(OTHER))?.turnCount).toBe(3);
        for (const start of [0, 2, 4]) {
          const copy = log.copyTurns(CHANNEL, OTHER, { start, end: 5 });
          await expect(copy).rejects.toMatchObject({ reason: 'turns-present' });
        }
        const page = { start: 3, end: 9, maxBytes: 1 };
        expect(await log.copyTurns(CHANNEL, OTHER, page)).toBe(1);
        expect(await log.copyTurns(CHANNEL, OTHER, { ...page, start: 4 })).toBe(1);
        expect(await log.copyTurns(CHANNEL, OTHER, { ...page, start: 5 })).toBe(0);
        expect(await log.archivedTurns(OTHER, { start: 0, end: 9 })).toEqual(turns(0, 5));
      }),
    );

    it(
      'forgets a channel and keeps the numbers, and whose they were',
      onFreshLog(open, async (log) => {
        const origin = { clientId: 'c1', epoch: 1, clientSeq: 1 };
        await appendMany(log, 3, (seq) => (seq === 2 ? { channel: OTHER } : seq === 3 ? { origin } : {}));
        const archive = (channel: string) => ({ channel, head: '{}', turns: { start: 0, items: turns(0, 2) } });
        await append(log, { archives: [archive(CHANNEL), archive(OTHER)] });
        await log.forget(CHANNEL);
        expect(await log.archiveHead(CHANNEL)).toBe(undefined);
        expect(await log.archivedTurns(CHANNEL, { start: 0, end: 9 })).toEqual([]);
        expect((await log.archiveHead(OTHER))?.turnCount).toBe(2);
        const entries = await log.read({ after: 0 });
        expect(entries.map(({ seq, channel, action }) => [seq, channel, action])).toEqual([
          [1, '', ''],
          [2, OTHER, '{"n":2}'],
          [3, '', ''],
        ]);
        expect(await log.clientSeqs('c1', 1, 0)).toEqual([1]);
      }),
    );
  });
}

/** The contract of opening a channel: archive, newest turns and tail must fit together. */
export function openingContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  const archiveOf = (head: string, items: ArchivedTurn[], start = 0) => ({
    channel: CHANNEL,
    head,
    turns: { start, items },
  });

  describe('a channel that is opened', () => {
    it(
      '[CLU-001] is not there when nothing of it was stored, or it was forgotten',
      onFreshLog(open, async (log) => {
        await appendMany(log, 2, () => ({ channel: OTHER }));
        expect(await log.openChannel(CHANNEL, 3)).toBe(undefined);
        await append(log, { entries: [entry(3)], archives: [archiveOf('{}', turns(0, 2))] });
        await log.forget(CHANNEL);
        expect(await log.openChannel(CHANNEL, 3)).toBe(undefined);
      }),
    );

    it(
      '[CLU-001] has its archive, its newest turns, and what happened behind the archive to it alone',
      onFreshLog(open, async (log) => {
        await appendMany(log, 2);
        await append(log, { entries: [entry(3)], archives: [archiveOf('{"a":1}', turns(0, 5))] });
        await appendMany(log, 4, (seq) => ({ channel: seq === 5 ? OTHER : CHANNEL }));
        const archive = { seq: 3, head: '{"a":1}', turnCount: 5 };
        const tail = [entry(4), entry(6), entry(7)];
        expect(await log.openChannel(CHANNEL, 2)).toEqual({ seq: 7, archive, turns: turns(3, 5), tail });
        expect(await log.openChannel(CHANNEL, 9)).toEqual({ seq: 7, archive, turns: turns(0, 5), tail });
        expect(await log.openChannel(CHANNEL, 0)).toEqual({ seq: 7, archive, turns: [], tail });
      }),
    );

    it(
      '[CLU-001] has everything that happened when it was never archived',
      onFreshLog(open, async (log) => {
        await appendMany(log, 3, (seq) => ({ channel: seq === 2 ? OTHER : CHANNEL }));
        const opened = await log.openChannel(CHANNEL, 2);
        expect(opened).toEqual({ seq: 3, archive: undefined, turns: [], tail: [entry(1), entry(3)] });
      }),
    );

    it(
      '[CLU-001] is as it was at one number, however large it is and whatever is stored meanwhile',
      onFreshLog(open, async (log) => {
        const large = (index: number) => ({ id: `t${index}`, json: JSON.stringify('x'.repeat(100_000 + index)) });
        const items = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => large(from + at));
        await append(log, { archives: [archiveOf('{"at":0}', items(0, 20))] });
        await appendMany(log, 3_000);
        const opening = log.openChannel(CHANNEL, 20);
        await append(log, { archives: [archiveOf('{"at":3000}', items(20, 30), 10)] });
        await appendMany(log, 2);
        const opened = await opening;
        const isOld = opened?.archive?.head === '{"at":0}';
        const ids = opened?.turns.map(({ id }) => id);
        const seqs = opened?.tail.map(({ seq }) => seq);
        const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
        if (isOld) expect([ids, seqs]).toEqual([items(0, 20).map(({ id }) => id), numbers(1, (opened?.seq ?? 0) + 1)]);
        else expect(ids).toEqual([...items(0, 10), ...items(20, 30)].map(({ id }) => id));
        if (!isOld) expect(seqs).toEqual(numbers(3_001, (opened?.seq ?? 0) + 1));
      }),
    );

    it(
      '[CLU-001] is whole or gone when it is forgotten meanwhile',
      onFreshLog(open, async (log) => {
        const items = turns(0, 8).map(({ id }) => ({ id, json: JSON.stringify('x'.repeat(100_000)) }));
        await append(log, { archives: [archiveOf('{}', items)] });
        const opening = log.openChannel(CHANNEL, 8);
        await log.forget(CHANNEL);
        expect((await opening)?.turns.length ?? 8).toBe(8);
      }),
    );

    it('refuses to open once the log is closed', async () => {
      const { log } = await open();
      await log.close();
      await expect(log.openChannel(CHANNEL, 1)).rejects.toMatchObject({ reason: 'closed' });
    });
  });
}

/** The contract of compaction: it drops only what archives include, and keeps the numbers of every client. */

export function compactionContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  describe('compaction', () => {
    it(
      'drops entries up to a number, and keeps the newest',
      onFreshLog(open, async (log) => {
        await appendMany(log, 20);
        await archive(log, CHANNEL);
        await log.compact({ upTo: 5, keep: 0 });
        expect([log.oldest, log.head, (await seqsAfter(log, 0)).length]).toEqual([6, 20, 15]);
        await log.compact({ upTo: 20, keep: 4 });
        expect([log.oldest, await seqsAfter(log, 0)]).toEqual([17, [17, 18, 19, 20]]);
      }),
    );

    it(
      'keeps what a channel needs to be opened',
      onFreshLog(open, async (log) => {
        await appendMany(log, 9, (seq) => ({ channel: seq === 7 ? OTHER : seq === 2 ? '' : CHANNEL }));
        await archive(log, CHANNEL);
        await appendMany(log, 1);
        await log.compact({ upTo: 10, keep: 0 });
        expect(log.oldest).toBe(7);
        await archive(log, OTHER);
        await log.compact({ upTo: 10, keep: 0 });
        expect([log.oldest, await seqsAfter(log, 0)]).toEqual([10, [10]]);
      }),
    );

    it(
      '[REL-016] goes on counting when every entry is gone',
      onFreshLog(open, async (log) => {
        await appendMany(log, 5);
        await archive(log, CHANNEL);
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
        await archive(log, CHANNEL);
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
        await archive(log, CHANNEL);
        await log.compact({ upTo: 2, keep: 0 });
        await log.forgetClient('c1');
        expect((await log.read({ after: 2 })).map(({ origin }) => origin?.clientId)).toEqual(['c2', undefined]);
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

/** Archives a channel at the head. */
async function archive(log: Log, channel: string): Promise<void> {
  await append(log, { archives: [{ channel, head: '{}', turns: { start: 0, items: [] } }] });
}
