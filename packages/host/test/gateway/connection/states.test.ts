import { silentLogger } from '@atrium/core/util/logger.js';
import { transportPair } from '@atrium/core/wire/transports/in-process.js';
import {
  CONNECTION_STATE_RULES,
  CONNECTION_STATES,
  type ConnectionState,
  isLegalIn,
  TO_GATEWAY_TYPES,
  TO_PROVIDER_TYPES,
  type ToGatewayMessageType,
} from '@atrium/protocol/provider';
import { describe, expect, it, vi } from 'vitest';
import { ProviderConnection } from '../../../src/gateway/provider-connection.js';
import { FakeClock } from '../../support/fake-clock.js';
import { pair, sessionId, shownCode, shownPairings } from '../../support/gateway-connections.js';
import { MESSAGES } from '../../support/provider-messages.js';
import { openFixture, openPuppetFixture, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

/** A connection that is held in one state, and what reaches the handler of its messages. */
async function connectionIn(state: ConnectionState) {
  const [transport, end] = transportPair();
  const handled: string[] = [];
  const answers: { type: string; code?: string; replyTo?: string; message?: string }[] = [];
  let release = () => {};
  const connection = new ProviderConnection({
    transport,
    clock: new FakeClock(),
    logger: silentLogger,
    events: {
      message: (_, message) => {
        handled.push(message.type);
        if (state === 'Rebinding' && handled.length === 1)
          return new Promise((resolve) => {
            release = resolve;
          });
      },
      closed: () => {},
    },
  });
  end.onmessage = (text) => answers.push(JSON.parse(text));
  connection.access = { trust: 'internal', sessionId: undefined, token: undefined };
  if (state !== 'Connected') connection.start('AwaitHello');
  if (state === 'Rebinding') {
    connection.enter('Bound');
    end.send(JSON.stringify({ type: 'hello', ...MESSAGES.hello }));
    await settle(2);
    handled.length = 0;
    handled.push('hello');
  }
  if (state === 'Disconnected') end.close();
  else if (state !== 'Connected') connection.enter(state);
  await settle(2);
  return {
    handled,
    answers,
    send: async (type: string) => {
      end.send(JSON.stringify({ type, ...MESSAGES[type as ToGatewayMessageType] }));
      await settle(2);
    },
    decide: async () => {
      connection.enter('Bound');
      release();
      await settle(2);
    },
    begin: async () => {
      connection.start('AwaitHello');
      connection.enter('Bound');
      await settle(2);
    },
  };
}

const ALL_TYPES = [...TO_GATEWAY_TYPES, ...TO_PROVIDER_TYPES];

describe.each(CONNECTION_STATES)('in the state %s', (state) => {
  it.each(ALL_TYPES)('[REL-044] [GW-006] a %s has the documented fate', async (type) => {
    const connection = await connectionIn(state);
    const before = connection.handled.length;
    await connection.send(type);
    const known = TO_GATEWAY_TYPES.find((candidate) => candidate === type);
    const { otherwise } = CONNECTION_STATE_RULES[state];
    if (known && isLegalIn(state, known)) {
      expect(connection.handled.slice(before)).toEqual([type]);
      expect(connection.answers).toEqual([]);
    } else if (otherwise === 'refuse') {
      expect(connection.handled.slice(before)).toEqual([]);
      expect(connection.answers).toMatchObject([{ type: 'error', code: 'UNKNOWN_TYPE', replyTo: type }]);
    } else {
      expect(connection.handled.slice(before)).toEqual([]);
      expect(connection.answers).toEqual([]);
      if (state === 'Rebinding') await connection.decide();
      if (state === 'Connected') await connection.begin();
      const isTakenLater = otherwise === 'hold' && known;
      expect(connection.handled.slice(before)).toEqual(isTakenLater ? [type] : []);
    }
  });
});

it('[REL-044] knows twenty-nine types and eight states', () => {
  expect(new Set(ALL_TYPES).size).toBe(29);
  expect(CONNECTION_STATES).toHaveLength(8);
});

/** Goes in by a code, and says at each step in which state its connection is. */
async function walk(): Promise<ConnectionState[]> {
  const fixture = await openFixture();
  const states: ConnectionState[] = [];
  const { enter } = ProviderConnection.prototype;
  const watch = vi.spyOn(ProviderConnection.prototype, 'enter').mockImplementation(function (
    this: ProviderConnection,
    state,
  ) {
    states.push(this.state);
    enter.call(this, state);
    states.push(this.state);
  });
  try {
    const { provider } = await pair(fixture);
    await provider.hello({ name: 'browser' });
    await provider.hello({ name: 'browser' });
    provider.send({ type: 'hello', name: 'browser', protocolVersion: 2, session: 'nowhere' });
    await provider.next('error');
    const [connection] = watch.mock.contexts as ProviderConnection[];
    provider.send({ type: 'goodbye' });
    await provider.untilClosed();
    if (connection) states.push(connection.state);
  } finally {
    watch.mockRestore();
  }
  return states.filter((state, index) => state !== states[index - 1]);
}

it('[GW-058] goes through all eight states, in their order', async () => {
  expect(await walk()).toEqual([
    'Connected',
    'AwaitAuth',
    'AwaitPairing',
    'AwaitHello',
    'Bound',
    'Rebinding',
    'Bound',
    'Rebinding',
    'Unbound',
    'Disconnected',
  ]);
});

describe('a connection', () => {
  it('[GW-059] takes only auth at first, and says in which state it is', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host, 'network');
    provider.send({ type: 'hello', name: 'ci', protocolVersion: 2 });
    expect(await provider.next('error')).toMatchObject({
      code: 'UNKNOWN_TYPE',
      replyTo: 'hello',
      message: expect.stringContaining('AwaitAuth'),
    });
  });

  it('[GW-060] makes no second code while it waits for the first', async () => {
    const { host, client, uri } = await openFixture();
    const provider = TestProvider.connect(host, 'network');
    provider.send({ type: 'auth', mode: 'pair' });
    await provider.next('auth.pairing');
    provider.send({ type: 'auth', mode: 'pair' });
    expect(await provider.next('error')).toMatchObject({ code: 'UNKNOWN_TYPE', replyTo: 'auth' });
    expect(await shownPairings(client)).toHaveLength(1);
    // The first one is the one that counts.
    provider.send({ type: 'auth.confirm', code: await shownCode(client, uri) });
    await provider.next('sessions');
  });

  it('[GW-061] does nothing before hello', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host);
    provider.send({ type: 'push', level: 'keep', event: 'too early' });
    expect(await provider.next('error')).toMatchObject({ code: 'UNKNOWN_TYPE', replyTo: 'push' });
    await provider.hello();
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['ci'], last: 5 });
    expect(await provider.next('stream.history')).toMatchObject({ streams: { 'ci@ci': [] } });
  });

  it('[GW-062] takes every type once it is bound', async () => {
    const fixture = await openFixture();
    const { provider, token } = await pair(fixture);
    await provider.hello({ name: 'browser' });
    const answers = provider.received.length;
    provider.send({ type: 'auth', token });
    const types = TO_GATEWAY_TYPES.filter((type) => !['auth', 'auth.confirm', 'hello', 'goodbye'].includes(type));
    for (const type of types) provider.send({ type, ...MESSAGES[type] });
    await settle(20);
    const codes = provider.received.slice(answers).flatMap((message) => (message.type === 'error' ? message.code : []));
    expect(codes).not.toContain('UNKNOWN_TYPE');
    expect(provider.received.slice(answers).map(({ type }) => type)).toContain('sessions');
    await provider.next('stream.history');
    provider.send({ type: 'push', level: 'keep', event: 'still bound' });
    provider.send({ type: 'stream.query', queryId: 'last', streams: ['browser'], last: 1 });
    expect((await provider.next('stream.history')).streams).toMatchObject({
      'browser@browser': [{ event: 'still bound' }],
    });
  });

  it('[GW-062] never changes how it was let in', async () => {
    const fixture = await openFixture();
    const first = await pair(fixture);
    const second = await pair(fixture);
    await first.provider.hello({ name: 'browser' });
    first.provider.send({ type: 'auth', token: second.token });
    expect(await first.provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'auth' });
    first.provider.send({ type: 'auth', mode: 'pair' });
    expect(await first.provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'auth' });
  });

  it('[GW-063] gives messages that come during a rebind to the new binding', async () => {
    const { host } = await openFixture();
    const provider = await TestProvider.bound(host, { name: 'old' });
    provider.send({ type: 'hello', name: 'new', protocolVersion: 2 });
    provider.send({ type: 'push', level: 'keep', event: 'mine' });
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['new'], last: 1 });
    await provider.next('hello.ack');
    expect((await provider.next('stream.history')).streams).toMatchObject({ 'new@new': [{ event: 'mine' }] });
  });

  it('[GW-064] [GW-075] takes hello and goodbye when a rebind has failed', async () => {
    const { host, client, uri } = await openFixture();
    const tool = { name: 'ci_status', description: 'CI', parameters: {} };
    const provider = await TestProvider.bound(host, { tools: [tool] });
    provider.send({ type: 'hello', name: 'ci', protocolVersion: 2, session: 'nowhere', tools: [tool] });
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_SESSION', replyTo: 'hello' });
    expect(await client.state(uri)).toMatchObject({ serverTools: [] });
    provider.send({ type: 'push', level: 'keep', event: 'x' });
    expect((await provider.next('error')).message).toContain('Unbound');
    await provider.hello({ tools: [tool] });
    expect(await client.state(uri)).toMatchObject({ serverTools: [{ name: 'ci_status' }] });
    provider.send({ type: 'hello', name: 'ci', protocolVersion: 2, session: 'nowhere' });
    await provider.next('error');
    provider.send({ type: 'goodbye' });
    expect(await provider.untilClosed()).toMatchObject({ code: 1000 });
  });

  it('[GW-065] [GW-066] ends with goodbye, and what still arrives counts for nothing', async () => {
    const { host, client, uri } = await openFixture();
    const watcher = await TestProvider.bound(host, { name: 'watcher' });
    const provider = await TestProvider.bound(host, {
      tools: [{ name: 'ci_status', description: 'CI', parameters: {} }],
    });
    provider.send({ type: 'goodbye', reason: 'done' });
    provider.send({ type: 'push', level: 'keep', event: 'late' });
    expect(await provider.untilClosed()).toMatchObject({ code: 1000 });
    expect(await client.state(uri)).toMatchObject({ serverTools: [] });
    watcher.send({ type: 'stream.query', queryId: 'q', streams: ['ci@ci'], last: 5 });
    expect((await watcher.next('stream.history')).streams).toEqual({ 'ci@ci': [] });
  });

  it('[GW-065] ends with goodbye also when somebody waits for it: they hear that it is gone', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, {
      tools: [{ name: 'ci_status', description: 'CI', parameters: {} }],
    });
    const outcome = fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    const { id } = await provider.next('tool.call');
    provider.send({ type: 'goodbye' });
    provider.send({ type: 'tool.result', id, data: 'after all' });
    expect(await outcome).toMatchObject({ success: false });
    const [part] = (await stateOf(fixture.client, fixture.uri)).activeTurn?.responseParts ?? [];
    expect(part).toMatchObject({ toolCall: { status: 'completed', error: { code: 'DISCONNECTED' } } });
    expect(await provider.untilClosed()).toMatchObject({ code: 1000 });
    expect(provider.of('tool.cancel')).toEqual([]);
  });

  it('[GW-067] [GW-199] stays when its session ends, and can bind to another one', async () => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    const provider = await TestProvider.bound(fixture.host, { session: sessionId(fixture.uri) });
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await provider.next('sessions.updated');
    await settle();
    provider.send({ type: 'push', level: 'keep', event: 'x' });
    expect((await provider.next('error')).message).toContain('Unbound');
    const ack = await provider.hello({ session: sessionId(other) });
    expect(ack.sessionId).toBe(sessionId(other));
    expect(provider.closed).toBeUndefined();
  });
});
