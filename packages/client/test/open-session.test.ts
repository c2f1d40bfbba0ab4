import { describe, expect, it, vi } from 'vitest';
import { ActionRejectedError, ChannelGoneError, type OpenSessionState, RequestTimeoutError } from '../src/index.js';
import { connected } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { Refusal } from './support/fake-host.js';
import {
  chat,
  drafted,
  ended,
  ONE,
  OTHER_SESSION,
  queued,
  ROOT,
  SESSION,
  session,
  started,
  TWO,
  titled,
  turns,
} from './support/states.js';

describe('[CLI-029] a session that is opened', () => {
  it('comes with its default chat, and tells of changes of both', async () => {
    const { client, host } = await connected();
    const open = await client.open(SESSION);
    expect([open.session.uri, open.chat.uri]).toEqual([SESSION, ONE]);
    const seen: OpenSessionState[] = [];
    open.onChange((state) => seen.push(state));
    host.act(SESSION, titled('A'));
    host.act(ONE, queued('q'));
    await settle();
    expect(seen.map(({ session: { title }, chat: { queuedMessages } }) => [title, queuedMessages?.length])).toEqual([
      ['A', undefined],
      ['A', 1],
    ]);
    expect(open.state).toBe(seen[1]);
    expect(open.state).toEqual({ session: host.sessionOf(SESSION), chat: host.chatOf(ONE) });
  });

  it('sends each action on the channel that it belongs to', async () => {
    const { client, host } = await connected();
    const open = await client.open(SESSION);
    await open.dispatch(titled('A'));
    await open.dispatch(drafted('B'));
    expect(host.params('dispatchAction').map(({ channel }) => channel)).toEqual([SESSION, ONE]);
    expect([open.state.session.title, open.state.chat.draft?.text]).toEqual(['A', 'B']);
  });

  it('[CLI-037] sends a message: it begins a turn, or waits while one is running', async () => {
    const { client, host } = await connected();
    const open = await client.open(SESSION);
    await open.sendMessage({ text: 'first' });
    await open.sendMessage({ text: 'second' });
    await open.steer({ text: 'left' });
    // The one place for a steering message is taken.
    await open.steer({ text: 'right' });
    const { activeTurn, queuedMessages, steeringMessage } = host.chatOf(ONE);
    expect(activeTurn?.message.text).toBe('first');
    expect(queuedMessages?.map(({ message }) => message.text)).toEqual(['second', 'right']);
    expect(steeringMessage?.message.text).toBe('left');
  });

  it('[CLI-037] queues a message that came second, whether the other turn still runs or has ended', async () => {
    for (const hasEnded of [false, true]) {
      const { client, host } = await connected();
      const open = await client.open(SESSION);
      host.judge = ({ type }) => {
        host.judge = () => undefined;
        if (type !== 'chat/turnStarted') return undefined;
        host.act(ONE, started('other'));
        if (hasEnded) host.act(ONE, ended('other'));
        return 'turn other is running';
      };
      await open.sendMessage({ text: 'mine' });
      expect(host.chatOf(ONE).queuedMessages?.map(({ message }) => message.text)).toEqual(['mine']);
    }
  });

  it('[CLI-037] rejects when the host refuses a message for another reason, and sends it once', async () => {
    const { client, host } = await connected();
    const open = await client.open(SESSION);
    host.judge = () => 'the session could not be created';
    await expect(open.sendMessage({ text: 'mine' })).rejects.toThrow(ActionRejectedError);
    expect(host.params('dispatchAction')).toHaveLength(1);
  });

  it('opens the chat that is named, with as many turns as are wanted', async () => {
    const { client, host } = await connected();
    host.states.set('ahp-chat:/side', chat('ahp-chat:/side', { turns: turns(5) }));
    const open = await client.open(SESSION, { chat: 'ahp-chat:/side', turns: { last: 2 } });
    expect(open.chat.uri).toBe('ahp-chat:/side');
    expect(open.state.chat.turns).toHaveLength(2);
    expect(open.chat.hasOlder).toBe(true);
  });

  it('stays with its chat when another one becomes the default', async () => {
    const { client, host } = await connected();
    const open = await client.open(SESSION);
    host.act(SESSION, { type: 'session/defaultChatChanged', defaultChat: TWO });
    await settle();
    expect(open.session.state.defaultChat).toBe(TWO);
    expect(open.chat.uri).toBe(ONE);
    expect(open.isGone).toBe(false);
    expect((await client.open(SESSION)).chat.uri).toBe(TWO);
  });

  it('takes the first chat when none is the default', async () => {
    const { client, host } = await connected();
    const { defaultChat: _none, ...rest } = session(SESSION);
    host.states.set(SESSION, rest);
    expect((await client.open(SESSION)).chat.uri).toBe(ONE);
  });

  it('waits for a chat that is still to come, at most as long as for an answer', async () => {
    const { client, host, clock } = await connected({ requestTimeoutMs: 100, heartbeatMs: 1_000_000 });
    const { defaultChat: _none, ...rest } = session(SESSION, { chats: [], lifecycle: 'creating' });
    host.states.set(SESSION, rest);
    const opening = client.open(SESSION);
    await clock.advance(99);
    host.act(SESSION, { type: 'session/chatAdded', summary: session(SESSION).chats[0] as never });
    expect((await opening).chat.uri).toBe(ONE);
    host.states.set(OTHER_SESSION, rest);
    const late = client.open(OTHER_SESSION).catch((error: Error) => error);
    await clock.advance(100);
    expect(await late).toBeInstanceOf(RequestTimeoutError);
    await settle();
    expect(host.params('unsubscribe')).toEqual([{ channel: OTHER_SESSION }]);
  });

  it('does not wait for a chat of a session that is gone', async () => {
    const { client, host } = await connected();
    const { defaultChat: _none, ...rest } = session(SESSION, { chats: [] });
    host.states.set(SESSION, rest);
    const opening = client.open(SESSION);
    await settle();
    host.notify('root/sessionRemoved', { channel: ROOT, session: SESSION });
    await expect(opening).rejects.toBeInstanceOf(ChannelGoneError);
  });

  it('leaves nothing behind when its chat is refused', async () => {
    const { client, host } = await connected();
    await expect(client.open(SESSION, { chat: 'ahp-chat:/none' })).rejects.toMatchObject({ name: 'NotFound' });
    await settle();
    expect(host.params('unsubscribe')).toEqual([{ channel: SESSION }]);
  });

  it('can be followed with a loop, and ends both handles when it is closed', async () => {
    const { client, host } = await connected();
    const open = await client.open(SESSION);
    const seen: string[] = [];
    const loop = (async () => {
      for await (const state of open) seen.push(`${state.session.title}/${state.chat.draft?.text}`);
    })();
    await settle();
    host.act(SESSION, titled('A'));
    await settle();
    host.act(ONE, drafted('B'));
    await settle();
    open.close();
    open.close();
    await loop;
    await settle();
    expect(seen).toEqual(['Untitled/Untitled', 'A/Untitled', 'A/B']);
    expect(host.params('unsubscribe')).toEqual([{ channel: SESSION }, { channel: ONE }]);
  });
});

describe('[CLI-030] what belongs to a session', () => {
  it('is gone with it', async () => {
    const { client, host } = await connected();
    host.states.set(`${SESSION}/annotations`, { annotations: [] });
    const open = await client.open(SESSION);
    const annotations = await client.subscribe(`${SESSION}/annotations`);
    const other = await client.subscribe(TWO);
    host.connection.transport.onMessage(() => {});
    const waiting = open.dispatch(queued('q'));
    const loop = (async () => {
      for await (const _ of open);
    })();
    host.notify('root/sessionRemoved', { channel: ROOT, session: SESSION });
    await settle();
    await loop;
    expect([open.session.isGone, open.chat.isGone, open.isGone, annotations.isGone, other.isGone]).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    await expect(waiting).rejects.toBeInstanceOf(ChannelGoneError);
    await expect(open.dispatch(queued('late'))).rejects.toBeInstanceOf(ChannelGoneError);
  });

  it('as a chat that left it right behind a handshake is asked for, too', async () => {
    const { client, host, drop, clock } = await connected();
    const open = await client.open(SESSION);
    await drop();
    host.scripts.set('reconnect', (params, connection) => {
      const result = host.answer(connection, 'reconnect', params);
      host.states.delete(ONE);
      host.act(SESSION, { type: 'session/chatRemoved', chat: ONE });
      return result;
    });
    await clock.advance(2_000);
    expect([open.session.isGone, open.chat.isGone]).toEqual([false, true]);
  });

  it('as a chat that left it is asked for again: it is gone, or it moved', async () => {
    const { client, host } = await connected();
    const open = await client.open(SESSION);
    const gone = vi.fn();
    open.chat.onGone(gone);
    host.act(SESSION, { type: 'session/chatRemoved', chat: ONE });
    await settle();
    expect(gone).not.toHaveBeenCalled();
    host.scripts.set('subscribe', () => {
      throw new Refusal(-32008);
    });
    host.act(SESSION, { type: 'session/chatRemoved', chat: ONE });
    await settle();
    expect(gone).toHaveBeenCalledOnce();
    expect(open.isGone).toBe(true);
  });
});
