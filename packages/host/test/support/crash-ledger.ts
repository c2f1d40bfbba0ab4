/**
 * Keeps its own copy of everything that a host has stored, and holds the host to it: numbers without gap or double,
 * states that follow from the entries, turns that a crash cut off, and what clients were shown.
 */

import type { LogEntry } from '@atrium/core/log/log.js';
import {
  type ChatState,
  channelKind,
  chatReducer,
  type SessionState,
  type Snapshot,
  type StateAction,
  sessionOfDefaultChat,
  sessionReducer,
} from '@atrium/protocol/ahp-1';
import type { ReferTo } from '@atrium/protocol/dialects';
import { checkHistory } from './crash-history.js';
import { isFurtherChat } from './fuzz-chats.js';
import { difference } from './fuzz-difference.js';
import { type AnyAction, type AnyEnvelope, shownTo1, toldOf, withMembersOf } from './fuzz-wire.js';

/** A client, and the version that it speaks. */
interface Listener {
  readonly clientId: string;
  readonly version: string;
}

interface Dispatcher extends Listener {
  readonly dispatched: readonly { readonly channel: string; readonly action: AnyAction }[];
}

type Queue = ChatState['queuedMessages'];

export class Ledger {
  /** What is wrong with the host. */
  readonly violations: string[] = [];
  /** Sessions and chats as their entries make them. */
  readonly sessions = new Map<string, SessionState>();
  readonly chats = new Map<string, ChatState>();
  /** Turns that a crash cut off. */
  interrupted = 0;
  /** Those of them that ran in chats beside the default ones, and stand there. */
  get interruptedInChats(): number {
    const further = [...this.chats].filter(([uri]) => sessionOfDefaultChat(uri) === undefined);
    const cut = further.flatMap(([, { turns }]) => turns.filter(isCutTurn));
    // Forks have copies.
    return new Set(cut.map(({ id }) => id)).size;
  }
  readonly #entries: LogEntry[] = [];
  readonly #byOrigin = new Map<string, LogEntry[]>();

  readonly #referTo: ReferTo | undefined;

  /** `referTo` is how the host refers to long tool input; without it, input is text. */
  constructor(referTo?: ReferTo) {
    this.#referTo = referTo;
  }

  get head(): number {
    return this.#entries.length;
  }

  /**
   * Takes over what was stored since the last time. The host has just started, and no client has connected yet; or it is at work
   * (`isAtWork`), and what runs or waits is left alone.
   */
  take(entries: readonly LogEntry[], { isAtWork = false } = {}): void {
    const queues = new Map<string, Queue>();
    for (const entry of entries) {
      this.#add(entry);
      if (entry.action === '') continue;
      const action = JSON.parse(entry.action) as StateAction;
      // What was stored of a chat goes with it.
      if (action.type === 'session/chatRemoved') this.chats.delete(action.chat);
      const chat = this.chats.get(entry.channel);
      if (chat) this.#takeOfChat(entry.channel, chat, action, queues);
      const session = this.sessions.get(entry.channel);
      if (session) this.sessions.set(entry.channel, sessionReducer(session, action));
    }
    if (isAtWork) return;
    for (const [uri, state] of this.chats) this.#checkAtRest(uri, state, queues);
    for (const [uri, { inputNeeded }] of this.sessions) {
      if (inputNeeded) this.#wrong(`${uri}: something waits for an answer after a restart`);
    }
  }

  #takeOfChat(uri: string, state: ChatState, action: StateAction, queues: Map<string, Queue>): void {
    if (isCutOff(action)) {
      this.interrupted += 1;
      queues.set(uri, state.queuedMessages);
      if (!state.activeTurn) this.#wrong(`${uri}: turn ${action.turnId} was cut off, but did not run`);
    }
    this.chats.set(uri, chatReducer(state, action));
  }

  #add(entry: LogEntry): void {
    if (entry.seq !== this.head + 1) this.#wrong(`number ${entry.seq} follows on ${this.head}`);
    this.#entries.push(entry);
    if (!entry.origin) return;
    const { clientId, epoch, clientSeq } = entry.origin;
    const key = `${clientId} ${clientSeq}`;
    const known = this.#byOrigin.get(key) ?? [];
    if (known.some(({ origin }) => origin?.epoch === epoch)) this.#wrong(`${key} of epoch ${epoch} is stored twice`);
    this.#byOrigin.set(key, [...known, entry]);
  }

  /** After a crash nothing runs, nothing waits for an answer, and what was queued is still queued. */
  #checkAtRest(uri: string, state: ChatState, queues: ReadonlyMap<string, Queue>): void {
    if (state.activeTurn) this.#wrong(`${uri}: turn ${state.activeTurn.id} runs after a restart`);
    if (state.turns.some(hasOpenCall)) this.#wrong(`${uri}: a tool call is left running`);
    if (!queues.has(uri)) return;
    const found = difference(state.queuedMessages, queues.get(uri));
    if (found) this.#wrong(`${uri}: the queue did not survive: ${found}`);
  }

  /**
   * Compares a snapshot of the host with what its entries come to, times included. The first one is the beginning; one that
   * is newer than the copy is left.
   */
  compare({ resource, state, fromSeq }: Snapshot): void {
    if (fromSeq > this.head) return;
    const own = this.sessions.get(resource) ?? this.chats.get(resource);
    if (!own) this.#adopt(resource, state);
    const found = own && difference(state, shownTo1(resource, own, this.#referTo));
    if (found) this.#wrong(`the state of ${resource} does not follow from its entries: ${found}`);
  }

  #adopt(uri: string, state: unknown): void {
    if (channelKind(uri) !== 'chat') return void this.sessions.set(uri, state as SessionState);
    this.chats.set(uri, state as ChatState);
    this.#checkAtRest(uri, state as ChatState, new Map());
  }

  /** What a client was shown must be stored: it is what the client's version says of the entry. */
  confirm({ clientId, version }: Listener, shown: AnyEnvelope): void {
    const { serverSeq, action, rejectionReason } = shown;
    const entry = this.#entries[serverSeq - 1];
    const what = `${clientId} was shown ${serverSeq} (${action.type})`;
    if (!entry) return this.#wrong(`${what}, but it is not stored`);
    if (!entry.channel && isFurtherChat(shown.channel)) return;
    // Of pieces that were told as one, some may be forgotten already.
    if (this.#isGone(shown.channel) && (entry.action === '' || STREAMED.has(action.type))) return;
    // A resend that is rejected again uses up a number of its own.
    if (rejectionReason !== undefined && !entry.channel && !entry.origin) return;
    const told = entry.channel ? toldOf(version, entry, this.#referTo) : { origin: originOf(entry) };
    const found = difference(told, rejectionReason === undefined ? shown : { origin: shown.origin });
    if (found && !this.#isMerged(version, shown)) this.#wrong(`${what}, but stored is something else: ${found}`);
  }

  /** Whether a channel is a chat that was disposed of: what was stored of it is forgotten. */
  #isGone(channel: string): boolean {
    const isFurther = channelKind(channel) === 'chat' && sessionOfDefaultChat(channel) === undefined;
    return isFurther && !this.chats.has(channel);
  }

  /** A client that reads slowly gets deltas that wait as one, under the number of the last. */
  #isMerged(version: string, { serverSeq, action: shown }: AnyEnvelope): boolean {
    if (!STREAMED.has(shown.type)) return false;
    const channel = this.#entries[serverSeq - 1]?.channel;
    const whole = String(shown.content);
    let text = '';
    for (let index = serverSeq - 1; index >= 0 && text.length < whole.length; index--) {
      const entry = this.#entries[index];
      if (!entry || entry.channel !== channel) continue;
      const told = toldOf(version, entry, this.#referTo);
      // What a wire does not tell, such as the draft of a message, does not part the pieces around it.
      if (!told) continue;
      const { action } = told;
      if (action?.type !== shown.type || action.turnId !== shown.turnId || action.partId !== shown.partId) return false;
      text = action.content + text;
    }
    return text === whole;
  }

  /** Every action that a client ever asked for has been decided, once; except those that the host did not have to decide. */
  settle(
    { clientId, version, dispatched }: Dispatcher,
    mayBeMissing: (clientSeq: number) => boolean = () => false,
  ): { accepted: number; rejected: number } {
    let accepted = 0;
    for (const [index, asked] of dispatched.entries()) {
      const entries = this.#byOrigin.get(`${clientId} ${index + 1}`) ?? [];
      const what = `action ${index + 1} of ${clientId} (${asked.action.type})`;
      const isMissed = entries.length === 0 && !mayBeMissing(index + 1);
      // A role ends with its connection, so that a claim which is sent again on another is made anew.
      const isDoubled = entries.length > 1 && !isClaim(asked.action);
      if (isDoubled || isMissed) this.#wrong(`${what} is stored ${entries.length} times`);
      const [entry] = entries;
      if (!entry?.channel) continue;
      accepted += 1;
      if (entry.action === '' && this.#isGone(entry.channel)) continue;
      const { channel, action } = toldOf(version, entry, this.#referTo) ?? {};
      const found = difference({ channel, action: withMembersOf(action, asked.action) }, asked);
      if (found) this.#wrong(`${what} was stored as something else: ${found}`);
    }
    return { accepted, rejected: dispatched.length - accepted };
  }

  /** For a client that uses its numbers again: nothing that it asked for is stored more often than it asked for it. */
  settleActions({ clientId, version, dispatched }: Dispatcher): void {
    const asked = countOf(dispatched.map((request) => keyOfAction(request.channel, request.action)));
    const own = this.#entries.filter(({ channel, origin }) => channel && origin?.clientId === clientId);
    const told = own.flatMap((entry) => toldOf(version, entry, this.#referTo) ?? []);
    const stored = countOf(told.map(({ channel, action }) => keyOfAction(channel, action)));
    for (const [key, times] of stored) {
      const wanted = asked.get(key) ?? 0;
      if (times > wanted) this.#wrong(`${clientId} asked ${wanted} times for what is stored ${times} times: ${key}`);
    }
  }

  /** Numbers that a client was told are accepted are stored, once, with what was accepted. */
  settleNumbers(clientId: string, accepted: Iterable<number>): void {
    for (const clientSeq of accepted) {
      const entries = this.#byOrigin.get(`${clientId} ${clientSeq}`) ?? [];
      const stored = entries.filter(({ channel }) => channel !== '').length;
      if (stored !== 1) this.#wrong(`action ${clientSeq} of ${clientId} was accepted and is stored ${stored} times`);
    }
  }

  /** Every turn and every queued message that was accepted is in its session's history once. Nothing may be running. */
  checkHistory(): { turns: number; queued: number } {
    const { turns, queued, problems } = checkHistory(this.#entries, this.chats);
    this.violations.push(...problems);
    return { turns, queued };
  }

  #wrong(what: string): void {
    this.violations.push(what);
  }
}

/** Without what the host stamps where a client leaves it out: times, and the model that a message is sent with. */
function keyOfAction(channel: string, { type, startedAt, duration, message, ...members }: AnyAction): string {
  const { model: _chosen, ...rest } = (message ?? {}) as { model?: unknown };
  const asked = Object.entries({ ...members, ...rest });
  return JSON.stringify([channel, type, asked.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function countOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function originOf({ origin }: LogEntry) {
  return origin && { clientId: origin.clientId, clientSeq: origin.clientSeq };
}

/** Text as it streams, by its names in all versions. */
export const STREAMED: ReadonlySet<string> = new Set([
  'session/delta',
  'session/reasoning',
  'chat/delta',
  'chat/reasoning',
]);

/** Of a role that ends with the connection. */
export function isClaim({ type }: AnyAction): boolean {
  return type.startsWith('session/activeClient');
}

function isCutOff(action: StateAction): action is Extract<StateAction, { type: 'chat/error' }> {
  return action.type === 'chat/error' && action.part.error.errorType === 'host-restarted';
}

function isCutTurn({ responseParts }: ChatState['turns'][number]): boolean {
  const last = responseParts.at(-1);
  return last?.kind === 'error' && last.error.errorType === 'host-restarted';
}

function hasOpenCall({ responseParts }: ChatState['turns'][number]): boolean {
  return responseParts.some(
    (part) => part.kind === 'toolCall' && part.toolCall.status !== 'completed' && part.toolCall.status !== 'cancelled',
  );
}
