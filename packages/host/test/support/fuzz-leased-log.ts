/** A log in memory that outlives its hosts, and hosts that can die at it: what they do after that is never stored. */
import type { Log } from '@atrium/core/log/log.js';

export type Death = 'now' | 'before-commit' | 'after-commit';

/** One host's access to the log. */
export class LeasedLog {
  readonly log: Log;
  #death: Death | undefined;
  #isDead = false;

  constructor(kept: Log) {
    this.log = new Proxy(kept, {
      get: (target, key) => {
        if (key === 'close') return async () => {};
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return key === 'append' || key === 'beginClient'
          ? (...args: unknown[]) => this.#commit(() => member.apply(target, args))
          : this.#guarded(member.bind(target));
      },
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Whether its host is dead, or will be. */
  get isDoomed(): boolean {
    return this.#death !== undefined;
  }

  /** Its host dies at once, or with the next commit: before that is stored, or after it and before anyone hears of it. */
  die(death: Death): void {
    this.#death = death;
    if (death === 'now') this.#isDead = true;
  }

  async #commit<T>(commit: () => Promise<T>): Promise<T> {
    if (this.#death === 'before-commit') this.#isDead = true;
    if (this.#isDead) return never();
    const stored = await commit();
    if (this.#death === 'after-commit') this.#isDead = true;
    return this.#isDead ? never() : stored;
  }

  #guarded(member: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    return (...args) => (this.#isDead ? never() : member(...args));
  }
}

/** A dead process gets no answers. */
function never(): Promise<never> {
  return new Promise(() => {});
}
