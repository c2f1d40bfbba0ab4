/** Everybody sees one history, whatever their client speaks and however often their line was cut. */
import type { SessionState } from '@atrium/protocol';
import type { SessionsV1ActionEnvelope, SessionsV1SessionState } from '@atrium/protocol/dialects';
import { describe, expect, it } from 'vitest';
import { applySessionsV1 } from '../../../../protocol/test/support/sessions-v1-client.js';
import { comparable, Mirror } from '../../support/mirror.js';
import { answerNext, tool } from '../../support/provider-fixture.js';
import { envelopesOf, type Fixture, openFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
import { comparableSessionsV1, sessionsV1Client } from '../../support/sessions-v1-client.js';
import { type RawClient, ROOT, settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

interface SessionsV1Resumed extends Record<string, unknown> {
  readonly type: string;
  readonly actions: readonly SessionsV1ActionEnvelope[];
}

const HELLO = {
  name: 'ci-watcher',
  tools: [tool('status'), tool('deploy')],
  hooks: { onPreToolUse: [{ match: { tool: 'deploy' }, action: 'deny', reason: 'not on Fridays' }] },
};

async function openIdleFixture(): Promise<Fixture> {
  return openFixture({ session: { provider: 'puppet' } });
}

/** An inject, a call, a denied call, a note in a turn and between turns, an inject that waits, and a switch. */
async function playAll(fixture: Fixture, provider: TestProvider): Promise<void> {
  provider.send({ type: 'push', level: 'inject', event: 'CI failed', metadata: { run: 7 } });
  const first = await fixture.agent.turn(0);
  first.turn.text('Let me look. ');
  const outcome = first.turn.callTool({ id: 'c1', name: 'status', input: { branch: 'main' } });
  await answerNext(provider, { data: 'red' });
  await outcome;
  await first.turn.callTool({ id: 'c2', name: 'deploy', input: {} });
  provider.send({ type: 'push', level: 'surface', event: 'still red' });
  await settle();
  provider.send({ type: 'push', level: 'inject', event: 'CI failed again' });
  first.turn.text('It is red.');
  await settle();
  first.finish();
  const second = await fixture.agent.turn(1);
  second.finish();
  await settle();
  await fixture.clock.advance(1_000);
  provider.send({ type: 'push', level: 'surface', event: 'green now' });
  await settle();
  const id = 'gateway-provider:/ci-watcher';
  fixture.client.dispatch(fixture.uri, { type: 'session/customizationToggled', id, enabled: false });
  await settle();
  fixture.client.dispatch(fixture.uri, turnStarted('last', 'thanks'));
  (await fixture.agent.turn(2)).finish();
  await settle();
}

/** What a history is about, in words that both wires have. */
function gist({ turns }: SessionState) {
  return turns.map(({ id, state, responseParts }) => ({
    id,
    state,
    text: responseParts.flatMap((part) => (part.kind === 'markdown' ? part.content : [])).join(''),
    notes: responseParts.flatMap((part) => (part.kind === 'systemNotification' ? part.content : [])),
    calls: responseParts.flatMap((part) =>
      part.kind === 'toolCall'
        ? [[part.toolCall.toolCallId, part.toolCall.displayName, part.toolCall.status === 'completed']]
        : [],
    ),
  }));
}

function gistV1({ turns }: SessionsV1SessionState) {
  return turns.map(({ id, state, responseText, responseParts, toolCalls }) => ({
    id,
    state,
    text: responseText,
    notes: responseParts.flatMap((part) =>
      part.kind === 'markdown' && part.content.startsWith('※') ? part.content : [],
    ),
    calls: toolCalls.map(({ toolCallId, displayName, success }) => [toolCallId, displayName, success]),
  }));
}

describe('one history', () => {
  it('[UNI-105] [UNI-007] is the same for clients of 1, 0.2.0 and 0.3.0, across injects, calls, denials and news', async () => {
    const fixture = await openIdleFixture();
    const middle = await fixture.host.client('middle', { protocolVersions: ['0.2.0'] });
    await middle.request('subscribe', { channel: fixture.uri });
    const session = fixture.uri.replace('ahp-session:', 'puppet:');
    const old = await sessionsV1Client(fixture.host, 'old');
    await old.subscribe(session);
    const provider = await TestProvider.bound(fixture.host, HELLO);
    await playAll(fixture, provider);
    const state = await stateOf(fixture.client, fixture.uri);
    expect(gist(state)).toEqual([
      {
        id: expect.any(String),
        state: 'complete',
        text: 'Let me look. It is red.',
        notes: ['※ ci-watcher: still red'],
        calls: [
          ['c1', 'ci-watcher: status', true],
          ['c2', 'ci-watcher: deploy', false],
        ],
      },
      { id: expect.any(String), state: 'complete', text: '', notes: [], calls: [] },
      {
        id: 'last',
        state: 'complete',
        text: '',
        notes: [expect.stringContaining('※ ci-watcher: green now')],
        calls: [],
      },
    ]);
    for (const client of [middle, fixture.client])
      expect(new Mirror().takeAll(client.received).state(fixture.uri)).toEqual(comparable(state));
    const seen = middle.envelopes(fixture.uri);
    expect(fixture.client.envelopes(fixture.uri).slice(-seen.length)).toEqual(seen);
    const fresh = await sessionsV1Client(fixture.host, 'fresh');
    const { state: shown } = await fresh.subscribe(session);
    expect(old.mirror(session)).toEqual(comparableSessionsV1(shown));
    expect(gistV1(shown as SessionsV1SessionState)).toEqual(gist(state));
  });

  it('[UNI-106] [UNI-111] is exactly the same after a line was cut, and the missed actions are replayed', async () => {
    const fixture = await openIdleFixture();
    const phone = await fixture.join('phone');
    const provider = await TestProvider.bound(fixture.host, HELLO);
    await settle();
    const seen = new Mirror().takeAll(phone.received);
    phone.disconnect();
    await playAll(fixture, provider);
    const again = fixture.host.connect();
    const resumed = await again.request<{ type: string }>('reconnect', {
      channel: ROOT,
      clientId: 'phone',
      lastSeenServerSeq: seen.lastSeen,
      subscriptions: [ROOT, fixture.uri],
    });
    expect(resumed.type).toBe('replay');
    const state = await stateOf(fixture.client, fixture.uri);
    expect(seen.takeAll(again.received).state(fixture.uri)).toEqual(comparable(state));
    expect(JSON.stringify(resumed)).toContain('"metadata":{"run":7}');
    // Everybody else saw the very same actions, with the same numbers.
    const { actions } = resumed as unknown as { actions: { channel: string; serverSeq: number }[] };
    const replayed = actions.filter(({ channel }) => channel === fixture.uri);
    expect(fixture.client.envelopes(fixture.uri).slice(-replayed.length)).toEqual(replayed);
  });

  it('[UNI-106] is the same for sessions-v1 after its line was cut', async () => {
    const fixture = await openIdleFixture();
    const session = fixture.uri.replace('ahp-session:', 'puppet:');
    const old = await sessionsV1Client(fixture.host, 'old');
    const shown = await old.subscribe(session);
    const provider = await TestProvider.bound(fixture.host, HELLO);
    await settle();
    old.raw.disconnect();
    await playAll(fixture, provider);
    const place = { clientId: 'old', lastSeenServerSeq: shown.fromSeq, subscriptions: [session] };
    const resumed = await fixture.host.connect().request<SessionsV1Resumed>('reconnect', place);
    expect(resumed.type).toBe('replay');
    const { state } = await (await sessionsV1Client(fixture.host, 'fresh')).subscribe(session);
    const own = resumed.actions.filter(({ action }) => 'session' in action && action.session === session);
    expect(comparableSessionsV1(own.reduce(applySessionsV1, shown.state as SessionsV1SessionState))).toEqual(
      comparableSessionsV1(state),
    );
    expect(gistV1(state as SessionsV1SessionState)).toEqual(gist(await stateOf(fixture.client, fixture.uri)));
  });

  it('[UNI-111] keeps the origin of an inject, wherever one looks', async () => {
    const fixture = await openIdleFixture();
    fixture.client.dispatch(fixture.uri, turnStarted('t1'));
    const human = await fixture.agent.turn(0);
    const provider = await TestProvider.bound(fixture.host, HELLO);
    provider.send({ type: 'push', level: 'inject', stream: 'builds', event: 'x', metadata: { deep: { a: [1] } } });
    await settle();
    const meta = { gateway: { provider: 'ci-watcher', stream: 'builds', metadata: { deep: { a: [1] } } } };
    const pending = (await stateOf(fixture.client, fixture.uri)).queuedMessages?.[0]?.userMessage;
    human.finish();
    const injected = await fixture.agent.turn(1);
    const active = (await stateOf(await fresh(fixture), fixture.uri)).activeTurn?.userMessage;
    injected.finish();
    await settle();
    const finished = (await stateOf(await fresh(fixture), fixture.uri)).turns.at(-1)?.userMessage;
    const sent = envelopesOf(fixture.client, fixture.uri)
      .map(({ action }) => action)
      .findLast(({ type }) => type === 'session/turnStarted')?.userMessage;
    const expected = { text: '[ci-watcher/builds] x', _meta: meta };
    for (const message of [pending, active, finished, sent]) expect(message).toEqual(expected);
    expect(injected.turn.message).toEqual({ ...expected, origin: { kind: 'systemNotification' } });
  });
});

async function fresh(fixture: Fixture): Promise<RawClient> {
  return fixture.host.client(`fresh-${crypto.randomUUID()}`);
}
