/**
 * Limits what one WebSocket peer sends beside proper messages: control frames, fragments, and bytes before it has shown
 * its token. Such a peer costs memory and time, and the outbox, which limits answers to messages, never sees it.
 */

/** Control frames (ping, pong) that a peer may send between two heartbeats. The outbox holds as many messages. */
export const CONTROL_FRAMES_MAX = 1_024;
/** Pieces of one message. Every piece costs memory, however short it is. */
export const FRAGMENTS_MAX = 1_024;
/** Reads of the operating system that one unfinished frame may take; 8 MiB in small network packets need 16,000. */
export const UNFINISHED_READS_MAX = 32 * 2 ** 10;
/** Bytes that a peer may send before it is accepted: five messages of the greatest length, and some more. */
export const STRANGER_MAX_BYTES = 512 * 2 ** 10;
/** Bytes of all connected peers that have not been accepted, together. */
export const STRANGERS_MAX_BYTES = 4 * 2 ** 20;
/** A control frame counts as this many bytes: it is short, but its answer costs as much as that of a message. */
export const CONTROL_FRAME_BYTES = 2 * 2 ** 10;

/** One budget for all peers of a port that have not been accepted. */
export class StrangerBudget {
  readonly #used = new Map<PeerBudget, number>();
  #total = 0;

  /** Counts the bytes of a peer. When all peers together exceed the limit, closes the one that sent most. */
  spend(peer: PeerBudget, bytes: number): void {
    const used = (this.#used.get(peer) ?? 0) + bytes;
    this.#used.set(peer, used);
    this.#total += bytes;
    if (used > STRANGER_MAX_BYTES) peer.exceeded('sent too much before it was accepted');
    else if (this.#total > STRANGERS_MAX_BYTES) this.#greediest().exceeded('peers that are not accepted sent too much');
  }

  /** The peer was accepted, was refused, or left. */
  release(peer: PeerBudget): void {
    this.#total -= this.#used.get(peer) ?? 0;
    this.#used.delete(peer);
  }

  #greediest(): PeerBudget {
    return [...this.#used].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  }
}

export class PeerBudget {
  readonly #onExceeded: (reason: string) => void;
  #strangers: StrangerBudget | undefined;
  #controlFrames = 0;
  #isOver = false;

  /** Without `strangers`, the peer was accepted before the WebSocket upgrade. */
  constructor(onExceeded: (reason: string) => void, strangers?: StrangerBudget) {
    this.#onExceeded = onExceeded;
    this.#strangers = strangers;
  }

  /** The peer's further input must be ignored. */
  get isOver(): boolean {
    return this.#isOver;
  }

  received(bytes: number): void {
    this.#strangers?.spend(this, bytes);
  }

  /** Whether there is room for one more ping or pong. */
  takeControlFrame(): boolean {
    this.received(CONTROL_FRAME_BYTES);
    this.#controlFrames += 1;
    if (this.#controlFrames > CONTROL_FRAMES_MAX) this.exceeded('sent too many pings and pongs');
    return !this.#isOver;
  }

  /** A heartbeat has passed. */
  renew(): void {
    this.#controlFrames = 0;
  }

  /** The peer was accepted. */
  admit(): void {
    this.#strangers?.release(this);
    this.#strangers = undefined;
  }

  exceeded(reason: string): void {
    if (this.#isOver) return;
    this.end();
    this.#onExceeded(reason);
  }

  /** Stops counting. */
  end(): void {
    this.#isOver = true;
    this.admit();
  }
}
