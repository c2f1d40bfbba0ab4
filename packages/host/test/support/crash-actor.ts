/** A client that works with a host that is killed again and again. */
import type { Dispatched } from './fuzz-client.js';
import type { Intent, Seen } from './fuzz-speech.js';
import type { AnyEnvelope } from './fuzz-wire.js';

export interface Actor {
  readonly clientId: string;
  /** The version of the protocol that it speaks. */
  readonly version: string;
  readonly received: readonly AnyEnvelope[];
  readonly dispatched: readonly Dispatched[];
  readonly violations: readonly string[];
  /** Comparisons of a mirror with a fresh snapshot so far. */
  readonly probes: number;
  readonly isOpen: boolean;
  /** Actions that the host has not decided yet, as far as is known. */
  readonly undecided: number;
  /** What it sees of the sessions that it watches, as the host has confirmed it. */
  readonly sessions: readonly [uri: string, seen: Seen][];
  /** A host listens on this port now. */
  enter(port: number): void;
  /** Asks for something, in the words of its version. */
  ask(uri: string, intent: Intent): void;
  /** Creates a session, if it is not there yet, and watches it. */
  watch(uri: string): void;
  leave(uri: string): void;
  /** Compares all mirrors with fresh snapshots. */
  probe(): Promise<void>;
  close(): void;
}
