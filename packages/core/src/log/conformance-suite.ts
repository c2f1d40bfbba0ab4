/**
 * The contract of every log, as tests. The author of a log runs this suite against it: `logContract({ describe, it,
 * expect }, 'my log', openMyLog)`. The test runner is an argument.
 */
import { answersPrefix, epochKey, knownKey } from './client-records.js';
import { archiveContract, compactionContract, openingContract } from './conformance-archives.js';
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
  turns,
} from './conformance-support.js';
import type { Log, LogEntry, ReplayLimits, StoredRecord } from './log.js';

export type { ContractApi, LogUnderTest, OpenLog } from './conformance-support.js';

export function logContract(api: ContractApi, name: string, open: OpenLog): void {
  api.describe(`${name} keeps the contract of a log`, () => {
    entryContract(api, open);
    archiveContract(api, open);
    openingContract(api, open);
    compactionContract(api, open);
    missedContract(api, open);
    clientContract(api, open);
    reopenContract(api, open);
  });
}

/** The contract of entries and records: numbers have no gaps, and a commit is stored as a whole or not at all. */
function entryContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
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
      '[CLU-001] tells which numbers a commit got, and that one without entries got none',
      onFreshLog(open, async (log) => {
        expect(await append(log, { records: [{ key: 'k', value: '1' }] })).toEqual({ first: 1, last: 0 });
        expect(await appendMany(log, 3)).toEqual({ first: 1, last: 3 });
        expect(await appendMany(log, 1)).toEqual({ first: 4, last: 4 });
        expect(await append(log, {})).toEqual({ first: 5, last: 4 });
        expect([log.head, await seqsAfter(log, 0)]).toEqual([4, [1, 2, 3, 4]]);
      }),
    );

    it(
      '[CLU-001] gives numbers without gap or double to commits that come at the same time',
      onFreshLog(open, async (log) => {
        const commits = Array.from({ length: 20 }, (_, index) => ({
          entries: Array.from({ length: 1 + (index % 3) }, (_entry, at) => entry(at, { action: `{"of":${index}}` })),
        }));
        const answers = await Promise.all(commits.map((commit) => append(log, commit)));
        const entries = await log.read({ after: 0 });
        expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
        for (const [index, { first, last }] of answers.entries()) {
          const own = entries.filter(({ action }) => action === `{"of":${index}}`).map(({ seq }) => seq);
          expect([own[0], own.at(-1), own.length]).toEqual([first, last, commits[index]?.entries.length]);
        }
      }),
    );

    it(
      '[CLU-001] uses no number for a commit that it refuses',
      onFreshLog(open, async (log) => {
        await append(log, { entries: [entry(1, sentBy('c1', 1))] });
        const refused = append(log, { entries: [entry(2), entry(3, sentBy('c1', 1))] });
        await expect(refused).rejects.toMatchObject({ kind: 'refused', reason: 'duplicate-origin' });
        expect(await appendMany(log, 1)).toEqual({ first: 2, last: 2 });
        expect(await seqsAfter(log, 0)).toEqual([1, 2]);
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
      '[CLU-001] tell the numbers of entries of their commit, and of no others',
      onFreshLog(open, async (log) => {
        await appendMany(log, 6);
        const numbered = (at: number) => ({ before: '{"at":', entry: at, after: ',"by":"entry"}' });
        const records = [
          { key: 'a', value: numbered(0) },
          { key: 'b', value: numbered(1) },
        ];
        await append(log, { entries: [entry(7), entry(8)], records });
        expect([await log.record('a'), await log.record('b')]).toEqual([
          '{"at":7,"by":"entry"}',
          '{"at":8,"by":"entry"}',
        ]);
        expect((await log.records('b'))[0]?.value).toBe('{"at":8,"by":"entry"}');
        for (const at of [-1, 0.5, 1]) {
          const refused = append(log, { entries: [entry(9)], records: [{ key: 'a', value: numbered(at) }] });
          await expect(refused).rejects.toMatchObject({ kind: 'refused', reason: 'invalid-record' });
        }
        expect([log.head, await log.record('a')]).toEqual([8, '{"at":7,"by":"entry"}']);
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
        const visited: string[] = [];
        await log.eachRecord('', ({ key }) => visited.push(key));
        expect(visited.sort()).toEqual([...keys].sort());
      }),
    );

    it(
      'visits every one of a thousand with a prefix, each once and in the order of their keys',
      onFreshLog(open, async (log) => {
        const keys = Array.from({ length: 1_000 }, (_, index) => `s:${String(index).padStart(3, '0')}`);
        await append(log, { records: ['r:1', ...keys, 't:1'].map((key) => ({ key, value: `"${key}"` })) });
        const visited: StoredRecord[] = [];
        await log.eachRecord('s:', (record) => visited.push(record));
        expect(visited.map(({ key }) => key).sort()).toEqual(keys);
        expect(visited.every(({ key, value }) => value === `"${key}"`)).toBe(true);
        await log.eachRecord('u:', (record) => visited.push(record));
        expect(visited.length).toBe(keys.length);
      }),
    );

    it(
      'are read at hand, however many of them, and no others',
      onFreshLog(open, async (log) => {
        const keys = Array.from({ length: 600 }, (_, index) => `s:${index}`);
        await append(log, { records: keys.map((key) => ({ key, value: `"${key}"` })) });
        const atHand = log.recordsAtHand?.('s:');
        for (const count of atHand ? [0, 1, 590] : []) {
          const wanted = keys.slice(0, count);
          const read = atHand?.read([...wanted, 's:none']) ?? [];
          expect(read.map(({ key }) => key).sort()).toEqual([...wanted].sort());
        }
      }),
    );

    it(
      'are at hand where the log has them: their keys, some of them, and what stands in them',
      onFreshLog(open, async (log) => {
        const record = (key: string, value: unknown) => ({ key, value: JSON.stringify(value) });
        const stored = [record('s:1', { a: { b: [1] }, end: 1 }), record('s:2', { a: 'é', end: 2 }), record('t:1', {})];
        await append(log, { records: stored, durability: 'full' });
        const atHand = log.recordsAtHand?.('s:');
        if (!atHand) return;
        expect([atHand.keys().sort(), atHand.keysUnlike('"end":1}')]).toEqual([['s:1', 's:2'], ['s:2']]);
        expect(atHand.count()).toBe(2);
        const seen: unknown[] = [];
        atHand.glance(['$.a', '$.end', '$.none'], (key, found) => seen.push([key, found]));
        expect(seen.sort()).toEqual([
          ['s:1', [{ b: [1] }, 1, null]],
          ['s:2', ['é', 2, null]],
        ]);
        const one: unknown[] = [];
        atHand.glance(['$.a'], (key, found) => one.push([key, found]));
        expect(one.sort()).toEqual([
          ['s:1', [{ b: [1] }]],
          ['s:2', ['é']],
        ]);
        // Keys and values show a change that was made a moment ago.
        await append(log, {
          records: [record('s:1', { end: 3 }), { key: 's:2', value: null }, record('s:3', { end: 1 })],
        });
        expect([atHand.keys().sort(), atHand.keysUnlike('"end":1}')]).toEqual([['s:1', 's:3'], ['s:1']]);
        expect(atHand.count()).toBe(2);
        const read = atHand.read(['s:1', 's:2', 's:3', 's:4']);
        expect(read.map(({ key, value }) => `${key} ${value}`).sort()).toEqual(['s:1 {"end":3}', 's:3 {"end":1}']);
        const each: StoredRecord[] = [];
        atHand.each((record) => each.push(record));
        expect(each.map(({ key, value }) => `${key} ${value}`).sort()).toEqual(['s:1 {"end":3}', 's:3 {"end":1}']);
      }),
    );
  });
}

const REPLAY: ReplayLimits = { entries: 100, bytes: 10_000 };

/** The contract of replay: a returning client gets all of what it missed, in order, or nothing. */
function missedContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  const numbers = async (log: Log, after: number, channels = [CHANNEL], limits = REPLAY) =>
    (await log.missed(after, channels, limits))?.map(({ seq }) => seq);

  describe('what a client missed', () => {
    it(
      '[CLU-001] is everything behind its number, of its channels only',
      onFreshLog(open, async (log) => {
        await appendMany(log, 6, (seq) => ({ channel: seq % 3 === 0 ? OTHER : seq === 4 ? '' : CHANNEL }));
        expect(await numbers(log, 0)).toEqual([1, 2, 5]);
        expect(await numbers(log, 2, [CHANNEL, OTHER])).toEqual([3, 5, 6]);
        expect([await numbers(log, 6), await numbers(log, 0, [])]).toEqual([[], []]);
        expect(await log.missed(4, [CHANNEL], REPLAY)).toEqual([entry(5)]);
      }),
    );

    it(
      '[CLU-001] [REL-016] is not known to a log that has not come so far',
      onFreshLog(open, async (log) => {
        await appendMany(log, 3);
        expect([await numbers(log, 3), await numbers(log, 4), await numbers(log, -1)]).toEqual([
          [],
          undefined,
          undefined,
        ]);
      }),
    );

    it(
      '[CLU-001] [REL-015] is told up to a number of entries, or of bytes, and not one more',
      onFreshLog(open, async (log) => {
        await appendMany(log, 5);
        expect(await numbers(log, 2, [CHANNEL], { entries: 3, bytes: 1_000 })).toEqual([3, 4, 5]);
        expect(await numbers(log, 1, [CHANNEL], { entries: 3, bytes: 1_000 })).toBe(undefined);
        const bytes = 3 * entry(1).action.length;
        expect(await numbers(log, 2, [CHANNEL], { entries: 5, bytes })).toEqual([3, 4, 5]);
        expect(await numbers(log, 1, [CHANNEL], { entries: 5, bytes })).toBe(undefined);
      }),
    );

    it(
      '[CLU-001] includes what ends with the host, of which the log keeps the number only',
      onFreshLog(open, async (log) => {
        await append(log, { entries: [{ ...entry(1, sentBy('c1', 1)), isEphemeral: true }, entry(2)] });
        expect((await log.missed(0, [CHANNEL], REPLAY))?.map(({ action }) => action)).toEqual(['{"n":1}', '{"n":2}']);
        const [first] = await log.read({ after: 0 });
        expect(first).toEqual({ seq: 1, channel: '', time: 1_001, action: '', ...sentBy('c1', 1) });
        expect(await log.clientSeqs('c1', 1, 0)).toEqual([1]);
      }),
    );

    it(
      '[CLU-001] has nothing of a channel that was forgotten',
      onFreshLog(open, async (log) => {
        await appendMany(log, 4, (seq) => ({ channel: seq % 2 === 0 ? OTHER : CHANNEL }));
        await log.forget(CHANNEL);
        expect(await numbers(log, 0, [CHANNEL, OTHER])).toEqual([2, 4]);
      }),
    );

    it('[CLU-001] [REL-015] is the same when the log is opened again', async () => {
      const { log, reopen } = await open();
      if (reopen === undefined) return log.close();
      await appendMany(log, 5, (seq) => ({ channel: seq === 2 ? OTHER : CHANNEL }));
      const again = await reopen();
      await appendMany(again, 2);
      expect(await numbers(again, 0)).toEqual([1, 3, 4, 5, 6, 7]);
      expect(await numbers(again, 3, [CHANNEL], { entries: 4, bytes: 1_000 })).toEqual([4, 5, 6, 7]);
      expect(await numbers(again, 2, [CHANNEL], { entries: 4, bytes: 1_000 })).toBe(undefined);
      expect([await numbers(again, 6), await numbers(again, 8)]).toEqual([[7], undefined]);
      await again.close();
    });

    it('[CLU-001] [REL-015] is not known when it was dropped before the log was opened again', async () => {
      const { log, reopen } = await open();
      if (reopen === undefined) return log.close();
      await appendMany(log, 5);
      await append(log, { entries: [], archives: [{ channel: CHANNEL, head: '{}', turns: { start: 0, items: [] } }] });
      await log.compact({ upTo: 5, keep: 0 });
      const again = await reopen();
      await appendMany(again, 2);
      expect([await numbers(again, 3), await numbers(again, 5)]).toEqual([undefined, [6, 7]]);
      await again.close();
    });
  });
}

/** The contract of a client that starts over: its epochs only grow, whether the client or the log chooses them. */
function clientContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  const begin = async (log: Log, clientId: string, above = 0, dialect = 'a') =>
    (await log.beginClient(clientId, { above, known: { before: `{"dialect":"${dialect}","epoch":`, after: '}' } }))
      .epoch;

  describe('a client that starts over', () => {
    it(
      '[CLU-001] gets an epoch above every one that it had, and above the one it is told',
      onFreshLog(open, async (log) => {
        expect([await begin(log, 'c1'), await begin(log, 'c1'), await begin(log, 'c2')]).toEqual([1, 2, 1]);
        expect([await begin(log, 'c1', 40), await begin(log, 'c1', 7), await begin(log, 'c2')]).toEqual([41, 42, 2]);
        expect(log.head).toBe(0);
      }),
    );

    it(
      '[CLU-001] gets as many epochs as it starts, also at the same time',
      onFreshLog(open, async (log) => {
        const epochs = await Promise.all(Array.from({ length: 10 }, () => begin(log, 'c1')));
        expect([...epochs].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        expect(await log.record(epochKey('c1'))).toBe('10');
      }),
    );

    it(
      '[CLU-001] is known by its newest start, and the answers of before are gone; others keep theirs',
      onFreshLog(open, async (log) => {
        await begin(log, 'c1', 0, 'a');
        const answers = [`${answersPrefix('c1')}1:1`, `${answersPrefix('c1')}1:2`, `${answersPrefix('c2')}1:1`];
        await append(log, { records: answers.map((key) => ({ key, value: '{}' })) });
        await begin(log, 'c1', 0, 'b');
        expect(await log.record(knownKey('c1'))).toBe('{"dialect":"b","epoch":2}');
        expect(await log.records(answersPrefix('c1'))).toEqual([]);
        expect((await log.records(answersPrefix('c2'))).length).toBe(1);
      }),
    );

    it('[CLU-001] goes on counting when the log is opened again, and cannot start in one that is closed', async () => {
      const { log, reopen } = await open();
      await begin(log, 'c1', 5);
      const again = reopen ? await reopen() : log;
      expect(await begin(again, 'c1')).toBe(7);
      await again.close();
      await expect(begin(again, 'c1')).rejects.toMatchObject({ kind: 'refused', reason: 'closed' });
    });
  });
}

/** The contract of a durable log: closed and opened again, it has everything it had. */
function reopenContract({ describe, it, expect }: ContractApi, open: OpenLog): void {
  describe('opened again', () => {
    it('[REL-016] has everything it had, and goes on counting', async () => {
      const { log, reopen } = await open();
      if (reopen === undefined) return log.close();
      await appendMany(log, 8, (seq) => sentBy('c1', seq));
      const archive = { channel: CHANNEL, head: '{"a":1}', turns: { start: 0, items: turns(0, 3) } };
      await append(log, { archives: [archive], records: [{ key: 'k', value: '1' }], durability: 'full' });
      await appendMany(log, 2, (seq) => sentBy('c1', seq));
      await log.compact({ upTo: 6, keep: 0 });
      const again = await reopen();
      expect([again.head, again.oldest, again.repairs]).toEqual([10, 7, []]);
      expect(await again.read({ after: 9 })).toEqual([entry(10, sentBy('c1', 10))]);
      expect(await again.archiveHead(CHANNEL)).toEqual({ seq: 8, head: '{"a":1}', turnCount: 3 });
      expect(await again.record('k')).toBe('1');
      expect((await again.clientSeqs('c1', 1, 0)).length).toBe(10);
      expect(await appendMany(again, 1)).toEqual({ first: 11, last: 11 });
      await again.close();
    });

    it('[REL-016] remembers the head when every entry is gone', async () => {
      const { log, reopen } = await open();
      if (reopen === undefined) return log.close();
      await appendMany(log, 4, () => ({ channel: OTHER }));
      await append(log, { archives: [{ channel: OTHER, head: '{}', turns: { start: 0, items: [] } }] });
      await log.compact({ upTo: 4, keep: 0 });
      const again = await reopen();
      expect([again.head, again.oldest]).toEqual([4, 5]);
      await again.close();
    });
  });
}
