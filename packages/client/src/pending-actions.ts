/** The dispatched actions of this client: each gets one number and waits here until the host decides. */

import { optional } from '@atrium/link';
import type { ActionEnvelope, StateAction } from '@atrium/protocol/ahp-1';
import { ActionOutcomeUnknownError, ActionRejectedError } from './errors.js';
import type { PendingAction } from './reconcile.js';

/** The host accepted an action and gave it this place in the one sequence. */
export interface Accepted {
  readonly serverSeq: number;
}

export interface UndecidedAction extends PendingAction {
  readonly channel: string;
  /** Whether a connection has carried it. Only then can the host know it. */
  sent: boolean;
}

interface Waiting {
  readonly entry: UndecidedAction;
  cancelLimit?: () => void;
  resolve(accepted: Accepted): void;
  reject(error: Error): void;
}

export class PendingActions {
  readonly #waiting = new Map<number, Waiting>();
  #nextSeq = 1;

  add(channel: string, action: StateAction): { entry: UndecidedAction; accepted: Promise<Accepted> } {
    const entry: UndecidedAction = { clientSeq: this.#nextSeq++, channel, action, sent: false };
    const accepted = new Promise<Accepted>((resolve, reject) => {
      this.#waiting.set(entry.clientSeq, { entry, resolve, reject });
    });
    return { entry, accepted: optional(accepted) };
  }

  /** In the order in which they were dispatched. */
  entries(): UndecidedAction[] {
    return [...this.#waiting.values()].map(({ entry }) => entry);
  }

  pendingOf(channel: string): UndecidedAction[] {
    return this.entries().filter((entry) => entry.channel === channel);
  }

  /** Our action came back, accepted or with the reason of its rejection. */
  echoed(clientSeq: number, { serverSeq, rejectionReason }: ActionEnvelope): void {
    const waiting = this.#take(clientSeq);
    if (rejectionReason === undefined) waiting?.resolve({ serverSeq });
    else waiting?.reject(new ActionRejectedError(waiting.entry.action, rejectionReason));
  }

  /** Limits the wait: `begin` starts the caller's clock and returns a function that stops it. */
  limit(clientSeq: number, begin: (late: (error: Error) => void) => () => void): void {
    const waiting = this.#waiting.get(clientSeq);
    if (waiting) waiting.cancelLimit = begin((error) => this.#take(clientSeq)?.reject(error));
  }

  /** The host decided while this client was away, and does not say how. */
  forget(clientSeqs: Iterable<number>): void {
    for (const clientSeq of clientSeqs) {
      const waiting = this.#take(clientSeq);
      waiting?.reject(new ActionOutcomeUnknownError(waiting.entry.action));
    }
  }

  /** No answer can come any more: for one channel, or for all. */
  abandon(error: Error, channel?: string): void {
    for (const { clientSeq, ...entry } of this.entries()) {
      if (channel === undefined || entry.channel === channel) this.#take(clientSeq)?.reject(error);
    }
  }

  #take(clientSeq: number): Waiting | undefined {
    const waiting = this.#waiting.get(clientSeq);
    this.#waiting.delete(clientSeq);
    waiting?.cancelLimit?.();
    return waiting;
  }
}
