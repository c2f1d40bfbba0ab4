/**
 * Messages of providers that become turns. People come first; of one provider only one message is under way at a time;
 * and a provider that only ever answers itself is paused.
 */
import type { PendingMessage, SessionState, UserMessage } from '@atrium/protocol';
import { HELD_INJECTS_MAX, INJECT_CYCLES_MAX } from '@atrium/protocol/provider';
import type { Step } from '../../channels/channel.js';
import type { Room } from '../room.js';

export interface Inject {
  readonly provider: string;
  readonly stream: string;
  /** As the model is to read it. */
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

export type InjectAnswer = 'taken' | 'held' | 'paused' | 'full';

/** One provider name in one session. */
interface Line {
  readonly held: Inject[];
  /** The message that waits in the queue, or the turn that runs because of it. */
  underWay: { readonly messageId?: string; readonly turnId?: string } | undefined;
  /** Turns that it started, with no human one in between. */
  cycles: number;
}

export class Injects {
  readonly #rooms = new WeakMap<Room, Map<string, Line>>();
  #count = 0;

  offer(room: Room, inject: Inject): InjectAnswer {
    const line = this.#line(room, inject.provider);
    if (line.cycles >= INJECT_CYCLES_MAX) return 'paused';
    if (!line.underWay && line.held.length === 0) {
      this.#deliver(room, line, inject);
      return 'taken';
    }
    if (line.held.length >= HELD_INJECTS_MAX) return 'full';
    line.held.push(inject);
    return 'held';
  }

  /** Follows the queue and the turns: who began this one, and is the session idle again? */
  observe(room: Room, { envelope, before, after }: Step<SessionState>): void {
    const { action, origin } = envelope;
    const lines = this.#rooms.get(room);
    if (!lines) return;
    if (action.type === 'session/pendingMessageSet' && origin) putPeopleFirst(room, lines);
    if (action.type === 'session/pendingMessageRemoved' && origin) deleted(lines, action.id);
    if (action.type === 'session/turnStarted') this.#started(lines, action.turnId, action.queuedMessageId);
    if (before.activeTurn && !after.activeTurn) ended(lines, before.activeTurn.id);
    if (isIdle(after)) this.#release(room, lines);
  }

  /** The provider is gone: what it had not delivered yet goes with it. */
  forget(room: Room, provider: string): void {
    this.#rooms.get(room)?.get(provider)?.held.splice(0);
  }

  #started(lines: Map<string, Line>, turnId: string, messageId: string | undefined): void {
    const own = [...lines.values()].find(
      ({ underWay }) => underWay?.turnId === turnId || (messageId !== undefined && underWay?.messageId === messageId),
    );
    if (!own) {
      // A person spoke: everybody may speak again.
      for (const line of lines.values()) line.cycles = 0;
      return;
    }
    own.cycles += 1;
    own.underWay = { turnId };
  }

  #release(room: Room, lines: Map<string, Line>): void {
    for (const line of lines.values()) {
      if (line.underWay || line.cycles >= INJECT_CYCLES_MAX) continue;
      const next = line.held.shift();
      if (next) return this.#deliver(room, line, next);
    }
  }

  #deliver(room: Room, line: Line, inject: Inject): void {
    const { session } = room;
    const userMessage = messageOf(inject);
    this.#count += 1;
    if (isIdle(session.state)) {
      const turnId = `gw-turn-${room.id}-${this.#count}-${crypto.randomUUID()}`;
      line.underWay = { turnId };
      session.write({ type: 'session/turnStarted', turnId, userMessage });
      return;
    }
    const id = `gw-${this.#count}-${crypto.randomUUID()}`;
    line.underWay = { messageId: id };
    session.write({ type: 'session/pendingMessageSet', kind: 'queued', id, userMessage });
  }

  #line(room: Room, provider: string): Line {
    const lines = this.#rooms.get(room) ?? new Map<string, Line>();
    this.#rooms.set(room, lines);
    const line = lines.get(provider) ?? { held: [], underWay: undefined, cycles: 0 };
    lines.set(provider, line);
    return line;
  }
}

/** No turn, and nobody's message waits for one. */
export function isIdle(state: SessionState): boolean {
  return !state.activeTurn && state.lifecycle === 'ready' && (state.queuedMessages ?? []).length === 0;
}

function messageOf({ provider, stream, text, metadata }: Inject): UserMessage {
  return { text, _meta: { gateway: { provider, stream, ...(metadata && { metadata }) } } };
}

function ended(lines: ReadonlyMap<string, Line>, turnId: string): void {
  for (const line of lines.values()) if (line.underWay?.turnId === turnId) line.underWay = undefined;
}

/** A person deleted it. For the line that is as good as delivered; it started no turn. */
function deleted(lines: ReadonlyMap<string, Line>, messageId: string): void {
  for (const line of lines.values()) if (line.underWay?.messageId === messageId) line.underWay = undefined;
}

/** Messages of people stand before those of providers, whenever they came. */
function putPeopleFirst({ session }: Room, lines: ReadonlyMap<string, Line>): void {
  const queued: readonly PendingMessage[] = session.state.queuedMessages ?? [];
  const ours = new Set([...lines.values()].map(({ underWay }) => underWay?.messageId));
  const people = queued.filter(({ id }) => !ours.has(id));
  const providers = queued.filter(({ id }) => ours.has(id));
  const order = [...people, ...providers].map(({ id }) => id);
  if (order.some((id, index) => queued[index]?.id !== id))
    session.write({ type: 'session/queuedMessagesReordered', order });
}
