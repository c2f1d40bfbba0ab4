/** Clients that have loaded the newest turns of a chat only, and what names older ones. */

import type { TurnRange } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import {
  CLIENT_GRACE_MS,
  FETCH_TURNS_DEFAULT,
  FETCH_TURNS_MAX,
  TURNS_IN_MEMORY,
} from '@atrium/core/sessions/limits.js';
import { WINDOW_STEPS_MAX, WINDOWED_CHATS_MAX } from '@atrium/core/wire/limits.js';
import { LoadedTurns } from '@atrium/core/wire/loaded-turns.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { chatReducer } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { openChats } from '../support/chat-fixture.js';
import { KeptLog } from '../support/logs.js';
import { nativeClient, nativeTurn, userMessage } from '../support/native-client.js';
import { startHost } from '../support/session-fixture.js';
import { type RawClient, settle, type TestHost } from '../support/test-host.js';

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

/** A client that goes away, and what it makes of what it is told when it comes back. */
class Returning {
  #client: RawClient;
  #state: ChatState;
  #seen: number;

  constructor(
    readonly chat: string,
    readonly clientId: string,
    given: { readonly client: RawClient; readonly state: ChatState; readonly fromSeq: number },
  ) {
    this.#client = given.client;
    this.#state = given.state;
    this.#seen = given.fromSeq;
  }

  get client(): RawClient {
    return this.#client;
  }

  /** What it has, after all that reached it. */
  get state(): ChatState {
    for (const { action, serverSeq } of this.#client.envelopes(this.chat)) {
      if (serverSeq <= this.#seen) continue;
      this.#state = chatReducer(this.#state, action as never);
      this.#seen = serverSeq;
    }
    return this.#state;
  }

  /** Breaks its connection; what is on the way to it then is lost. */
  leave(): void {
    void this.state;
    this.#client.disconnect();
  }

  async comeBackTo(host: TestHost): Promise<'replay' | 'snapshot'> {
    const client = host.connect();
    const answer = await client.request<Answer>('reconnect', {
      ...{ channel: 'ahp-root://', clientId: this.clientId },
      ...{ lastSeenServerSeq: this.#seen, subscriptions: [this.chat] },
    });
    for (const { action, serverSeq } of answer.actions ?? []) {
      this.#state = chatReducer(this.#state, action as never);
      this.#seen = serverSeq;
    }
    for (const { state, fromSeq } of answer.snapshots ?? []) {
      this.#state = state;
      this.#seen = fromSeq;
    }
    this.#client = client;
    return answer.type;
  }
}

interface Answer extends Record<string, unknown> {
  readonly type: 'replay' | 'snapshot';
  readonly actions?: readonly { readonly action: object; readonly serverSeq: number }[];
  readonly snapshots?: readonly { readonly state: ChatState; readonly fromSeq: number }[];
}

/** What a client has is the end of what there is, and it knows where the rest begins. */
async function expectTrue(phone: Returning, watcher: RawClient): Promise<void> {
  const whole = await watcher.state<ChatState>(phone.chat);
  const own = phone.state;
  expect(ids(own)).toEqual(ids(whole).slice(whole.turns.length - own.turns.length));
  expect(own.turnsNextCursor ?? '0').toBe(String(whole.turns.length - own.turns.length));
}

describe('a client that comes back with what it saw last', () => {
  async function away(loaded = 2) {
    const log = new KeptLog();
    const { host, client, chat, clock } = await openChats({ log });
    for (let turn = 1; turn <= 8; turn++) await nativeTurn(client, chat, `m${turn}`, `t${turn}`);
    const first = await nativeClient(host, 'phone', { initialSubscriptions: [] });
    const params = { channel: chat, view: { turns: loaded } };
    const { snapshot } = await first.request<{ snapshot: { state: ChatState; fromSeq: number } }>('subscribe', params);
    const phone = new Returning(chat, 'phone', { client: first, ...snapshot });
    const restart = async () => {
      await host.stop();
      const next = await startHost({ log, clock });
      return { host: next, client: await nativeClient(next, 'desk-2', { initialSubscriptions: [chat] }) };
    };
    return { log, host, client, chat, phone, clock, restart };
  }

  async function cut(client: RawClient, chat: string, turnId?: string): Promise<void> {
    client.dispatch(chat, { type: 'chat/truncated', ...(turnId !== undefined && { turnId }) } as never);
    await client.action(chat, 'chat/truncated');
    await settle();
  }

  it('[UP-034] is given the turns that a cut names, also after a restart of the host', async () => {
    const { chat, phone, restart } = await away();
    phone.leave();
    const { host, client } = await restart();
    expect(await phone.comeBackTo(host)).toBe('replay');
    await cut(client, chat, 't4');
    await phone.client.action(chat, 'chat/truncated');
    await expectTrue(phone, client);
    expect(phone.client.types(chat)).toEqual(['chat/turnsLoaded', 'chat/truncated']);
  });

  it('[UP-034] is told the truth about a cut that it missed, with and without a restart', async () => {
    const { chat, phone, host, client, restart } = await away();
    phone.leave();
    await cut(client, chat, 't4');
    await phone.comeBackTo(host);
    await expectTrue(phone, client);
    phone.leave();
    await cut(client, chat, 't2');
    const next = await restart();
    await phone.comeBackTo(next.host);
    await expectTrue(phone, next.client);
  });

  it('[UP-034] [UP-229] has only those older turns that reached it', async () => {
    const { chat, phone, host, client, restart } = await away();
    void phone.state;
    await phone.client.request('fetchTurns', { channel: chat });
    const lost = phone.client;
    expect(lost.types(chat)).toEqual(['chat/turnsLoaded']);
    lost.received.length = 0;
    phone.leave();
    expect(await phone.comeBackTo(host)).toBe('replay');
    await cut(client, chat, 't6');
    await phone.client.action(chat, 'chat/truncated');
    await expectTrue(phone, client);
    await phone.client.request('fetchTurns', { channel: chat });
    phone.client.received.length = 0;
    phone.leave();
    const next = await restart();
    expect(await phone.comeBackTo(next.host)).toBe('replay');
    await cut(next.client, chat, 't3');
    await phone.client.action(chat, 'chat/truncated');
    await expectTrue(phone, next.client);
  });

  it('[UP-034] has everything behind a cut that leaves nothing, whether it was there or not', async () => {
    const { chat, phone, host, client } = await away();
    await cut(client, chat);
    for (const id of ['n1', 'n2', 'n3']) await nativeTurn(client, chat, id, id);
    await cut(client, chat, 'n2');
    await expectTrue(phone, client);
    const other = await away();
    other.phone.leave();
    await cut(other.client, other.chat);
    for (const id of ['n1', 'n2', 'n3']) await nativeTurn(other.client, other.chat, id, id);
    expect(await other.phone.comeBackTo(other.host)).toBe('replay');
    await cut(other.client, other.chat, 'n2');
    await other.phone.client.action(other.chat, 'chat/truncated');
    await expectTrue(other.phone, other.client);
    expect(host).not.toBe(other.host);
  });

  it('[UP-034] is known long after it left', async () => {
    const { chat, phone, host, client, clock } = await away();
    phone.leave();
    await clock.advance(10 * CLIENT_GRACE_MS);
    expect(await phone.comeBackTo(host)).toBe('replay');
    await cut(client, chat, 't4');
    await phone.client.action(chat, 'chat/truncated');
    await expectTrue(phone, client);
  });

  it('[UP-034] is not taken for the one that it was when it begins anew', async () => {
    const { chat, phone, log, restart } = await away();
    phone.leave();
    // It is stored before the client knows of it.
    expect(await log.record('windows:phone')).toContain(chat);
    const { host } = await restart();
    const anew = await nativeClient(host, 'phone', { initialSubscriptions: [chat] });
    await cut(anew, chat, 't4');
    expect(anew.types(chat)).toEqual(['chat/truncated']);
  });

  it('[UP-034] takes a snapshot when it has loaded parts of more chats than are remembered', async () => {
    const windows = new LoadedTurns({ log: new KeptLog(), writer: { record: () => {} } });
    const phone = { clientId: 'phone', start: 1 };
    const name = (index: number) => `ahp-chat:/${index}`;
    for (let index = 0; index < WINDOWED_CHATS_MAX; index++) windows.note(phone, name(index), 5, 10);
    expect(await windows.returned(phone, 20, [name(0), 'ahp-chat:/other'])).toBe(true);
    for (let index = 0; index <= WINDOWED_CHATS_MAX; index++) windows.note(phone, name(index), 5, 30);
    expect(windows.of(phone, name(0))).toBe(0);
    expect(await windows.returned(phone, 40, [name(1)])).toBe(true);
    expect(await windows.returned(phone, 40, [name(0)])).toBe(false);
  });

  it('[UP-034] has no more than it has for certain, however often it loaded', async () => {
    const windows = new LoadedTurns({ log: new KeptLog(), writer: { record: () => {} } });
    const phone = { clientId: 'phone', start: 1 };
    const steps = WINDOW_STEPS_MAX + 5;
    for (let step = 0; step < steps; step++) windows.note(phone, 'ahp-chat:/a', 100 - step, 10 * step);
    expect(windows.of(phone, 'ahp-chat:/a')).toBe(100 - steps + 1);
    await windows.returned(phone, 10 * (steps - 2) + 1, ['ahp-chat:/a']);
    expect(windows.of(phone, 'ahp-chat:/a')).toBe(100 - steps + 2);
    for (let step = 0; step < steps; step++) windows.note(phone, 'ahp-chat:/b', 100 - step, 10 * step);
    await windows.returned(phone, 15, ['ahp-chat:/b']);
    expect(windows.of(phone, 'ahp-chat:/b')).toBe(100);
  });
});
