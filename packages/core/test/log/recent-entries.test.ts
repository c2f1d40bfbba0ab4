import { describe, expect, it } from 'vitest';
import type { LogEntry, NewEntry } from '../../src/log/log.js';
import { RecentEntries } from '../../src/log/recent-entries.js';

const LIMITS = { entries: 100, bytes: 1_000 };
const entry = (seq: number, channel = 's'): NewEntry => ({ channel, time: seq, action: `<${seq}>` });
const stored = (seq: number): LogEntry => ({ seq, ...entry(seq) });
const noneOlder = () => {
  throw new Error('nothing older is wanted');
};

/** Entries from `first` to `last`, each in a commit of its own. */
function filled(first: number, last: number, limits = { entries: 5, bytes: 1_000 }): RecentEntries {
  const recent = new RecentEntries(first - 1, limits);
  for (let seq = first; seq <= last; seq++) recent.add([entry(seq)], { first: seq, last: seq });
  return recent;
}

const numbers = (entries: readonly LogEntry[] | undefined) => entries?.map(({ seq }) => seq);
const missed = (recent: RecentEntries, after: number, older: Parameters<RecentEntries['missed']>[1] = noneOlder) =>
  recent.missed({ after, channels: ['s', 't', ''], limits: LIMITS }, older);

describe('the newest entries of a log', () => {
  it('[REL-015] are given to a client that is one behind the oldest, and no longer to one that is two behind', () => {
    const recent = filled(1, 8);
    expect([8, 7, 3, 2, 0].map((after) => numbers(missed(recent, after)))).toEqual([
      [],
      [8],
      [4, 5, 6, 7, 8],
      undefined,
      undefined,
    ]);
  });

  it('[REL-015] are as many as fit the bytes that may be kept', () => {
    const recent = filled(1, 6, { entries: 100, bytes: 9 });
    expect([numbers(missed(recent, 3)), missed(recent, 2)]).toEqual([[4, 5, 6], undefined]);
  });

  it('[REL-015] keep their numbers when one commit brings more than may be kept', () => {
    const recent = new RecentEntries(10, { entries: 2, bytes: 1_000 });
    recent.add([entry(11), entry(12), entry(13)], { first: 11, last: 13 });
    expect(missed(recent, 11)).toEqual([stored(12), stored(13)]);
    expect(missed(recent, 10)).toBeUndefined();
  });

  it('[REL-015] are refused to a client that knows a number which was never given, above or below', () => {
    const recent = filled(1, 3);
    expect([missed(recent, 4), missed(recent, -1)]).toEqual([undefined, undefined]);
  });

  it('[REL-015] are refused where they are more, or longer, than the client may get', () => {
    const recent = filled(1, 5);
    const within = (limits: typeof LIMITS) => numbers(recent.missed({ after: 2, channels: ['s'], limits }, noneOlder));
    expect(within({ entries: 3, bytes: 9 })).toEqual([3, 4, 5]);
    expect([within({ entries: 2, bytes: 9 }), within({ entries: 3, bytes: 8 })]).toEqual([undefined, undefined]);
  });

  it('[REL-015] are those of the wanted channels, with the client that asked for each', () => {
    const recent = new RecentEntries(0);
    const origin = { clientId: 'c', epoch: 1, clientSeq: 1 };
    recent.add([{ ...entry(1, 's'), origin }, entry(2, 't')], { first: 1, last: 2 });
    const of = (channels: string[]) => recent.missed({ after: 0, channels, limits: LIMITS }, noneOlder);
    expect(of(['s'])).toEqual([{ ...stored(1), origin }]);
    expect(of(['t'])).toEqual([{ ...stored(2), channel: 't' }]);
    expect(Object.keys(of(['t'])?.[0] ?? {})).not.toContain('origin');
  });

  it('do not say what happened on a channel that was forgotten, and keep its numbers and the room for others', () => {
    const recent = new RecentEntries(0, { entries: 100, bytes: 9 });
    recent.add([entry(1, 't'), entry(2, 's'), entry(3, 't')], { first: 1, last: 3 });
    recent.blank('t');
    expect(missed(recent, 0)).toEqual([
      { seq: 1, channel: '', time: 1, action: '' },
      stored(2),
      { seq: 3, channel: '', time: 3, action: '' },
    ]);
    recent.add([entry(4), entry(5)], { first: 4, last: 5 });
    expect(numbers(missed(recent, 0))).toEqual([1, 2, 3, 4, 5]);
  });

  it('do not say what a forgotten client asked for, and still say that of others', () => {
    const recent = new RecentEntries(0);
    const by = (clientId: string) => ({ clientId, epoch: 1, clientSeq: 1 });
    recent.add([{ ...entry(1), origin: by('a') }, { ...entry(2), origin: by('b') }, entry(3)], { first: 1, last: 3 });
    recent.disown('a');
    expect(missed(recent, 0)).toEqual([stored(1), { ...stored(2), origin: by('b') }, stored(3)]);
  });
});

describe('entries that were stored before the log was opened', () => {
  /** The log had three entries when it was opened, and got two. */
  const reopened = () => filled(4, 5);

  it('[REL-015] come before the newest ones', () => {
    const asked: object[] = [];
    const older = (range: object) => {
      asked.push(range);
      return [stored(2), stored(3)];
    };
    expect(numbers(missed(reopened(), 1, older))).toEqual([2, 3, 4, 5]);
    expect(asked).toEqual([{ after: 1, limit: 2 }]);
    expect(numbers(missed(reopened(), 3))).toEqual([4, 5]);
  });

  it('[REL-015] count for what a client may get', () => {
    const older = () => [stored(2), stored(3)];
    const within = (bytes: number) =>
      reopened().missed({ after: 1, channels: ['s'], limits: { entries: 4, bytes } }, older);
    expect([numbers(within(12)), within(11)]).toEqual([[2, 3, 4, 5], undefined]);
  });

  it.each([
    { what: 'the first is missing', found: [stored(3)] },
    { what: 'the last is missing', found: [stored(2)] },
    { what: 'one in the middle is missing', found: [stored(2), stored(4)] },
    { what: 'all are missing', found: [] },
    { what: 'one is damaged', found: [stored(2), { ...stored(3), isDamaged: true as const }] },
  ])('[REL-015] [REL-064] are no replay when $what', ({ found }) => {
    expect(missed(reopened(), 1, () => found)).toBeUndefined();
  });

  it('[REL-015] are no replay when newer ones were dropped meanwhile', () => {
    const recent = filled(4, 12);
    expect(missed(recent, 2, () => [stored(3)])).toBeUndefined();
    expect(missed(recent, 6)).toBeUndefined();
    expect(numbers(missed(recent, 7))).toEqual([8, 9, 10, 11, 12]);
  });
});
