/**
 * Messages of providers that become turns. People come first; each provider has one message under way at a time; and a
 * provider that only ever answers itself is paused.
 */

import type { Step } from '@atrium/core/channels/channel.js';
import type { ActionMap, SessionState, UserMessage } from '@atrium/protocol';
import { HELD_INJECTS_MAX, INJECT_CYCLES_MAX } from '@atrium/protocol/provider';
import type { GatewaySession } from '../gateway-session.js';

export interface Inject {
  readonly provider: string;
  readonly stream: string;
  /** As the model reads it. */
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

/** `pausing`: it is paused from now on, and people do not know yet. */
export type InjectAnswer = 'taken' | 'held' | 'pausing' | 'paused' | 'full';

/** The messages of one provider name in one session. */
interface InjectQueue {
  readonly held: Inject[];
  /** The id of the last message that it put into the queue, or of the turn that this became. */
  last: string | undefined;
  /** Turns that it started without a turn of a person in between. */
  cycles: number;
  isPauseTold: boolean;
}

export class Injects {
  readonly #sessions = new WeakMap<GatewaySession, Map<string, InjectQueue>>();
  #count = 0;

  /** `afterCommit` calls back when everything written so far is stored. */
  constructor(private readonly afterCommit: (then: () => void) => void) {}

  offer(session: GatewaySession, inject: Inject): InjectAnswer {
    const queue = this.#queue(session, inject.provider);
    if (queue.cycles >= INJECT_CYCLES_MAX) return pauseOf(queue);
    const { state } = session;
    if (!isUnderWay(queue, state) && queue.held.length === 0 && mayEnter(state)) {
      this.#deliver(session, queue, inject);
      return 'taken';
    }
    if (queue.held.length >= HELD_INJECTS_MAX) return 'full';
    queue.held.push(inject);
    return 'held';
  }

  /** Whether a provider's message began this turn. The gateway knows what it wrote; a message's own metadata proves nothing. */
  hasStarted(session: GatewaySession, turnId: string): boolean {
    return [...(this.#sessions.get(session)?.values() ?? [])].some(({ last }) => last === turnId);
  }

  /** Follows the queue and the turns: which provider began this turn, and is the session idle again? */
  observe(session: GatewaySession, { action, origin, after }: Step<SessionState>): void {
    const queues = this.#sessions.get(session);
    if (!queues) return;
    if (origin && action.type === 'session/pendingMessageSet' && action.kind === 'queued') {
      rewritten(queues, action.id);
      putPeopleFirst(session, messagesOf(queues));
    }
    if (action.type === 'session/turnStarted') started(queues, action, origin !== undefined);
    if (isIdle(after)) this.#releaseSoon(session, queues);
  }

  /** A provider was switched on again: its held messages may continue. */
  resume(session: GatewaySession): void {
    const queues = this.#sessions.get(session);
    if (queues) this.#releaseSoon(session, queues);
  }

  /** A provider is gone, and its held messages with it. */
  forget(session: GatewaySession, provider: string): void {
    this.#sessions.get(session)?.get(provider)?.held.splice(0);
  }

  /** Not in the tick that ends a turn: its agent stops first, and clients hear of the end before the next turn. */
  #releaseSoon(session: GatewaySession, queues: ReadonlyMap<string, InjectQueue>): void {
    if (![...queues.values()].some(({ held }) => held.length > 0)) return;
    this.afterCommit(() => this.#release(session, queues));
  }

  #release(session: GatewaySession, queues: ReadonlyMap<string, InjectQueue>): void {
    if (!isIdle(session.state)) return;
    for (const [name, queue] of queues) {
      if (queue.cycles >= INJECT_CYCLES_MAX || !session.isEnabled(name)) continue;
      const next = queue.held.shift();
      if (next) return this.#deliver(session, queue, next);
    }
  }

  #deliver(session: GatewaySession, queue: InjectQueue, inject: Inject): void {
    const userMessage = messageOf(inject);
    this.#count += 1;
    const id = `gw-${this.#count}-${crypto.randomUUID()}`;
    queue.last = id;
    if (session.state.activeTurn) session.write({ type: 'session/pendingMessageSet', kind: 'queued', id, userMessage });
    else session.write({ type: 'session/turnStarted', turnId: id, userMessage });
  }

  #queue(session: GatewaySession, provider: string): InjectQueue {
    const queues = this.#sessions.get(session) ?? new Map<string, InjectQueue>();
    this.#sessions.set(session, queues);
    const queue = queues.get(provider) ?? { held: [], last: undefined, cycles: 0, isPauseTold: false };
    queues.set(provider, queue);
    return queue;
  }
}

/** Whether its last message still waits or runs, as the state says: one that was undone or deleted does not. */
function isUnderWay({ last }: InjectQueue, { activeTurn, queuedMessages = [] }: SessionState): boolean {
  return last !== undefined && (activeTurn?.id === last || queuedMessages.some(({ id }) => id === last));
}

/** A message may queue behind a turn, or start one. It does not start a queue that stands still after a stopped turn. */
function mayEnter(state: SessionState): boolean {
  return isIdle(state) || state.activeTurn !== undefined;
}

function pauseOf(queue: InjectQueue): InjectAnswer {
  const answer = queue.isPauseTold ? 'paused' : 'pausing';
  queue.isPauseTold = true;
  return answer;
}

function messageOf({ provider, stream, text, metadata }: Inject): UserMessage {
  return { text, _meta: { gateway: { provider, stream, ...(metadata && { metadata }) } } };
}

function messagesOf(queues: ReadonlyMap<string, InjectQueue>): ReadonlySet<string> {
  return new Set([...queues.values()].flatMap(({ last }) => last ?? []));
}

function started(
  queues: ReadonlyMap<string, InjectQueue>,
  { turnId, queuedMessageId }: ActionMap['session/turnStarted'],
  isByPerson: boolean,
): void {
  const own = [...queues.values()].find(
    ({ last }) => last !== undefined && (last === turnId || last === queuedMessageId),
  );
  if (own && !isByPerson) {
    own.cycles += 1;
    own.last = turnId;
    return;
  }
  // A person spoke: all providers may start turns again.
  for (const queue of queues.values()) {
    queue.cycles = 0;
    queue.isPauseTold = false;
  }
}

/** A message that a person has rewritten is the person's. */
function rewritten(queues: ReadonlyMap<string, InjectQueue>, messageId: string): void {
  for (const queue of queues.values()) if (queue.last === messageId) queue.last = undefined;
}

/** No turn runs, and no message waits for one. */
export function isIdle(state: SessionState): boolean {
  return !state.activeTurn && state.lifecycle === 'ready' && (state.queuedMessages ?? []).length === 0;
}

/** Puts messages of people before those of providers, whenever they came. */
function putPeopleFirst(session: GatewaySession, ofProviders: ReadonlySet<string>): void {
  const queued = session.state.queuedMessages ?? [];
  const people = queued.filter(({ id }) => !ofProviders.has(id));
  const providers = queued.filter(({ id }) => ofProviders.has(id));
  const order = [...people, ...providers].map(({ id }) => id);
  if (order.some((id, index) => queued[index]?.id !== id))
    session.write({ type: 'session/queuedMessagesReordered', order });
}
