import { SessionStatus } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { ActionOutcomeUnknownError, ActionRejectedError, ChannelGoneError } from '../src/index.js';
import { connected, newHost, type Scene } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { Refusal } from './support/fake-host.js';
import { chat, drafted, ONE, OTHER_SESSION, queued, ROOT, SESSION, started, TWO } from './support/states.js';

/** The next frames of the host are lost on the way. */
function deafen({ host }: Scene): void {
  host.connection.transport.send = () => {};
}

describe('[CLI-015] a reconnect by replay', () => {
  it('reduces what was missed in order, and tells users of the state once', async () => {
    const { client, host, drop, clock } = await connected();
    const one = await client.subscribe(ONE);
    await drop();
    for (const id of ['a', 'b', 'c']) host.act(ONE, queued(id));
    const changed = vi.fn();
    one.onChange(changed);
    await clock.advance(2_000);
    expect(one.state).toEqual(host.chatOf(ONE));
    expect(one.state.queuedMessages?.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(changed).toHaveBeenCalledOnce();
    expect(client.status).toMatchObject({ at: 'open', began: 'replay' });
  });

  it('goes on with what follows in the same moment', async () => {
    const { client, host, drop, clock } = await connected();
    const one = await client.subscribe(ONE);
    await drop();
    host.scripts.set('reconnect', (params, connection) => {
      const result = host.answer(connection, 'reconnect', params);
      queueMicrotask(() => host.act(ONE, queued('live')));
      return result;
    });
    host.act(ONE, queued('missed'));
    await clock.advance(2_000);
    expect(one.state).toEqual(host.chatOf(ONE));
  });

  it('drops missing channels and tells their handles', async () => {
    const scene = await connected();
    const { client, host, drop, clock } = scene;
    const [one, two] = [await client.subscribe(ONE), await client.subscribe(TWO)];
    const gone = vi.fn();
    one.onGone(gone);
    await drop();
    host.states.delete(ONE);
    const waiting = one.dispatch(drafted('A'));
    await clock.advance(2_000);
    expect(gone).toHaveBeenCalledWith(expect.any(ChannelGoneError));
    expect([one.isGone, two.isGone]).toEqual([true, false]);
    await expect(waiting).rejects.toBeInstanceOf(ChannelGoneError);
    await expect(client.subscribe(ONE)).rejects.toMatchObject({ name: 'NotFound' });
  });

  it('clears pending when the host does not say what it has seen', async () => {
    const scene = await connected();
    const { client, host, bounce } = scene;
    host.extended = false;
    const one = await client.subscribe(ONE);
    deafen(scene);
    const seen = one.dispatch(queued('seen'));
    await settle();
    host.connection.transport.onMessage(() => {});
    const lost = one.dispatch(queued('lost'));
    await settle();
    await bounce();
    await expect(seen).resolves.toEqual({ serverSeq: 1 });
    await expect(lost).rejects.toBeInstanceOf(ActionOutcomeUnknownError);
    expect(one.pending).toEqual([]);
    expect(one.state).toEqual(host.chatOf(ONE));
    expect(host.params('dispatchAction')).toHaveLength(1);
  });
});

describe('[CLI-016] a reconnect by snapshot', () => {
  it('replaces the state; channels without a snapshot are gone', async () => {
    const { client, host, drop, clock } = await connected();
    const [one, two] = [await client.subscribe(ONE), await client.subscribe(TWO)];
    await drop();
    host.resumeBy = 'snapshot';
    host.act(ONE, drafted('A'));
    host.states.delete(TWO);
    await clock.advance(2_000);
    expect(one.state.draft?.text).toBe('A');
    expect(two.isGone).toBe(true);
    expect(client.status).toMatchObject({ began: 'snapshot' });
  });

  it('clears pending when the host does not say what it has seen', async () => {
    const scene = await connected();
    const { client, host, bounce } = scene;
    host.extended = false;
    host.resumeBy = 'snapshot';
    const one = await client.subscribe(ONE);
    deafen(scene);
    const unknown = one.dispatch(queued('q'));
    await settle();
    await bounce();
    await expect(unknown).rejects.toBeInstanceOf(ActionOutcomeUnknownError);
    expect(one.pending).toEqual([]);
    expect(one.state.queuedMessages).toHaveLength(1);
  });

  it('[REL-016] counts anew with a host that was started anew', async () => {
    const { client, host, drop, bounce, clock } = await connected();
    const one = await client.subscribe(ONE);
    for (let count = 0; count < 5; count += 1) host.act(ONE, drafted(`old ${count}`));
    await settle();
    await drop();
    Object.assign(host, { seq: 1, resumeBy: 'snapshot' });
    host.states.set(ONE, chat(ONE));
    await clock.advance(2_000);
    host.act(ONE, drafted('new'));
    await settle();
    expect(one.state.draft?.text).toBe('new');
    await bounce();
    expect(host.params('reconnect').map(({ lastSeenServerSeq }) => lastSeenServerSeq)).toEqual([5, 2]);
  });
});

describe('actions on their way when the connection is lost', () => {
  it.each(['replay', 'snapshot'] as const)('[REL-012] are sent again under their numbers, %s', async (resumeBy) => {
    const { client, host, bounce } = await connected();
    host.resumeBy = resumeBy;
    const one = await client.subscribe(ONE);
    host.connection.transport.onMessage(() => {});
    const lost = one.dispatch(queued('q'));
    await settle();
    await bounce();
    expect(host.params('reconnect')[0]?.pending).toEqual([1]);
    expect(host.params('dispatchAction')).toEqual([{ channel: ONE, clientSeq: 1, action: queued('q') }]);
    expect(await lost).toEqual({ serverSeq: 1 });
    expect(one.state).toEqual(host.chatOf(ONE));
  });

  it('[REL-012] are not doubled when only the echo was lost', async () => {
    const scene = await connected();
    const { client, host, bounce } = scene;
    const one = await client.subscribe(ONE);
    deafen(scene);
    const applied = one.dispatch(queued('q'));
    await settle();
    await bounce();
    expect(await applied).toEqual({ serverSeq: 1 });
    expect(host.params('dispatchAction')).toHaveLength(1);
    expect(one.state.queuedMessages).toHaveLength(1);
    expect(one.pending).toEqual([]);
  });

  it('fail with a clear error when the host decided and only the state can tell how', async () => {
    const scene = await connected();
    const { client, host, bounce } = scene;
    host.judge = () => 'no';
    const one = await client.subscribe(ONE);
    deafen(scene);
    const rejected = one.dispatch(drafted('A'));
    await settle();
    await bounce();
    await expect(rejected).rejects.toThrow('Look at the state before you repeat it');
    expect(one.state.draft?.text).toBe('Untitled');
  });

  it('stay when the host holds them, and are settled by the later echo', async () => {
    const { client, host, bounce } = await connected();
    host.defers = ({ type }) => type === 'chat/isArchivedChanged';
    const one = await client.subscribe(ONE);
    const held = one.dispatch({ type: 'chat/isArchivedChanged', isArchived: true });
    await settle();
    await bounce();
    expect(one.pending).toHaveLength(1);
    expect(one.state.status & SessionStatus.IsArchived).toBeTruthy();
    host.release();
    expect(await held).toEqual({ serverSeq: 1 });
    expect(host.log).toHaveLength(1);
  });

  it.each([true, false])('wait when they were dispatched without a connection, extended host: %s', async (extended) => {
    const { client, host, drop, clock } = await connected();
    host.extended = extended;
    const one = await client.subscribe(ONE);
    await drop();
    const offline = one.dispatch(queued('q'));
    expect(one.state.queuedMessages).toHaveLength(1);
    await clock.advance(2_000);
    expect(await offline).toEqual({ serverSeq: 1 });
    expect(host.params('reconnect')[0]?.pending).toEqual([]);
  });

  it('are rejected as usual when they are sent again and the host refuses', async () => {
    const { client, host, bounce } = await connected();
    const one = await client.subscribe(ONE);
    host.connection.transport.onMessage(() => {});
    const lost = one.dispatch(started('t'));
    host.judge = () => 'too late';
    await settle();
    await bounce();
    await expect(lost).rejects.toBeInstanceOf(ActionRejectedError);
  });
});

describe('a host that has forgotten the client', () => {
  const forgetful = async () => {
    const host = newHost();
    host.scripts.set('reconnect', () => {
      throw new Refusal(-32008, 'unknown client');
    });
    return connected({}, host);
  };

  it('is greeted anew on the same connection, with all subscriptions', async () => {
    const { client, host, drop, clock } = await forgetful();
    const [one, two] = [await client.subscribe(ONE), await client.subscribe(TWO)];
    await drop();
    host.act(ONE, drafted('A'));
    host.states.delete(TWO);
    await clock.advance(2_000);
    expect(host.connections).toHaveLength(2);
    expect(host.params('initialize')[1]).toMatchObject({ clientId: 'me', initialSubscriptions: [ROOT, ONE, TWO] });
    expect(one.state.draft?.text).toBe('A');
    expect(two.isGone).toBe(true);
    expect(client.status).toMatchObject({ at: 'open', began: 'initialize' });
  });

  it('has no pending actions either, but gets those that were never sent', async () => {
    const { client, host, drop, clock } = await forgetful();
    const one = await client.subscribe(ONE);
    host.connection.transport.onMessage(() => {});
    const lost = one.dispatch(queued('lost'));
    await settle();
    await drop();
    const offline = one.dispatch(queued('offline'));
    await clock.advance(2_000);
    await expect(lost).rejects.toBeInstanceOf(ActionOutcomeUnknownError);
    expect(await offline).toEqual({ serverSeq: 1 });
    expect(one.state.queuedMessages?.map(({ id }) => id)).toEqual(['offline']);
  });

  it('is not sent anything again once it was greeted anew, even if its answer got lost', async () => {
    const { client, host, drop, clock } = await forgetful();
    const one = await client.subscribe(ONE);
    host.connection.transport.onMessage(() => {});
    const lost = one.dispatch(queued('lost'));
    lost.catch(() => {});
    await settle();
    await drop();
    host.scripts.set('initialize', (_params, connection) => {
      host.scripts.clear();
      connection.transport.close();
      throw new Refusal(-32603);
    });
    await clock.advance(10_000);
    await expect(lost).rejects.toBeInstanceOf(ActionOutcomeUnknownError);
    expect(host.params('reconnect').at(-1)?.pending).toEqual([]);
    expect(host.chatOf(ONE).queuedMessages).toBeUndefined();
  });

  it('that speaks another language now ends the client', async () => {
    const { client, host, bounce } = await forgetful();
    const one = await client.subscribe(ONE);
    host.scripts.set('initialize', () => {
      throw new Refusal(-32005);
    });
    await bounce();
    expect(client.status).toMatchObject({ at: 'closed', error: { name: 'UnsupportedProtocolVersion' } });
    expect(one.isGone).toBe(true);
  });
});

describe('[CLI-017] after a reconnect', () => {
  it.each(['replay', 'snapshot'] as const)(
    'by %s, stateless channels are subscribed to again and sessions listed',
    async (resumeBy) => {
      const { client, host, bounce } = await connected();
      host.resumeBy = resumeBy;
      await client.subscribe('ahp-otlp:/logs');
      const list = await client.sessions();
      host.states.delete(OTHER_SESSION);
      await bounce();
      expect(host.params('reconnect')[0]?.subscriptions).toEqual([ROOT]);
      expect(host.params('subscribe').map(({ channel }) => channel)).toEqual(['ahp-otlp:/logs', 'ahp-otlp:/logs']);
      expect(list.items.map(({ resource }) => resource)).toEqual([SESSION]);
    },
  );

  it('the status tells how it began, so that tokens can be given again', async () => {
    const { client, bounce } = await connected();
    const began: string[] = [];
    client.onStatus((status) => status.at === 'open' && began.push(status.began));
    await bounce();
    expect(began).toEqual(['replay']);
  });
});

describe('what is in flight around an answer', () => {
  it('and older than it is not lost when the connection ends in between', async () => {
    const scene = await connected();
    const { client, host, bounce } = scene;
    const one = await client.subscribe(ONE);
    host.scripts.set('subscribe', (params, connection) => {
      host.scripts.clear();
      // The host holds an action of another channel behind the answer, which has a greater number already.
      const { send } = connection.transport;
      connection.transport.send = () => {};
      host.act(ONE, queued('q'));
      host.act(TWO, drafted('B'));
      connection.transport.send = send;
      return host.answer(connection, 'subscribe', params);
    });
    const two = await client.subscribe(TWO);
    expect(two.state.draft?.text).toBe('B');
    await bounce();
    expect(host.params('reconnect')[0]?.lastSeenServerSeq).toBe(2);
    expect(one.state).toEqual(host.chatOf(ONE));
    expect(host.params('subscribe').map(({ channel }) => channel)).toEqual([ONE, TWO, ROOT, ONE]);
  });

  it('is not asked for again once anything has been heard since', async () => {
    const { client, host, bounce } = await connected();
    await client.subscribe(ONE);
    host.act(TWO, drafted('B'));
    await client.subscribe(TWO);
    await client.request('ping', {});
    await bounce();
    expect(host.params('subscribe')).toHaveLength(2);
  });

  it.each(['replay', 'snapshot'] as const)(
    'and early is kept for the answer to the greeting, by %s',
    async (resumeBy) => {
      const { client, host, drop, clock } = await connected();
      const one = await client.subscribe(ONE);
      host.resumeBy = resumeBy;
      await drop();
      host.act(ONE, queued('missed'));
      host.scripts.set('reconnect', (params, connection) => {
        const result = host.answer(connection, 'reconnect', params);
        host.connection.subscribed.add(ONE);
        host.act(ONE, queued('early'));
        return result;
      });
      await clock.advance(2_000);
      expect(one.state).toEqual(host.chatOf(ONE));
    },
  );
});
