/**
 * The contract of a log that several hosts write to, as tests: `sharedLogContract({ describe, it, expect }, 'my log',
 * openMyCluster)`.
 */
import { CHANNEL, type ContractApi, entry, OTHER, sentBy, turns } from './conformance-support.js';
import type { NewEntry } from './log.js';
import type { Change, ChangePosition, SharedCommit, SharedLog } from './shared-log.js';

const THIRD = 'ahp-session:/three';
const EVERY_CHANNEL = [CHANNEL, OTHER, THIRD];
const FROM_THE_START: ChangePosition = { seq: 0, records: 0 };

export interface ClusterUnderTest {
  /** Joins a host, and resolves with its log and its term. */
  join(host: string): Promise<{ readonly log: SharedLog; readonly term: number }>;
  /** Makes the other hosts declare it dead. */
  bury(host: string): Promise<void>;
  close(): Promise<void>;
}

export type OpenCluster = () => Promise<ClusterUnderTest>;

export function sharedLogContract(api: ContractApi, name: string, open: OpenCluster): void {
  api.describe(`${name} keeps the contract of a log that several hosts write to`, () => {
    ownerContract(api, open);
    orderContract(api, open);
    changeContract(api, open);
  });
}

type Hosts = { readonly [host in 'a' | 'b']: SharedLog } & { readonly terms: Record<'a' | 'b', number> };

function withTwo(open: OpenCluster, body: (hosts: Hosts, cluster: ClusterUnderTest) => Promise<void>) {
  return async () => {
    const cluster = await open();
    try {
      const [a, b] = [await cluster.join('a'), await cluster.join('b')];
      await body({ a: a.log, b: b.log, terms: { a: a.term, b: b.term } }, cluster);
    } finally {
      await cluster.close();
    }
  };
}

function append(log: SharedLog, commit: Partial<SharedCommit>) {
  return log.append({ entries: [], durability: 'normal', ...commit });
}

function of(channel: string, n: number): NewEntry {
  const { seq: _seq, ...rest } = entry(n, { channel });
  return rest;
}

async function actionsIn(log: SharedLog): Promise<string[]> {
  return (await log.read({ after: 0 })).map(({ channel, action }) => `${channel} ${action}`);
}

function ownerContract({ describe, it, expect }: ContractApi, open: OpenCluster): void {
  describe('owners', () => {
    it(
      '[CLU-038] may write, and nobody else: not to channels of others, nor to those that nobody has claimed',
      withTwo(open, async ({ a, b, terms }) => {
        expect(await a.claim([CHANNEL, OTHER])).toEqual({ isMine: true });
        expect(await a.claim([OTHER])).toEqual({ isMine: true });
        await append(a, { entries: [of(CHANNEL, 1), of('', 2), of(OTHER, 3)] });
        const foreign = append(b, { entries: [of('', 4), of(OTHER, 5), of(CHANNEL, 6), of(OTHER, 7), of(THIRD, 8)] });
        await expect(foreign).rejects.toMatchObject({ kind: 'not-owner', channels: [CHANNEL, THIRD, OTHER] });
        const archive = { channel: CHANNEL, head: '{}', turns: { start: 0, items: turns(0, 1) } };
        await expect(append(b, { archives: [archive] })).rejects.toMatchObject({ kind: 'not-owner' });
        await expect(b.forget(CHANNEL)).rejects.toMatchObject({ kind: 'not-owner' });
        expect(await b.claim([THIRD, CHANNEL])).toEqual({
          isMine: false,
          owners: [{ channel: CHANNEL, host: 'a', term: terms.a }],
        });
        await expect(append(b, { entries: [of(THIRD, 9)] })).rejects.toMatchObject({ kind: 'not-owner' });
        await b.release([CHANNEL]);
        await append(a, { entries: [of(CHANNEL, 10)], archives: [archive] });
        // A refused commit uses up no number.
        expect((await b.read({ after: 0 })).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      }),
    );

    it(
      '[CLU-038] give a channel back, or hand it over in a commit, with what they still write to it',
      withTwo(open, async ({ a, b, terms }, cluster) => {
        await a.claim([CHANNEL, OTHER]);
        await a.release([OTHER]);
        expect(await b.claim([OTHER])).toEqual({ isMine: true });
        const archive = { channel: CHANNEL, head: '{"n":1}', turns: { start: 0, items: [] } };
        const toB = [{ channel: CHANNEL, to: { host: 'b', term: terms.b } }];
        await append(a, { entries: [of(CHANNEL, 1)], archives: [archive], owners: toB });
        await expect(append(a, { entries: [of(CHANNEL, 2)] })).rejects.toMatchObject({ kind: 'not-owner' });
        await append(b, { entries: [of(CHANNEL, 3)] });
        await expect(append(a, { owners: toB })).rejects.toMatchObject({ kind: 'not-owner' });
        await append(b, { owners: [{ channel: CHANNEL, to: null }] });
        await expect(append(b, { entries: [of(CHANNEL, 4)] })).rejects.toMatchObject({ kind: 'not-owner' });
        expect(await a.claim([CHANNEL])).toEqual({ isMine: true });
        // Handing a channel to a host that is gone leaves it without an owner.
        await cluster.bury('b');
        await append(a, { owners: toB });
        expect(await a.claim([CHANNEL])).toEqual({ isMine: true });
        expect(await actionsIn(a)).toEqual([`${CHANNEL} {"n":1}`, `${CHANNEL} {"n":3}`]);
      }),
    );

    it(
      '[CLU-038] claim in a commit what they write to for the first time, and the commit is refused when another was faster',
      withTwo(open, async ({ a, b, terms }) => {
        const mine = (host: 'a' | 'b', channel: string) => [{ channel, to: { host, term: terms[host] } }];
        await append(a, { entries: [of(CHANNEL, 1)], owners: mine('a', CHANNEL) });
        await append(a, { entries: [of(CHANNEL, 2)] });
        const late = append(b, { entries: [of(CHANNEL, 3)], owners: mine('b', CHANNEL) });
        await expect(late).rejects.toMatchObject({ kind: 'not-owner', channels: [CHANNEL] });
        expect(await actionsIn(b)).toEqual([`${CHANNEL} {"n":1}`, `${CHANNEL} {"n":2}`]);
      }),
    );

    it(
      '[CLU-008] [CLU-038] lose everything when they are declared dead, and another takes it up',
      withTwo(open, async ({ a, b }, cluster) => {
        await a.claim([CHANNEL, OTHER]);
        await append(a, { entries: [of(CHANNEL, 1)] });
        await cluster.bury('a');
        expect(await b.claim([CHANNEL])).toEqual({ isMine: true });
        await append(b, { entries: [of(CHANNEL, 2)] });
        await expect(append(a, { entries: [of(OTHER, 3)] })).rejects.toMatchObject({ kind: 'fenced' });
        await expect(a.claim([THIRD])).rejects.toMatchObject({ kind: 'fenced' });
        const again = await cluster.join('a');
        expect(await again.log.claim([CHANNEL])).toMatchObject({ isMine: false });
        expect(await again.log.claim([OTHER])).toEqual({ isMine: true });
        await expect(append(a, { entries: [of(OTHER, 4)] })).rejects.toMatchObject({ kind: 'fenced' });
        expect(await actionsIn(b)).toEqual([`${CHANNEL} {"n":1}`, `${CHANNEL} {"n":2}`]);
      }),
    );
  });
}

/** Everything up to a number, as a host receives it. */
async function changesUpTo(
  log: SharedLog,
  upTo: number,
  channels: readonly string[] = EVERY_CHANNEL,
): Promise<Change[]> {
  const stop = new AbortController();
  const changes: Change[] = [];
  const wanted = { channels: () => channels, recordPrefixes: ['session:'] };
  for await (const change of log.changes(FROM_THE_START, wanted, stop.signal)) {
    changes.push(change);
    if (change.upTo.seq >= upTo) stop.abort();
  }
  return changes;
}

function orderContract({ describe, it, expect }: ContractApi, open: OpenCluster): void {
  describe('one order', () => {
    it(
      '[CLU-002] has everything of hosts that append at the same time, without gap or double, for each of them the same',
      withTwo(open, async ({ a, b }) => {
        await a.claim([CHANNEL]);
        await b.claim([OTHER]);
        const commits = 30;
        const write = async (log: SharedLog, channel: string) => {
          const numbers: number[] = [];
          for (let n = 0; n < commits; n++) {
            const { first, last } = await append(log, {
              entries: Array.from({ length: 1 + (n % 3) }, () => of(channel, n)),
            });
            for (let seq = first; seq <= last; seq++) numbers.push(seq);
          }
          return numbers;
        };
        const [ofA, ofB] = await Promise.all([write(a, CHANNEL), write(b, OTHER)]);
        const total = ofA.length + ofB.length;
        expect([...ofA, ...ofB].sort((x, y) => x - y)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
        const [seenByA, seenByB] = [await changesUpTo(a, total), await changesUpTo(b, total)].map((changes) =>
          changes.flatMap(({ entries }) => entries),
        );
        expect(seenByA).toEqual(seenByB);
        expect(seenByA?.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
        expect(seenByA?.flatMap(({ seq, channel }) => (channel === OTHER ? seq : []))).toEqual(ofB);
      }),
    );

    it(
      '[CLU-002] [CLU-005] stores a number of a client once, whichever hosts it is sent to',
      withTwo(open, async ({ a, b }) => {
        await a.claim([CHANNEL]);
        await b.claim([OTHER]);
        await append(a, { entries: [{ ...of(CHANNEL, 1), ...sentBy('c', 7) }] });
        const again = append(b, { entries: [{ ...of(OTHER, 1), ...sentBy('c', 7) }] });
        await expect(again).rejects.toMatchObject({ kind: 'refused', reason: 'duplicate-origin' });
        expect(await b.clientSeqs('c', 1, 0)).toEqual([7]);
      }),
    );

    it(
      '[CLU-002] [CLU-004] tells what a client missed of channels of several hosts, at each of them',
      withTwo(open, async ({ a, b }) => {
        await a.claim([CHANNEL, THIRD]);
        await b.claim([OTHER]);
        await append(a, { entries: [of(CHANNEL, 1)] });
        await append(b, { entries: [of(OTHER, 2)] });
        await append(a, { entries: [of(THIRD, 3), of(CHANNEL, 4)] });
        const limits = { entries: 1_000, bytes: 1_000_000 };
        for (const log of [a, b])
          expect((await log.missed(1, [CHANNEL, OTHER], limits))?.map(({ seq }) => seq)).toEqual([2, 4]);
        expect(await b.missed(5, [OTHER], limits)).toBe(undefined);
      }),
    );
  });
}

/** A reader from which a test takes one change after another. */
function reader(log: SharedLog, after: ChangePosition, channels: () => readonly string[]) {
  const stop = new AbortController();
  const wanted = { channels, recordPrefixes: ['session:', 'host:'] };
  const changes = log.changes(after, wanted, stop.signal)[Symbol.asyncIterator]();
  return {
    next: async (): Promise<Change | undefined> => (await changes.next()).value,
    stop: () => stop.abort(),
  };
}

function changeContract({ describe, it, expect }: ContractApi, open: OpenCluster): void {
  describe('what others do', () => {
    it(
      '[CLU-039] is told as it happens: the entries of channels that are wanted by then, up to a head that has moved for all',
      withTwo(open, async ({ a, b }) => {
        await a.claim(EVERY_CHANNEL);
        await append(a, { entries: [of(CHANNEL, 1)] });
        const wanted = [CHANNEL];
        const { next, stop } = reader(b, await b.position(), () => wanted);
        await append(a, { entries: [of(OTHER, 2), of(CHANNEL, 3)] });
        expect(await next()).toMatchObject({ upTo: { seq: 3 }, entries: [entry(3, { action: '{"n":3}' })] });
        wanted.push(OTHER);
        await append(a, { entries: [of(THIRD, 4)] });
        b.hint();
        expect(await next()).toMatchObject({ upTo: { seq: 4 }, entries: [] });
        await append(a, { entries: [of(OTHER, 5)] });
        expect(await next()).toMatchObject({ upTo: { seq: 5 }, entries: [{ seq: 5, channel: OTHER }] });
        stop();
        expect(await next()).toBe(undefined);
      }),
    );

    it(
      '[CLU-039] includes records that changed, also in commits that have nothing else, and those that were removed',
      withTwo(open, async ({ a, b }) => {
        await a.claim([CHANNEL]);
        const start = await b.position();
        const { next, stop } = reader(b, start, () => [CHANNEL]);
        const record = (key: string, value: string | null) => ({ key, value });
        await append(a, { records: [record('session:1', '"x"'), record('other:1', '"y"')] });
        expect((await next())?.records).toEqual([record('session:1', '"x"')]);
        await append(a, { entries: [of(CHANNEL, 1)], records: [record('session:2', '"z"')] });
        expect(await next()).toMatchObject({ entries: [{ seq: 1 }], records: [record('session:2', '"z"')] });
        await append(a, { records: [record('session:1', null), record('session:0', null)] });
        expect((await next())?.records).toEqual([record('session:1', null)]);
        await append(a, { records: [record('session:1', '"again"')] });
        expect((await next())?.records.at(-1)).toEqual(record('session:1', '"again"'));
        stop();
        const late = reader(b, start, () => []);
        const all = await late.next();
        late.stop();
        expect(new Map(all?.records.map(({ key, value }) => [key, value]))).toEqual(
          new Map([
            ['session:2', '"z"'],
            ['session:1', '"again"'],
          ]),
        );
      }),
    );

    it(
      '[CLU-039] comes because of what is stored, and not because of a hint',
      withTwo(open, async ({ a, b }) => {
        await a.claim([CHANNEL]);
        const { next, stop } = reader(b, await b.position(), () => [CHANNEL]);
        let hasChange = false;
        const told = next().then((change) => {
          hasChange = true;
          return change;
        });
        for (let hints = 0; hints < 20; hints++) {
          b.hint();
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        expect(hasChange).toBe(false);
        await append(a, { entries: [of(CHANNEL, 1)] });
        expect(await told).toMatchObject({ upTo: { seq: 1 }, entries: [{ seq: 1 }] });
        stop();
      }),
    );
  });
}
