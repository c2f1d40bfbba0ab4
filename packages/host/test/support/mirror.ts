/**
 * What a client makes of its frames: snapshots, and actions reduced on top of them. It is as strict as a client may
 * be: an action that was in the snapshot already, or that comes twice, is an error, but for the answer to a resend.
 */
import { ROOT_CHANNEL, type RootState, rootReducer, type SessionState, sessionReducer } from '@atrium/protocol';
import type { Message } from './test-host.js';

interface Envelope {
  readonly channel: string;
  readonly action: { readonly type: string };
  readonly serverSeq: number;
  readonly origin?: object;
  readonly rejectionReason?: string;
}

interface Shown {
  readonly resource: string;
  readonly state: unknown;
  readonly fromSeq: number;
}

interface Answer {
  readonly snapshot?: Shown;
  readonly snapshots?: readonly Shown[];
  readonly actions?: readonly Envelope[];
  readonly serverSeq?: number;
}

interface Held {
  readonly state: unknown;
  readonly seq: number;
}

export class Mirror {
  readonly #channels = new Map<string, Held>();
  /** Numbers of actions that clients asked for: the answer to a resend has the same. */
  readonly #asked = new Set<number>();
  /** The highest number in any envelope, snapshot or handshake: what a client says when it comes back. */
  lastSeen = 0;

  /** Takes frames in the order they came. */
  takeAll(messages: Iterable<Message>): this {
    for (const message of messages) this.take(message);
    return this;
  }

  take({ method, params, result }: Message): void {
    if (method === 'action') this.#apply(params as unknown as Envelope);
    if (typeof result !== 'object' || result === null) return;
    const { snapshot, snapshots = [], actions = [], serverSeq = 0 } = result as Answer;
    for (const shown of snapshot ? [snapshot] : snapshots) this.#show(shown);
    for (const envelope of actions) this.#apply(envelope);
    this.#see(serverSeq);
  }

  #see(seq: number): void {
    this.lastSeen = Math.max(this.lastSeen, seq);
  }

  #show({ resource, state, fromSeq }: Shown): void {
    this.#channels.set(resource, { state, seq: fromSeq });
    this.#see(fromSeq);
  }

  #apply({ channel, action, serverSeq, origin, rejectionReason }: Envelope): void {
    if (this.#asked.has(serverSeq)) return;
    if (origin) this.#asked.add(serverSeq);
    if (serverSeq <= this.lastSeen) throw new Error(`${action.type} ${serverSeq} came behind ${this.lastSeen}`);
    this.#see(serverSeq);
    const held = this.#channels.get(channel);
    if (!held || rejectionReason !== undefined) return;
    this.#channels.set(channel, { state: reduced(channel, held.state, action), seq: serverSeq });
  }

  forget(channel: string): void {
    this.#channels.delete(channel);
  }

  has(channel: string): boolean {
    return this.#channels.has(channel);
  }

  /** The state of a channel, as it would be sent; times of a client's own clock are left out. */
  state(channel: string): unknown {
    return comparable(this.#channels.get(channel)?.state);
  }
}

function reduced(channel: string, state: unknown, action: { type: string }): unknown {
  if (channel === ROOT_CHANNEL) return rootReducer(state as RootState, action, { now: 0 });
  return sessionReducer(state as SessionState, action, { now: 0 });
}

/** A state without what differs between clocks. */
export function comparable(state: unknown): unknown {
  const plain = JSON.parse(JSON.stringify(state ?? null));
  if (plain?.summary) delete plain.summary.modifiedAt;
  return plain;
}
