import { REPLAY_MAX_ENVELOPES } from '@atrium/core/log/limits.js';
import type { LogEntry, NewEntry, ReplayLimits } from '@atrium/core/log/log.js';
import { RecentEntries } from '@atrium/core/log/recent-entries.js';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { startHost } from '../support/session-fixture.js';
import { ROOT, settle, type TestHost } from '../support/test-host.js';

const ALL = { entries: 1_000, bytes: 1_000_000 };
const entry = (action = 'x'.repeat(10)): NewEntry => ({ channel: action === '' ? '' : ROOT, time: 0, action });
const nothing = () => [];

function add(recent: RecentEntries, seq: number, action?: string): void {
  recent.add([entry(action)], { first: seq, last: seq });
}

function filled(count: number, limits: ReplayLimits): RecentEntries {
  const recent = new RecentEntries(0, limits);
  for (let seq = 1; seq <= count; seq++) add(recent, seq);
  return recent;
}

const numbersAfter = (recent: RecentEntries, after: number, older: () => LogEntry[] = nothing, limits = ALL) =>
  recent.missed({ after, channels: [ROOT], limits }, older)?.map(({ seq }) => seq);

describe('the replay buffer', () => {
  it('[REL-015] holds so many, and not one more', () => {
    const recent = filled(8, { entries: 5, bytes: 1_000 });
    expect(numbersAfter(recent, 3)).toEqual([4, 5, 6, 7, 8]);
    expect(numbersAfter(recent, 2)).toBeUndefined();
    expect(numbersAfter(recent, 7)).toEqual([8]);
    expect(numbersAfter(recent, 8)).toEqual([]);
    expect(numbersAfter(recent, 9)).toBeUndefined();
  });

  it('[REL-015] holds so many bytes, and not one more', () => {
    const recent = filled(8, { entries: 1_000, bytes: 30 });
    expect(numbersAfter(recent, 5)).toEqual([6, 7, 8]);
    expect(numbersAfter(recent, 4)).toBeUndefined();
  });

  it('[REL-015] holds as much whether its entries come one by one or in one commit', () => {
    const recent = new RecentEntries(0, { entries: 5, bytes: 1_000 });
    const entries = Array.from({ length: 8 }, () => entry());
    recent.add(entries, { first: 1, last: 8 });
    expect([numbersAfter(recent, 2), numbersAfter(recent, 3)]).toEqual([undefined, [4, 5, 6, 7, 8]]);
  });

  it('forgets even the newest when that alone is too big', () => {
    const recent = filled(3, { entries: 5, bytes: 30 });
    add(recent, 4, 'x'.repeat(31));
    expect(numbersAfter(recent, 3)).toBeUndefined();
    expect(numbersAfter(recent, 4)).toEqual([]);
    add(recent, 5);
    expect(numbersAfter(recent, 4)).toEqual([5]);
  });

  it('knows that a number was used up without an action', () => {
    const recent = filled(2, { entries: 5, bytes: 100 });
    add(recent, 3, '');
    add(recent, 4);
    expect(numbersAfter(recent, 1)).toEqual([2, 4]);
  });

  it('[REL-016] starts where the log stands: an older number is read, if it can be, and a greater one is not known', () => {
    const recent = new RecentEntries(40);
    expect(numbersAfter(recent, 40)).toEqual([]);
    expect(numbersAfter(recent, 39)).toBeUndefined();
    expect(numbersAfter(recent, 41)).toBeUndefined();
    expect(numbersAfter(recent, -1)).toBeUndefined();
    add(recent, 41);
    const stored = { seq: 40, ...entry() };
    expect(numbersAfter(recent, 39, () => [stored])).toEqual([40, 41]);
    expect(numbersAfter(recent, 39, () => [{ ...stored, isDamaged: true }])).toBeUndefined();
    expect(numbersAfter(recent, 38, () => [stored])).toBeUndefined();
    expect(numbersAfter(recent, 39, () => [stored], { entries: 2, bytes: 19 })).toBeUndefined();
    expect(numbersAfter(recent, 39, () => [stored], { entries: 2, bytes: 20 })).toEqual([40, 41]);
  });

  it('[REL-015] reads nothing older once it has dropped something', () => {
    const recent = new RecentEntries(40, { entries: 2, bytes: 1_000 });
    for (const seq of [41, 42, 43]) add(recent, seq);
    expect(numbersAfter(recent, 39, () => [{ seq: 40, ...entry() }])).toBeUndefined();
  });
});

describe('on the wire', () => {
  async function outcome(host: TestHost, uri: string, lastSeenServerSeq: number) {
    const params = { channel: ROOT, clientId: 'desk', lastSeenServerSeq, subscriptions: [ROOT, uri] };
    return host.connect().request<{ type: string; actions?: unknown[] }>('reconnect', params);
  }

  it('[REL-015][AHP-205][AHP-206] one before the oldest is replayed, two before is a snapshot, also after a restart', async () => {
    const log = new KeptLog();
    const host = await startHost({ log });
    const client = await host.client('desk');
    const uri = await client.session();
    for (let count = 0; count < REPLAY_MAX_ENVELOPES + 50; count++) {
      client.dispatch(uri, { type: 'session/titleChanged', title: `number ${count}` });
    }
    await client.action(
      uri,
      (action) => (action as { title?: string }).title === `number ${REPLAY_MAX_ENVELOPES + 49}`,
    );
    await settle();
    const oldest = log.head - REPLAY_MAX_ENVELOPES + 1;
    const replayed = await outcome(host, uri, oldest - 1);
    expect(replayed.type).toBe('replay');
    expect(replayed.actions).toHaveLength(REPLAY_MAX_ENVELOPES);
    expect((await outcome(host, uri, oldest - 2)).type).toBe('snapshot');

    const head = log.head;
    await host.stop();
    const second = await startHost({ log });
    expect(log.head).toBe(head);
    expect((await outcome(second, uri, oldest - 1)).actions).toEqual(replayed.actions);
    expect((await outcome(second, uri, oldest - 2)).type).toBe('snapshot');
  });
});
