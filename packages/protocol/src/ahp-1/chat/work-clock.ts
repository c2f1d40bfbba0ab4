/** How long an agent has worked on a turn, without the time in which it waited for a person. */

import { SessionStatus } from '../../session/status.js';
import type { ChatState } from './state.js';

export class WorkClock {
  #turnId: string | undefined;
  /** When the turn was first seen, if its start is unknown. */
  #seenAt = 0;
  #waitedMs = 0;
  #waitsSince: number | undefined;

  /** Call it with every change of the chat, and the time of any clock. */
  see({ activeTurn, status }: Pick<ChatState, 'activeTurn' | 'status'>, now: number): void {
    if (this.#turnId !== activeTurn?.id) {
      this.#turnId = activeTurn?.id;
      this.#seenAt = now;
      this.#waitedMs = 0;
      this.#waitsSince = undefined;
    }
    const isWaiting = activeTurn !== undefined && (status & SessionStatus.InputNeeded) === SessionStatus.InputNeeded;
    if (isWaiting) this.#waitsSince ??= now;
    else if (this.#waitsSince !== undefined) {
      this.#waitedMs += now - this.#waitsSince;
      this.#waitsSince = undefined;
    }
  }

  /** Undefined while no turn runs. */
  workedMs(now: number, startedAt = this.#seenAt): number | undefined {
    if (this.#turnId === undefined) return undefined;
    const waits = this.#waitsSince === undefined ? 0 : now - this.#waitsSince;
    return Math.max(0, now - startedAt - this.#waitedMs - waits);
  }
}
