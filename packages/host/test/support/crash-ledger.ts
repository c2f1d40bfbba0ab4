/**
 * Keeps its own copy of everything that a host has stored, and holds the host to it: numbers without gap or double,
 * states that follow from the entries, turns that a crash cut off, and what clients were shown.
 */

import type { LogEntry } from '@atrium/core/log/log.js';
import {
  type ActionEnvelope,
  type SessionState,
  type Snapshot,
  type StateAction,
  sessionReducer,
} from '@atrium/protocol';
import { checkHistory } from './crash-history.js';
import { difference } from './fuzz-difference.js';

interface Dispatcher {
  readonly clientId: string;
  readonly dispatched: readonly { readonly channel: string; readonly action: StateAction }[];
}

export class Ledger {
  /** What is wrong with the host. */
  readonly violations: string[] = [];
  /** Sessions as their entries make them. */
  readonly sessions = new Map<string, SessionState>();
  /** Turns that a crash cut off. */
  interrupted = 0;
  readonly #entries: LogEntry[] = [];
  readonly #byOrigin = new Map<string, LogEntry[]>();

  get head(): number {
    return this.#entries.length;
  }

  /** Takes over what was stored since the last time. The host has just started, and nobody has talked to it yet. */
  take(entries: readonly LogEntry[]): void {
    const queues = new Map<string, SessionState['queuedMessages']>();
    for (const entry of entries) {
      this.#add(entry);
      const state = this.sessions.get(entry.channel);
      if (!state) continue;
      const action = JSON.parse(entry.action) as StateAction;
      if (isCutOff(action)) {
        this.interrupted += 1;
        queues.set(entry.channel, state.queuedMessages);
        if (!state.activeTurn) this.#wrong(`${entry.channel}: turn ${action.turnId} was cut off, but did not run`);
      }
      this.sessions.set(entry.channel, sessionReducer(state, action, { now: entry.time }));
    }
    for (const [uri, state] of this.sessions) this.#checkAtRest(uri, state, queues);
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
  #checkAtRest(uri: string, state: SessionState, queues: ReadonlyMap<string, SessionState['queuedMessages']>): void {
    if (state.activeTurn) this.#wrong(`${uri}: turn ${state.activeTurn.id} runs after a restart`);
    if (state.inputRequests) this.#wrong(`${uri}: a question is open after a restart`);
    if (state.turns.some(hasOpenCall)) this.#wrong(`${uri}: a tool call is left running`);
    if (!queues.has(uri)) return;
    const found = difference(state.queuedMessages, queues.get(uri));
    if (found) this.#wrong(`${uri}: the queue did not survive: ${found}`);
  }

  /** Compares a snapshot of the host with what its entries come to, times included. The first one is the beginning; one that is newer than the copy is left. */
  compare({ resource, state, fromSeq }: Snapshot): void {
    if (fromSeq > this.head) return;
    const own = this.sessions.get(resource);
    if (!own) this.#adopt(resource, state as SessionState);
    const found = own && difference(state, own);
    if (found) this.#wrong(`the state of ${resource} does not follow from its entries: ${found}`);
  }

  #adopt(uri: string, state: SessionState): void {
    this.sessions.set(uri, state);
    this.#checkAtRest(uri, state, new Map());
  }

  /** What a client was shown must be stored, just so. */
  confirm(clientId: string, { channel, action, serverSeq, origin, rejectionReason }: ActionEnvelope): void {
    const entry = this.#entries[serverSeq - 1];
    const what = `${clientId} was shown ${serverSeq} (${action.type})`;
    if (!entry) return this.#wrong(`${what}, but it is not stored`);
    // A resend that is rejected again uses up a number of its own.
    if (rejectionReason !== undefined && !entry.channel && !entry.origin) return;
    const stored = entry.channel
      ? { channel: entry.channel, action: JSON.parse(entry.action), origin: originOf(entry) }
      : { origin: originOf(entry) };
    const shown = rejectionReason === undefined ? { channel, action, origin } : { origin };
    const found = difference(stored, shown);
    if (found && !this.#isMerged(serverSeq, action)) this.#wrong(`${what}, but stored is something else: ${found}`);
  }

  /** A client that reads slowly gets deltas that wait as one, under the number of the last. */
  #isMerged(serverSeq: number, shown: StateAction): boolean {
    if (shown.type !== 'session/delta' && shown.type !== 'session/reasoning') return false;
    const channel = this.#entries[serverSeq - 1]?.channel;
    let text = '';
    for (let index = serverSeq - 1; index >= 0 && text.length < shown.content.length; index--) {
      const entry = this.#entries[index];
      if (!entry || entry.channel !== channel) continue;
      const action = JSON.parse(entry.action) as StateAction;
      if (action.type !== shown.type || action.turnId !== shown.turnId || action.partId !== shown.partId) return false;
      text = action.content + text;
    }
    return text === shown.content;
  }

  /** Every action that a client ever asked for has been decided, once; but for those that nobody had to decide. */
  settle(
    { clientId, dispatched }: Dispatcher,
    mayBeMissing: (clientSeq: number) => boolean = () => false,
  ): { accepted: number; rejected: number } {
    let accepted = 0;
    for (const [index, asked] of dispatched.entries()) {
      const entries = this.#byOrigin.get(`${clientId} ${index + 1}`) ?? [];
      const what = `action ${index + 1} of ${clientId} (${asked.action.type})`;
      const isMissed = entries.length === 0 && !mayBeMissing(index + 1);
      // A role ends with its connection, so that a claim which is sent again on another is made anew.
      const isDoubled = entries.length > 1 && asked.action.type !== 'session/activeClientChanged';
      if (isDoubled || isMissed) this.#wrong(`${what} is stored ${entries.length} times`);
      const [entry] = entries;
      if (!entry?.channel) continue;
      accepted += 1;
      const found = difference({ channel: entry.channel, action: JSON.parse(entry.action) }, asked);
      if (found) this.#wrong(`${what} was stored as something else: ${found}`);
    }
    return { accepted, rejected: dispatched.length - accepted };
  }

  /** For a client that uses its numbers again: nothing that it asked for is stored more often than it asked for it. */
  settleActions({ clientId, dispatched }: Dispatcher): void {
    const asked = countOf(dispatched.map((request) => keyOfAction(request.channel, request.action)));
    const own = this.#entries.filter(({ channel, origin }) => channel && origin?.clientId === clientId);
    const stored = countOf(own.map(({ channel, action }) => keyOfAction(channel, JSON.parse(action))));
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
    const { turns, queued, problems } = checkHistory(this.#entries, this.sessions);
    this.violations.push(...problems);
    return { turns, queued };
  }

  #wrong(what: string): void {
    this.violations.push(what);
  }
}

function keyOfAction(channel: string, { type, ...members }: StateAction): string {
  return JSON.stringify([channel, type, Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function countOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function originOf({ origin }: LogEntry) {
  return origin && { clientId: origin.clientId, clientSeq: origin.clientSeq };
}

function isCutOff(action: StateAction): action is Extract<StateAction, { type: 'session/error' }> {
  return action.type === 'session/error' && action.error.errorType === 'host-restarted';
}

function hasOpenCall({ responseParts }: SessionState['turns'][number]): boolean {
  return responseParts.some(
    (part) => part.kind === 'toolCall' && part.toolCall.status !== 'completed' && part.toolCall.status !== 'cancelled',
  );
}
