/** The queue of a session, as far as providers have to mind it. */

import type { ActionMap, SessionState, UserMessage } from '@atrium/protocol';
import { HELD_INJECTS_MAX, INJECT_CYCLES_MAX } from '@atrium/protocol/provider';
import type { Step } from '../../core/channels/channel.js';
import type { GatewaySession } from '../gateway-session.js';

/** No turn, and nobody's message waits for one. Calls run in turns only. */
export function isIdle(state: SessionState): boolean {
  return !state.activeTurn && state.lifecycle === 'ready' && (state.queuedMessages ?? []).length === 0;
}

/** Messages of people stand before those of providers, whenever they came. */
export function putPeopleFirst(session: GatewaySession, ofProviders: ReadonlySet<string>): void {
  const queued = session.state.queuedMessages ?? [];
  const people = queued.filter(({ id }) => !ofProviders.has(id));
  const providers = queued.filter(({ id }) => ofProviders.has(id));
  const order = [...people, ...providers].map(({ id }) => id);
  if (order.some((id, index) => queued[index]?.id !== id))
    session.write({ type: 'session/queuedMessagesReordered', order });
}

/**
 * Messages of providers that become turns. People come first; of one provider only one message is under way at a time;
 * and a provider that only ever answers itself is paused.
 */

export interface Inject {
  readonly provider: string;
  readonly stream: string;
  /** As the model is to read it. */
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

/** `pausing`: it is paused, and nobody has been told yet. */
export type InjectAnswer = 'taken' | 'held' | 'pausing' | 'paused' | 'full';

/** One provider name in one session. */
interface Line {
  readonly held: Inject[];
  /** The id of the last message that it put into the queue, or of the turn that this became. */
  last: string | undefined;
  /** Turns that it started, with no human one in between. */
  cycles: number;
  isPauseTold: boolean;
}

export class Injects {
  readonly #sessions = new WeakMap<GatewaySession, Map<string, Line>>();
  #count = 0;

  /** `afterCommit` calls back when everything written so far is stored. */
  constructor(private readonly afterCommit: (then: () => void) => void) {}

  offer(session: GatewaySession, inject: Inject): InjectAnswer {
    const line = this.#line(session, inject.provider);
    if (line.cycles >= INJECT_CYCLES_MAX) return pauseOf(line);
    const { state } = session;
    if (!isUnderWay(line, state) && line.held.length === 0 && mayEnter(state)) {
      this.#deliver(session, line, inject);
      return 'taken';
    }
    if (line.held.length >= HELD_INJECTS_MAX) return 'full';
    line.held.push(inject);
    return 'held';
  }

  /** Whether a provider's message began this turn. Known from who wrote it, not from what it says about itself. */
  hasStarted(session: GatewaySession, turnId: string): boolean {
    return [...(this.#sessions.get(session)?.values() ?? [])].some(({ last }) => last === turnId);
  }

  /** Follows the queue and the turns: who began this one, and is the session idle again? */
  observe(session: GatewaySession, { envelope, after }: Step<SessionState>): void {
    const lines = this.#sessions.get(session);
    if (!lines) return;
    const { action, origin } = envelope;
    if (origin && action.type === 'session/pendingMessageSet' && action.kind === 'queued') {
      rewritten(lines, action.id);
      putPeopleFirst(session, messagesOf(lines));
    }
    if (action.type === 'session/turnStarted') started(lines, action, origin !== undefined);
    if (isIdle(after)) this.#releaseSoon(session, lines);
  }

  /** The provider was switched on again: what it was holding may go on. */
  resume(session: GatewaySession): void {
    const lines = this.#sessions.get(session);
    if (lines) this.#releaseSoon(session, lines);
  }

  /** The provider is gone: what it had not delivered yet goes with it. */
  forget(session: GatewaySession, provider: string): void {
    this.#sessions.get(session)?.get(provider)?.held.splice(0);
  }

  /** Not in the middle of what ends a turn: its agent stops first, and everybody hears of the end before the next. */
  #releaseSoon(session: GatewaySession, lines: ReadonlyMap<string, Line>): void {
    if (![...lines.values()].some(({ held }) => held.length > 0)) return;
    this.afterCommit(() => this.#release(session, lines));
  }

  #release(session: GatewaySession, lines: ReadonlyMap<string, Line>): void {
    if (!isIdle(session.state)) return;
    for (const [name, line] of lines) {
      if (line.cycles >= INJECT_CYCLES_MAX || !session.isEnabled(name)) continue;
      const next = line.held.shift();
      if (next) return this.#deliver(session, line, next);
    }
  }

  #deliver(session: GatewaySession, line: Line, inject: Inject): void {
    const userMessage = messageOf(inject);
    this.#count += 1;
    const id = `gw-${this.#count}-${crypto.randomUUID()}`;
    line.last = id;
    if (session.state.activeTurn) session.write({ type: 'session/pendingMessageSet', kind: 'queued', id, userMessage });
    else session.write({ type: 'session/turnStarted', turnId: id, userMessage });
  }

  #line(session: GatewaySession, provider: string): Line {
    const lines = this.#sessions.get(session) ?? new Map<string, Line>();
    this.#sessions.set(session, lines);
    const line = lines.get(provider) ?? { held: [], last: undefined, cycles: 0, isPauseTold: false };
    lines.set(provider, line);
    return line;
  }
}

/** Whether its last message still waits or works. The state says so: whatever was undone or deleted does not. */
function isUnderWay({ last }: Line, { activeTurn, queuedMessages = [] }: SessionState): boolean {
  return last !== undefined && (activeTurn?.id === last || queuedMessages.some(({ id }) => id === last));
}

/** Behind a turn, or as one. A queue that stands still after a turn was stopped is not set going by a provider. */
function mayEnter(state: SessionState): boolean {
  return isIdle(state) || state.activeTurn !== undefined;
}

function pauseOf(line: Line): InjectAnswer {
  const answer = line.isPauseTold ? 'paused' : 'pausing';
  line.isPauseTold = true;
  return answer;
}

function messageOf({ provider, stream, text, metadata }: Inject): UserMessage {
  return { text, _meta: { gateway: { provider, stream, ...(metadata && { metadata }) } } };
}

function messagesOf(lines: ReadonlyMap<string, Line>): ReadonlySet<string> {
  return new Set([...lines.values()].flatMap(({ last }) => last ?? []));
}

function started(
  lines: ReadonlyMap<string, Line>,
  { turnId, queuedMessageId }: ActionMap['session/turnStarted'],
  isByPerson: boolean,
): void {
  const own = [...lines.values()].find(
    ({ last }) => last !== undefined && (last === turnId || last === queuedMessageId),
  );
  if (own && !isByPerson) {
    own.cycles += 1;
    own.last = turnId;
    return;
  }
  // A person spoke: everybody may speak again.
  for (const line of lines.values()) {
    line.cycles = 0;
    line.isPauseTold = false;
  }
}

/** What a person has rewritten is the person's. */
function rewritten(lines: ReadonlyMap<string, Line>, messageId: string): void {
  for (const line of lines.values()) if (line.last === messageId) line.last = undefined;
}
