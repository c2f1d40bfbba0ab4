/**
 * The providers of a project that are on their way into its session. A turn waits for them, but not for long: what they
 * guard is guarded from its first call on, and what they lend is there when the agent looks.
 */
import type { Clock } from '../../core/util/clock.js';

/** From the start of its process until a provider is bound. Most need a fraction of it; some never bind. */
export const ARRIVAL_MAX_MS = 3_000;

interface Arrival {
  readonly isOver: Promise<void>;
  end(): void;
}

export class Arrivals {
  readonly #clock: Clock;
  readonly #expected = new Map<string, Arrival>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  expect(id: string): void {
    const cancelTimer = this.#clock.after(ARRIVAL_MAX_MS, () => this.over(id));
    let end = () => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#expected.set(id, { isOver: isOver.finally(cancelTimer), end });
  }

  /** It is there, or does not come any more. Nobody minds when it was not expected. */
  over(id: string): void {
    this.#expected.get(id)?.end();
    this.#expected.delete(id);
  }

  /** Resolves when everybody who is on the way now has come, or will not. Who sets out later is not waited for. */
  async all(): Promise<void> {
    await Promise.all([...this.#expected.values()].map(({ isOver }) => isOver));
  }
}
