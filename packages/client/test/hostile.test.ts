import { describe, expect, it } from 'vitest';
import { ActionOutcomeUnknownError } from '../src/index.js';
import { connected } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { drafted, ONE, queued, ROOT, started, turn } from './support/states.js';

const NOISE = [
  '',
  'not json',
  '[]',
  'null',
  '{"jsonrpc":"1.0","method":"action"}',
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"2.0","id":"seven","result":null}',
  '{"jsonrpc":"2.0","id":99999,"result":null}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}',
  `${'['.repeat(10_000)}`,
  `{"jsonrpc":"2.0","method":"action","params":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
];

const BAD_ENVELOPES = [
  undefined,
  {},
  { channel: 7, serverSeq: 1, action: drafted('X') },
  { channel: ONE, serverSeq: 'one', action: drafted('X') },
  { channel: ONE, serverSeq: -1, action: drafted('X') },
  { channel: ONE, serverSeq: 1, action: { type: 'chat/draftChanged', draft: 7 } },
  { channel: ONE, serverSeq: 1, action: null },
  { channel: ONE, serverSeq: 1, action: drafted('X'), origin: { clientId: 7 } },
];

describe('what a host must not send', () => {
  it.each(NOISE)('[AHP-004] is logged and dropped, and the connection kept: %j', async (text) => {
    const { client, host, logged } = await connected();
    host.connection.transport.send(text);
    await settle();
    expect(logged).toHaveLength(1);
    expect(client.status.at).toBe('open');
    await client.request('ping', {});
  });

  it.each(BAD_ENVELOPES)('[AHP-004] is logged and dropped as an action too: %j', async (params) => {
    const { client, host, logged } = await connected();
    const one = await client.subscribe(ONE);
    const before = one.state;
    host.connection.send({ method: 'action', params });
    await settle();
    expect(logged).toHaveLength(1);
    expect(one.state).toEqual(before);
    host.act(ONE, drafted('A'));
    await settle();
    expect(one.state.draft?.text).toBe('A');
  });

  it('[AHP-014] as a notification that nobody knows is ignored', async () => {
    const { client, host, logged } = await connected();
    host.notify('root/levitated', { channel: ROOT });
    await settle();
    expect(logged).toEqual([]);
    expect(client.status.at).toBe('open');
  });

  it('cannot poison objects', async () => {
    const { client, host } = await connected();
    await client.subscribe(ONE);
    host.connection.transport.send(
      `{"jsonrpc":"2.0","method":"action","params":{"channel":"${ONE}","serverSeq":1,"__proto__":{"bad":1},"action":{"type":"chat/draftChanged","draft":{"text":"x","origin":{"kind":"user"},"_meta":{"__proto__":{"bad":1}}}}}}`,
    );
    await settle();
    expect(({} as { bad?: number }).bad).toBeUndefined();
  });
});

describe('[CLI-033] an action that cannot be read', () => {
  it('has happened all the same: its channel is read anew', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    host.act(ONE, started('t'));
    // The protocol wants a duration.
    host.states.set(ONE, { ...host.chatOf(ONE), activeTurn: undefined, turns: [turn('t')] } as never);
    host.connection.send({
      method: 'action',
      params: { channel: ONE, serverSeq: ++host.seq, action: { type: 'chat/turnComplete', turnId: 't' } },
    });
    await settle();
    expect(one.state).toEqual(host.chatOf(ONE));
    expect(host.params('subscribe')).toHaveLength(2);
  });

  it('and was ours is neither waited for nor shown twice', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    const act = host.act.bind(host);
    host.act = (channel, action, origin) => {
      const { connection } = host;
      const { send } = connection;
      connection.send = (message) =>
        send.call(connection, JSON.parse(JSON.stringify(message).replace('"kind":"queued"', '"kind":7')));
      const envelope = act(channel, action, origin);
      connection.send = send;
      return envelope;
    };
    await expect(one.dispatch(queued('q'))).rejects.toBeInstanceOf(ActionOutcomeUnknownError);
    await settle();
    expect(one.pending).toEqual([]);
    expect(one.state.queuedMessages).toHaveLength(1);
    expect(one.state).toEqual(host.chatOf(ONE));
  });

  it('because we dispatched it so, and that the host rejects, tells why', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    host.judge = () => '/draft must be an object';
    const wrong = one.dispatch({ type: 'chat/draftChanged', draft: 7 } as never);
    await expect(wrong).rejects.toThrow('/draft must be an object');
    expect(one.pending).toEqual([]);
    expect(one.state).toEqual(host.chatOf(ONE));
    expect(host.params('subscribe')).toHaveLength(1);
  });

  it('in a replay makes the client take the states at the next attempt', async () => {
    const { client, host, bounce, clock } = await connected();
    const one = await client.subscribe(ONE);
    host.scripts.set('reconnect', (params, connection) => {
      const result = host.answer(connection, 'reconnect', params) as object;
      return { ...result, actions: [{ channel: ONE, serverSeq: 1, action: { type: 'chat/turnComplete' } }] };
    });
    host.states.set(ONE, { ...host.chatOf(ONE), activity: 'Missed' });
    await bounce();
    await clock.advance(2_000);
    expect(client.status).toMatchObject({ at: 'open', began: 'initialize' });
    expect(one.state.activity).toBe('Missed');
    expect(host.params('reconnect')).toHaveLength(1);
  });
});

describe('[CLI-025] what this version does not know', () => {
  it('as an action is ignored, and told to those who follow the actions', async () => {
    const { client, host, logged } = await connected();
    const one = await client.subscribe(ONE);
    const actions = one.actions();
    const before = one.confirmed;
    host.connection.send({
      method: 'action',
      params: { channel: ONE, serverSeq: 1, action: { type: 'chat/levitated' } },
    });
    await settle();
    expect(one.confirmed).toBe(before);
    expect((await actions.next()).value).toMatchObject({ action: { type: 'chat/levitated' } });
    expect(logged).toEqual([]);
  });

  it('as a part of a response, or as content of a tool, is carried along', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    host.act(ONE, started('t'));
    const part = { kind: 'hologram', depth: 3 };
    host.act(ONE, { type: 'chat/responsePart', turnId: 't', part } as never);
    await settle();
    expect(one.state.activeTurn?.responseParts).toEqual([part]);
  });
});
