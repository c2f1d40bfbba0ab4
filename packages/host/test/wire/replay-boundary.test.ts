import { REPLAY_MAX_ENVELOPES } from '@atrium/core/wire/limits.js';
import { ReplayBuffer } from '@atrium/core/wire/replay.js';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { startHost } from '../support/session-fixture.js';
import { ROOT, settle, type TestHost } from '../support/test-host.js';

const envelope = (serverSeq: number) => ({
  channel: ROOT,
  serverSeq,
  action: { type: 'root/agentsChanged' as const, agents: [] },
});

function filled(count: number, limits: { envelopes: number; bytes: number }): ReplayBuffer {
  const buffer = new ReplayBuffer(0, limits);
  for (let seq = 1; seq <= count; seq++) buffer.add(seq, envelope(seq), 'x'.repeat(10));
  return buffer;
}

const numbersAfter = (buffer: ReplayBuffer, seq: number) =>
  buffer.after(seq)?.map((missed) => missed.envelope.serverSeq);

describe('the replay buffer', () => {
  it('[REL-015] holds so many, and not one more', () => {
    const buffer = filled(8, { envelopes: 5, bytes: 1_000 });
    expect(numbersAfter(buffer, 3)).toEqual([4, 5, 6, 7, 8]);
    expect(numbersAfter(buffer, 2)).toBeUndefined();
    expect(numbersAfter(buffer, 7)).toEqual([8]);
    expect(numbersAfter(buffer, 8)).toEqual([]);
    expect(numbersAfter(buffer, 9)).toBeUndefined();
  });

  it('[REL-015] holds so many bytes, and not one more', () => {
    const buffer = filled(8, { envelopes: 1_000, bytes: 30 });
    expect(numbersAfter(buffer, 5)).toEqual([6, 7, 8]);
    expect(numbersAfter(buffer, 4)).toBeUndefined();
  });

  it('forgets even the newest when that alone is too big', () => {
    const buffer = filled(3, { envelopes: 5, bytes: 30 });
    buffer.add(4, envelope(4), 'x'.repeat(31));
    expect(numbersAfter(buffer, 3)).toBeUndefined();
    expect(numbersAfter(buffer, 4)).toEqual([]);
    buffer.add(5, envelope(5), 'x'.repeat(10));
    expect(numbersAfter(buffer, 4)).toEqual([5]);
  });

  it('knows that a number was used up without an action', () => {
    const buffer = filled(2, { envelopes: 5, bytes: 100 });
    buffer.add(3, undefined, '');
    buffer.add(4, envelope(4), 'x'.repeat(10));
    expect(numbersAfter(buffer, 1)).toEqual([2, 4]);
  });

  it('[REL-016] starts where the log stands: an older number is not known, a greater one neither', () => {
    const buffer = new ReplayBuffer(40);
    expect(numbersAfter(buffer, 40)).toEqual([]);
    expect(numbersAfter(buffer, 39)).toBeUndefined();
    expect(numbersAfter(buffer, 41)).toBeUndefined();
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
