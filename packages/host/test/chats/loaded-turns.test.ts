/** Clients that have loaded the newest turns of a chat only, and what names older ones. */

import type { TurnRange } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { FETCH_TURNS_DEFAULT, FETCH_TURNS_MAX, TURNS_IN_MEMORY } from '@atrium/core/sessions/limits.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { chatReducer } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { openChats } from '../support/chat-fixture.js';
import { nativeClient, nativeTurn, userMessage } from '../support/native-client.js';
import { type RawClient, settle } from '../support/test-host.js';

interface Given {
  readonly log?: MemoryLog;
  /** How many turns the phone has loaded. */
  readonly loaded?: number;
}

async function withTurns(count: number, { log, loaded = 2 }: Given = {}) {
  const fixture = await openChats(log && { log });
  for (let turn = 1; turn <= count; turn++) await nativeTurn(fixture.client, fixture.chat, `m${turn}`, `t${turn}`);
  const phone = await nativeClient(fixture.host, 'phone', { initialSubscriptions: [] });
  const { snapshot } = await phone.request<{ snapshot: { state: ChatState } }>('subscribe', {
    channel: fixture.chat,
    view: { turns: loaded },
  });
  return { ...fixture, phone, loaded: snapshot.state };
}

/** What the client makes of what it was told. */
function mirrored(client: RawClient, chat: string, first: ChatState): ChatState {
  return client.envelopes(chat).reduce((state, { action }) => chatReducer(state, action as never), first);
}

/** Reads the turns from one index on only when it is let. */
class HesitantLog extends MemoryLog {
  #start = -1;
  #let = () => {};
  #asked = () => {};
  #mayRead = Promise.resolve();

  /** Resolves when somebody asks for these turns; they wait until `go`. */
  hesitateAt(start: number): Promise<void> {
    this.#start = start;
    this.#mayRead = new Promise((resolve) => {
      this.#let = resolve;
    });
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  go(): void {
    this.#start = -1;
    this.#let();
  }

  override async archivedTurns(channel: string, range: TurnRange & { maxBytes?: number }) {
    const turns = await super.archivedTurns(channel, range);
    if (range.start !== this.#start) return turns;
    this.#asked();
    await this.#mayRead;
    return turns;
  }
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

/** Enough that the oldest are in the log only. */
const MANY = 2 * TURNS_IN_MEMORY + 10;
const LOADED = TURNS_IN_MEMORY;
/** Where the page begins that the phone asks for. */
const PAGE_START = MANY - LOADED - FETCH_TURNS_DEFAULT;

describe('a page of older turns', () => {
  it('[UP-033] is the next older one when no cursor is given, as long as there is one', async () => {
    const { chat, phone, loaded, client } = await withTurns(FETCH_TURNS_DEFAULT + 5);
    const told = () => phone.types(chat).length;
    expect(await phone.request('fetchTurns', { channel: chat })).toEqual({});
    expect(ids(mirrored(phone, chat, loaded))).toHaveLength(FETCH_TURNS_DEFAULT + 2);
    expect(await phone.request('fetchTurns', { channel: chat })).toEqual({});
    const all = Array.from({ length: FETCH_TURNS_DEFAULT + 5 }, (_, index) => `t${index + 1}`);
    const state = mirrored(phone, chat, loaded);
    expect([ids(state), state.turnsNextCursor, told()]).toEqual([all, undefined, 2]);
    expect(await phone.request('fetchTurns', { channel: chat })).toEqual({});
    expect(told()).toBe(2);
    const before = client.types(chat).length;
    expect(await client.request('fetchTurns', { channel: chat })).toEqual({});
    expect(client.types(chat)).toHaveLength(before);
  });

  it.each([
    ['in the middle of it', PAGE_START + 5],
    ['before it', PAGE_START - 5],
    ['behind it', MANY - 5],
    ['at the very beginning', undefined],
  ])('[UP-033] [UP-034] has no turn that is cut off while it is read: %s', async (_where, at) => {
    const log = new HesitantLog();
    const { client, chat, phone, loaded } = await withTurns(MANY, { log, loaded: LOADED });
    const isAsked = log.hesitateAt(PAGE_START);
    const answer = phone.request('fetchTurns', { channel: chat, cursor: String(loaded.turnsNextCursor) });
    await isAsked;
    client.dispatch(chat, { type: 'chat/truncated', ...(at !== undefined && { turnId: `t${at}` }) } as never);
    await phone.action(chat, 'chat/truncated');
    log.go();
    expect(await answer).toEqual({});
    await settle();
    const state = mirrored(phone, chat, loaded);
    const whole = Array.from({ length: at ?? 0 }, (_, index) => `t${index + 1}`);
    expect(ids(state)).toEqual(whole.slice(whole.length - state.turns.length));
    expect(state.turnsNextCursor ?? '0').toBe(String(whole.length - state.turns.length));
    for (let more = state.turnsNextCursor; more; more = mirrored(phone, chat, loaded).turnsNextCursor)
      await phone.request('fetchTurns', { channel: chat, cursor: more });
    expect(ids(mirrored(phone, chat, loaded))).toEqual(whole);
  });
});
