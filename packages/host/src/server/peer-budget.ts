/**
 * Limits what one WebSocket peer sends besides proper messages: control frames, fragments, and bytes before it has
 * shown its token. These cost memory and time but produce no answer for the outbox to limit.
 */

/**
 * Control frames (ping, pong) that a peer may send between two heartbeats; the outbox has the same limit for messages.
 */
export const CONTROL_FRAMES_MAX = 1_024;
/** Fragments of one message. Each costs memory, however short it is. */
export const FRAGMENTS_MAX = 1_024;
/** Socket reads that one unfinished frame may take; 8 MiB in small network packets need 16,000. */
export const UNFINISHED_READS_MAX = 32 * 2 ** 10;
/** Bytes that a peer may send before it is accepted: enough for five messages of the greatest length. */
export const UNADMITTED_PEER_MAX_BYTES = 512 * 2 ** 10;
/** Bytes that all peers not yet accepted may send, together. */
export const UNADMITTED_PEERS_MAX_BYTES = 4 * 2 ** 20;
/** How many bytes a control frame counts for: it is short, but answering it costs as much as answering a message. */
export const CONTROL_FRAME_BYTES = 2 * 2 ** 10;

/** One budget for all peers of a port that are not accepted yet. */
export class UnadmittedBudget {
  readonly #used = new Map<PeerBudget, number>();
  #total = 0;

  /** Counts the bytes of a peer. When all peers together exceed the limit, closes the peer that sent most. */
  spend(peer: PeerBudget, bytes: number): void {
    const used = (this.#used.get(peer) ?? 0) + bytes;
    this.#used.set(peer, used);
    this.#total += bytes;
    if (used > UNADMITTED_PEER_MAX_BYTES) peer.exceeded('sent too much before it was accepted');
    else if (this.#total > UNADMITTED_PEERS_MAX_BYTES)
      this.#greediest().exceeded('peers that are not accepted sent too much');
  }

  /** Call it when the peer was accepted, was refused, or left. */
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
  #unadmitted: UnadmittedBudget | undefined;
  #controlFrames = 0;
  #isOver = false;

  /** Pass no `unadmitted` if the peer was accepted before the WebSocket upgrade. */
  constructor(onExceeded: (reason: string) => void, unadmitted?: UnadmittedBudget) {
    this.#onExceeded = onExceeded;
    this.#unadmitted = unadmitted;
  }

  /** True once the peer's further input must be ignored. */
  get isOver(): boolean {
    return this.#isOver;
  }

  received(bytes: number): void {
    this.#unadmitted?.spend(this, bytes);
  }

  /** Counts a ping or pong; false when the peer has sent too many. */
  takeControlFrame(): boolean {
    this.received(CONTROL_FRAME_BYTES);
    this.#controlFrames += 1;
    if (this.#controlFrames > CONTROL_FRAMES_MAX) this.exceeded('sent too many pings and pongs');
    return !this.#isOver;
  }

  /** Call it after each heartbeat. */
  renew(): void {
    this.#controlFrames = 0;
  }

  /** The peer was accepted. */
  admit(): void {
    this.#unadmitted?.release(this);
    this.#unadmitted = undefined;
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
