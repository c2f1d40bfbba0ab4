/** Which sessions there are, and which of them to bind to. */
import type { ProviderSessionEntry } from '@atrium/protocol/provider';
import type { SessionChoice } from './options.js';

/** The name of all sessions at once. */
export const ALL_SESSIONS = 'all';

export class SessionChooser {
  readonly #choice: SessionChoice | undefined;
  /** Sessions that did not want us, or have ended. */
  readonly #excluded = new Set<string>();
  #active: readonly ProviderSessionEntry[] = [];
  #last: string | undefined;

  constructor(choice: SessionChoice | undefined) {
    this.#choice = choice;
  }

  get isEverywhere(): boolean {
    return this.#choice === ALL_SESSIONS;
  }

  get active(): readonly ProviderSessionEntry[] {
    return this.#active;
  }

  /** The whole new list. */
  update(active: readonly ProviderSessionEntry[]): void {
    this.#active = active;
    for (const id of this.#excluded) if (!this.has(id)) this.#excluded.delete(id);
  }

  has(sessionId: string): boolean {
    return this.#active.some(({ id }) => id === sessionId);
  }

  /** A new connection begins with a clean slate: another token may open other doors. */
  reset(): void {
    this.#excluded.clear();
  }

  exclude(sessionId: string): void {
    this.#excluded.add(sessionId);
  }

  bound(sessionId: string | undefined): void {
    this.#last = sessionId;
  }

  /** The session to bind to now; undefined when there is none yet. Where it was before comes first. */
  choose(): string | undefined {
    if (this.isEverywhere) return ALL_SESSIONS;
    const open = this.#active.filter(({ id }) => !this.#excluded.has(id));
    if (typeof this.#choice === 'function') return this.#choice(open);
    if (this.#choice !== undefined) return open.find(({ id }) => id === this.#choice)?.id;
    return (open.find(({ id }) => id === this.#last) ?? open[0])?.id;
  }
}
