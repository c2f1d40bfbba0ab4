/**
 * Messages of providers that become turns. People come first; each provider has at most one message under way; and a
 * provider that only ever answers itself is paused.
 */

import type { SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { ActionMap, ChatState, Message } from '@atrium/protocol/ahp-1';
import { HELD_INJECTS_MAX, INJECT_CYCLES_MAX } from '@atrium/protocol/provider';
import { type GatewaySession, isIdle } from '../gateway-session.js';

export interface Inject {
  readonly provider: string;
  readonly stream: string;
  /** As the model reads it. */
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

/** `pausing`: the provider is paused from now on, and people have not been told yet. */
export type InjectAnswer = 'taken' | 'held' | 'pausing' | 'paused' | 'full';

/** The messages of one provider name in one session. */
interface InjectQueue {
  readonly held: Inject[];
  /** The id of the last message that it queued, or of the turn that this message became. */
  last: string | undefined;
  /** How many turns it started since the last turn of a person. */
  cycles: number;
  isPauseAnnounced: boolean;
}

export class Injects {
  readonly #sessions = new WeakMap<GatewaySession, Map<string, InjectQueue>>();
  #count = 0;

  /** `afterCommit` calls back when everything written so far is stored. */
  constructor(
    private readonly clock: Clock,
    private readonly afterCommit: (then: () => void) => void,
  ) {}

  offer(session: GatewaySession, inject: Inject): InjectAnswer {
    const queue = this.#queue(session, inject.provider);
    if (queue.cycles >= INJECT_CYCLES_MAX) return pauseOf(queue);
    if (!isPending(queue, session.chat.state) && queue.held.length === 0 && canStartTurn(session)) {
      this.#deliver(session, queue, inject);
      return 'taken';
    }
    if (queue.held.length >= HELD_INJECTS_MAX) return 'full';
    queue.held.push(inject);
    return 'held';
  }

  /**
   * Whether a provider's message began this turn. The gateway remembers what it wrote, because a message's own metadata
   * proves nothing.
   */
  hasStarted(session: GatewaySession, turnId: string): boolean {
    return [...(this.#sessions.get(session)?.values() ?? [])].some(({ last }) => last === turnId);
  }

  /** Follows the queue and the turns, to know which provider began this turn and whether the session is idle again. */
  observe(session: GatewaySession, { action, origin, chat }: SessionStep): void {
    const queues = this.#sessions.get(session);
    if (!queues || (chat && chat.uri !== session.chat.uri)) return;
    if (origin && action.type === 'chat/pendingMessageSet' && action.kind === 'queued') {
      rewritten(queues, action.id);
      putPeopleFirst(session, messagesOf(queues));
    }
    if (action.type === 'chat/turnStarted') started(queues, action, origin !== undefined);
    if (isFree(session)) this.#releaseSoon(session, queues);
  }

  /** A provider was switched on again, so its held messages may go on. */
  resume(session: GatewaySession): void {
    const queues = this.#sessions.get(session);
    if (queues) this.#releaseSoon(session, queues);
  }

  /** A provider is gone; drops its held messages. */
  forget(session: GatewaySession, provider: string): void {
    this.#sessions.get(session)?.get(provider)?.held.splice(0);
  }

  /**
   * Does not release in the tick that ends a turn: its agent stops first, and clients see the end before the next turn.
   */
  #releaseSoon(session: GatewaySession, queues: ReadonlyMap<string, InjectQueue>): void {
    if (![...queues.values()].some(({ held }) => held.length > 0)) return;
    this.afterCommit(() => this.#release(session, queues));
  }

  #release(session: GatewaySession, queues: ReadonlyMap<string, InjectQueue>): void {
    if (!isFree(session)) return;
    for (const [name, queue] of queues) {
      if (queue.cycles >= INJECT_CYCLES_MAX || !session.isEnabled(name)) continue;
      const next = queue.held.shift();
      if (next) return this.#deliver(session, queue, next);
    }
  }

  #deliver(session: GatewaySession, queue: InjectQueue, inject: Inject): void {
    const { chat } = session;
    const message = messageOf(inject);
    this.#count += 1;
    const id = `gw-${this.#count}-${crypto.randomUUID()}`;
    queue.last = id;
    if (chat.state.activeTurn) chat.write({ type: 'chat/pendingMessageSet', kind: 'queued', id, message });
    else chat.write({ type: 'chat/turnStarted', turnId: id, startedAt: this.#now(), message });
  }

  #now(): string {
    return new Date(this.clock.now()).toISOString();
  }

  #queue(session: GatewaySession, provider: string): InjectQueue {
    const queues = this.#sessions.get(session) ?? new Map<string, InjectQueue>();
    this.#sessions.set(session, queues);
    const queue = queues.get(provider) ?? { held: [], last: undefined, cycles: 0, isPauseAnnounced: false };
    queues.set(provider, queue);
    return queue;
  }
}

/** Whether the state still has its last message waiting or running; an undone or deleted message counts as neither. */
function isPending({ last }: InjectQueue, { activeTurn, queuedMessages = [] }: ChatState): boolean {
  return last !== undefined && (activeTurn?.id === last || queuedMessages.some(({ id }) => id === last));
}

/** A message may queue behind a turn, or start one. It does not restart a queue that stopped with a stopped turn. */
function canStartTurn(session: GatewaySession): boolean {
  return isFree(session) || session.chat.state.activeTurn !== undefined;
}

function pauseOf(queue: InjectQueue): InjectAnswer {
  const answer = queue.isPauseAnnounced ? 'paused' : 'pausing';
  queue.isPauseAnnounced = true;
  return answer;
}

function messageOf({ provider, stream, text, metadata }: Inject): Message {
  const origin = { kind: 'systemNotification' as const };
  return { text, origin, _meta: { gateway: { provider, stream, ...(metadata && { metadata }) } } };
}

function messagesOf(queues: ReadonlyMap<string, InjectQueue>): ReadonlySet<string> {
  return new Set([...queues.values()].flatMap(({ last }) => last ?? []));
}

function started(
  queues: ReadonlyMap<string, InjectQueue>,
  { turnId, queuedMessageId }: ActionMap['chat/turnStarted'],
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
  // A person wrote, so all providers may start turns again.
  for (const queue of queues.values()) {
    queue.cycles = 0;
    queue.isPauseAnnounced = false;
  }
}

/** A message that a person rewrote belongs to the person. */
function rewritten(queues: ReadonlyMap<string, InjectQueue>, messageId: string): void {
  for (const queue of queues.values()) if (queue.last === messageId) queue.last = undefined;
}

/** Whether a message would start a turn at once. */
function isFree({ state, chat }: GatewaySession): boolean {
  return state.lifecycle === 'ready' && isIdle(chat.state);
}

/** Moves messages of people ahead of those of providers, whenever they came. */
function putPeopleFirst({ chat }: GatewaySession, ofProviders: ReadonlySet<string>): void {
  const queued = chat.state.queuedMessages ?? [];
  const people = queued.filter(({ id }) => !ofProviders.has(id));
  const providers = queued.filter(({ id }) => ofProviders.has(id));
  const order = [...people, ...providers].map(({ id }) => id);
  if (order.some((id, index) => queued[index]?.id !== id)) chat.write({ type: 'chat/queuedMessagesReordered', order });
}
