import { OUTBOX_MAX_MESSAGES, OUTBOX_MERGE_BYTES } from '@atrium/core/wire/limits.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import type { SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { comparable, Mirror } from '../support/mirror.js';
import { openPuppetFixture, type PuppetFixture, textIn } from '../support/session-fixture.js';
import { comparableSessionsV1, sessionsV1Client } from '../support/sessions-v1-client.js';
import { type RawClient, ROOT, settle } from '../support/test-host.js';

const stall = (client: RawClient) => {
  client.bufferedBytes = OUTBOX_MERGE_BYTES + 1;
};
const read = (client: RawClient) => {
  client.bufferedBytes = 0;
  client.drain();
};

describe('a client that reads slowly', () => {
  it('[REL-041] ends up in the same state, whichever version it speaks, with fewer messages', async () => {
    const { host, client, uri, puppet, join } = await openPuppetFixture({ joinText: false });
    const fast = await join('fast');
    const slow = await join('slow');
    const middle = await host.client('middle', { protocolVersions: ['0.2.0'], initialSubscriptions: [uri] });
    const old = await sessionsV1Client(host, 'old');
    const session = uri.replace('ahp-session', 'puppet');
    await old.subscribe(session);
    const lagging = [slow, middle, old.raw];
    for (const client of lagging) stall(client);
    for (let count = 0; count < 200; count++) {
      puppet.turn.text(`word ${count} `);
      if (count % 50 === 49) puppet.turn.reasoning(`thought ${count} `);
      if (count % 20 === 0) await settle(1);
    }
    puppet.finish();
    await fast.action(uri, 'session/turnComplete');
    for (const client of lagging) read(client);
    await settle();

    const state = await client.state<SessionState>(uri);
    expect(textIn(state.turns[0]?.responseParts)).toContain('word 0 word 1 ');
    for (const client of [slow, middle, fast]) {
      expect(new Mirror().takeAll(client.received).state(uri)).toEqual(comparable(state));
    }
    const fresh = await sessionsV1Client(host, 'fresh');
    expect(old.mirror(session)).toEqual(comparableSessionsV1((await fresh.subscribe(session)).state));
    expect(fast.types(uri).filter((type) => type === 'session/delta')).toHaveLength(200);
    for (const client of [slow, middle]) {
      expect(client.types(uri).filter((type) => type === 'session/delta').length).toBeLessThan(10);
    }
    expect(old.types(session).filter((type) => type === 'session/delta').length).toBeLessThan(10);
  });

  it('[REL-041] can still come back with the last number it was given', async () => {
    const { host, uri, puppet, join } = await openPuppetFixture({ joinText: false });
    const slow = await join('slow');
    stall(slow);
    for (let count = 0; count < 50; count++) puppet.turn.text(`${count} `);
    await settle();
    read(slow);
    const mirror = new Mirror().takeAll(slow.received);
    slow.disconnect();
    for (let count = 50; count < 100; count++) puppet.turn.text(`${count} `);
    puppet.finish();
    await settle();
    const again = host.connect();
    const params = { channel: ROOT, clientId: 'slow', lastSeenServerSeq: mirror.lastSeen, subscriptions: [uri] };
    expect(await again.request('reconnect', params)).toMatchObject({ type: 'replay' });
    expect(mirror.takeAll(again.received).state(uri)).toEqual(comparable(await again.state(uri)));
  });

  it('[REL-040] that stops altogether is closed with a code; others are not held up, and it can come back', async () => {
    const { host, client, uri, puppet, join } = await openPuppetFixture();
    const [stuck, fast] = [await join('stuck'), await join('fast')];
    const { lastSeen } = new Mirror().takeAll(stuck.received);
    stall(stuck);
    const seen = stuck.received.length;
    for (let count = 0; count <= OUTBOX_MAX_MESSAGES; count++) {
      client.dispatch(uri, { type: 'session/titleChanged', title: `Title ${count}` });
      if (count % 100 !== 0) continue;
      await settle(2);
      expect(fast.types(uri).at(-1)).toBe('session/titleChanged');
    }
    expect(await stuck.untilClosed()).toMatchObject({ code: CloseCode.TooSlow });
    expect(stuck.received).toHaveLength(seen);
    expect([client.closed, fast.closed]).toEqual([undefined, undefined]);
    puppet.finish();
    await fast.action(uri, 'session/turnComplete');
    const again = host.connect();
    const params = { channel: ROOT, clientId: 'stuck', lastSeenServerSeq: lastSeen, subscriptions: [ROOT, uri] };
    expect(await again.request('reconnect', params)).toMatchObject({ type: 'snapshot' });
    expect(new Mirror().takeAll(again.received).state(uri)).toEqual(comparable(await client.state(uri)));
  });

  it('[REL-040] that stops while 50 MB stream is closed; the text is whole for everyone else', {
    timeout: 60_000,
  }, async () => {
    const { client, uri, puppet, join } = await openPuppetFixture();
    const [stuck, fast] = [await join('stuck'), await join('fast')];
    stall(stuck);
    for (let count = 0; count < 100; count++) {
      say(puppet, count);
      if (count % 5 === 0) await settle(1);
    }
    puppet.finish();
    await fast.action(uri, 'session/turnComplete');
    expect(stuck.closed).toMatchObject({ code: CloseCode.TooSlow });
    const lengths = fast.envelopes(uri).map(({ action }) => textOf(action).length);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(50_000_000);
    expect(client.closed).toBeUndefined();
  });

  it('[REL-040] a burst is no slowness: 5,000 actions in one tick reach everyone', async () => {
    const { client, uri, puppet, join } = await openPuppetFixture({ joinText: false });
    const reader = await join('reader');
    for (let count = 0; count < 5_000; count++) puppet.turn.text('x');
    puppet.finish();
    await reader.action(uri, 'session/turnComplete');
    expect(reader.types(uri).filter((type) => type === 'session/delta')).toHaveLength(5_000);
    expect([client.closed, reader.closed]).toEqual([undefined, undefined]);
  });

  it('[REL-040] a snapshot above the limit reaches a client that reads', async () => {
    const { host, uri, puppet } = await openPuppetFixture();
    for (let count = 0; count < 40; count++) say(puppet, count);
    puppet.finish();
    await settle();
    const late = await host.client('late');
    const state = await late.state<SessionState>(uri);
    expect(textIn(state.turns[0]?.responseParts)).toHaveLength(20_000_000);
    expect(late.closed).toBeUndefined();
  });
});

const CHUNK = 'x'.repeat(500_000);

/** Half a megabyte of an answer whose parts have two of them each, with a thought in between. */
function say({ turn }: PuppetFixture['puppet'], count: number): void {
  if (count % 4 === 0) turn.reasoning('y');
  turn.text(CHUNK);
}

/** What an action adds to the text of an answer. */
function textOf(action: { readonly type: string; readonly content?: string }): string {
  return action.type === 'session/delta' ? (action.content ?? '') : '';
}
