/**
 * The providers of a project that are on their way into its session. A turn waits for them, but not for long: what they
 * guard is guarded from its first call on, and what they lend is there when the agent looks.
 */
import type { Clock } from '../../clock.js';

/** From the start of its process until a provider is bound. Most need a fraction of it; some never bind. */
export const ARRIVAL_MAX_MS = 3_000;

export class Arrivals {
  readonly #clock: Clock;
  readonly #expected = new Map<string, () => void>();
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  expect(id: string): void {
    this.#expected.set(
      id,
      this.#clock.after(ARRIVAL_MAX_MS, () => this.over(id)),
    );
  }

  /** It is there, or does not come any more. Nobody minds when it was not expected. */
  over(id: string): void {
    this.#expected.get(id)?.();
    this.#expected.delete(id);
    if (this.#expected.size > 0) return;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves when nobody is on the way. */
  async all(): Promise<void> {
    if (this.#expected.size > 0) await new Promise<void>((go) => this.#waiting.push(go));
  }
}
