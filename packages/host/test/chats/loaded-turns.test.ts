/** Clients that have loaded the newest turns of a chat only, and what names older ones. */
import { FETCH_TURNS_MAX } from '@atrium/core/sessions/limits.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { chatReducer } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { openChats } from '../support/chat-fixture.js';
import { nativeClient, nativeTurn, userMessage } from '../support/native-client.js';
import { type RawClient, settle } from '../support/test-host.js';

async function withTurns(count: number) {
  const fixture = await openChats();
  for (let turn = 1; turn <= count; turn++) await nativeTurn(fixture.client, fixture.chat, `m${turn}`, `t${turn}`);
  const phone = await nativeClient(fixture.host, 'phone', { initialSubscriptions: [] });
  const { snapshot } = await phone.request<{ snapshot: { state: ChatState } }>('subscribe', {
    channel: fixture.chat,
    view: { turns: 2 },
  });
  return { ...fixture, phone, loaded: snapshot.state };
}

/** What the client makes of what it was told. */
function mirrored(client: RawClient, chat: string, first: ChatState): ChatState {
  return client.envelopes(chat).reduce((state, { action }) => chatReducer(state, action as never), first);
}

const ids = ({ turns }: ChatState) => turns.map(({ id }) => id);

describe('a client that has loaded the newest turns', () => {
  it('[UP-034] is given those that a cut names, before the cut', async () => {
    const { client, chat, phone, loaded } = await withTurns(8);
    expect(ids(loaded)).toEqual(['t7', 't8']);
    client.dispatch(chat, { type: 'chat/truncated', turnId: 't4' } as never);
    await phone.action(chat, 'chat/truncated');
    expect(phone.types(chat)).toEqual(['chat/turnsLoaded', 'chat/truncated']);
    const numbers = phone.envelopes(chat).map(({ serverSeq }) => serverSeq);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    const state = mirrored(phone, chat, loaded);
    expect([ids(state), state.turnsNextCursor]).toEqual([['t4'], '3']);
    // The rest can still be fetched.
    await phone.request('fetchTurns', { channel: chat, cursor: '3' });
    await settle();
    expect(ids(mirrored(phone, chat, loaded))).toEqual(['t1', 't2', 't3', 't4']);
  });

  it('[UP-034] is given nothing twice, and one that has everything gets nothing', async () => {
    const { client, chat, phone, loaded } = await withTurns(8);
    await phone.request('fetchTurns', { channel: chat, cursor: String(loaded.turnsNextCursor) });
    client.dispatch(chat, { type: 'chat/truncated', turnId: 't4' } as never);
    await phone.action(chat, 'chat/truncated');
    expect(phone.types(chat)).toEqual(['chat/turnsLoaded', 'chat/truncated']);
    expect(client.types(chat)).not.toContain('chat/turnsLoaded');
    expect(ids(mirrored(phone, chat, loaded))).toEqual(['t1', 't2', 't3', 't4']);
  });

  it('[UP-034] is given the turn that a fork, a side chat or an attachment names', async () => {
    const { client, chat, phone, loaded, open, uri } = await withTurns(8);
    await open('fork', { source: { kind: 'fork', chat, turnId: 't5' } });
    expect(ids(mirrored(phone, chat, loaded))[0]).toBe('t5');
    await open('side', { source: { kind: 'sideChat', chat, turnId: 't3' } });
    expect(ids(mirrored(phone, chat, loaded))[0]).toBe('t3');
    const attachments = [{ type: 'chat', label: 'x', resource: chat, endTurn: 't2' }];
    const initialMessage = { ...userMessage('look'), attachments };
    await client.request('createChat', { channel: uri, chat: 'ahp-chat:/more', initialMessage });
    expect(ids(mirrored(phone, chat, loaded))).toEqual(['t2', 't3', 't4', 't5', 't6', 't7', 't8']);
  });

  it('[UP-034] takes a snapshot when the cut is far behind', async () => {
    const { client, chat, phone } = await withTurns(FETCH_TURNS_MAX + 4);
    client.dispatch(chat, { type: 'chat/truncated', turnId: 't1' } as never);
    await client.action(chat, 'chat/truncated');
    await settle();
    expect(phone.closed?.code).toBe(4004);
  });
});
