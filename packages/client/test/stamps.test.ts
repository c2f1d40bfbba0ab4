import { describe, expect, it } from 'vitest';
import { connected } from './support/connected.js';
import { message, ONE, SESSION, started } from './support/states.js';

describe('[CLI-031] who a message is from, if its sender leaves it out', () => {
  it('is filled in: clients send what the user says, and nothing else', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    await one.dispatch({ type: 'chat/draftChanged', draft: { text: 'Hi' } });
    await one.dispatch({ type: 'chat/draftChanged' });
    await one.dispatch({ type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message: { text: 'Hi' } });
    await one.dispatch({ type: 'chat/turnStarted', turnId: 't', message: { text: 'Hi' } });
    await client.createChat(SESSION, { chat: 'ahp-chat:/new', initialMessage: { text: 'Hi' } });
    expect(one.state).toMatchObject({
      queuedMessages: [{ message: message('Hi') }],
      activeTurn: { message: message('Hi') },
    });
    expect(host.params('dispatchAction').map(({ action }) => (action as { draft?: unknown }).draft)).toEqual([
      message('Hi'),
      undefined,
      undefined,
      undefined,
    ]);
    const first = { channel: SESSION, chat: 'ahp-chat:/new', initialMessage: message('Hi') };
    expect(host.params('createChat')).toEqual([first]);
  });
});

describe('[CLI-031] the times of an action that its sender leaves out', () => {
  it('are filled in, so that every reducer gets the same', async () => {
    const { client, clock, host } = await connected();
    const one = await client.subscribe(ONE);
    await one.dispatch({ type: 'chat/turnStarted', turnId: 't', message: message('Hi') });
    expect(one.state.activeTurn?.startedAt).toBe(new Date(clock.now()).toISOString());
    await clock.advance(250);
    await one.dispatch({ type: 'chat/turnCancelled', turnId: 't' });
    expect(one.state.turns[0]).toMatchObject({ id: 't', state: 'cancelled', duration: 250 });
    expect(one.state).toEqual(host.chatOf(ONE));
  });

  it('stay as they are when the sender knows better', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    await one.dispatch(started('t'));
    await one.dispatch({ type: 'chat/turnCancelled', turnId: 't', duration: 7 });
    expect(host.params('dispatchAction').map(({ action }) => action)).toEqual([
      started('t'),
      { type: 'chat/turnCancelled', turnId: 't', duration: 7 },
    ]);
  });

  it('are never negative, whatever the clock of another machine says', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    host.act(ONE, started('t'));
    await client.request('ping', {});
    await one.dispatch({ type: 'chat/turnCancelled', turnId: 't' });
    expect(one.state.turns[0]?.duration).toBe(0);
  });

  it('are left to the host in a chat that is not watched', async () => {
    const { client, host } = await connected({ requestTimeoutMs: 100 });
    client.dispatch(ONE, { type: 'chat/turnCancelled', turnId: 't' }).catch(() => {});
    await client.request('ping', {});
    expect(host.params('dispatchAction')[0]?.action).toEqual({ type: 'chat/turnCancelled', turnId: 't' });
  });
});
