/** Tells the clients of a session what changed, and only that. Changes that come close together are told as one. */
import type { Customization } from '@atrium/protocol';
import type { Clock } from '../clock.js';
import type { Session } from '../sessions/session.js';
import { PUBLISH_MERGE_MS } from './limits.js';

export interface PublisherParts {
  readonly session: Session;
  readonly clock: Clock;
  /** The entry as it should be now; undefined when there is none (any more). */
  entryOf(id: string): Customization | undefined;
}

export class Publisher {
  readonly #parts: PublisherParts;
  readonly #changed = new Set<string>();
  #disarm: (() => void) | undefined;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  /** This entry may be other than before. */
  soon(id: string): void {
    this.#changed.add(id);
    this.#disarm ??= this.#parts.clock.after(PUBLISH_MERGE_MS, () => this.now());
  }

  now(): void {
    this.stop();
    const ids = [...this.#changed];
    this.#changed.clear();
    for (const id of ids) this.#publish(id);
  }

  /** New entries, all at once, behind those that are there. One that is there already is replaced in its place. */
  add(entries: readonly Customization[]): void {
    if (entries.length === 0) return;
    const { session } = this.#parts;
    const fresh = new Map(entries.map((entry) => [entry.id, entry]));
    const known = (session.state.customizations ?? []).map((entry) => {
      const replacement = fresh.get(entry.id) ?? entry;
      fresh.delete(entry.id);
      return replacement;
    });
    session.write({ type: 'session/customizationsChanged', customizations: [...known, ...fresh.values()] });
  }

  remove(id: string): void {
    this.#changed.delete(id);
    const { session } = this.#parts;
    if (entryIn(session, id)) session.write({ type: 'session/customizationRemoved', id });
  }

  stop(): void {
    this.#disarm?.();
    this.#disarm = undefined;
  }

  #publish(id: string): void {
    const { session, entryOf } = this.#parts;
    const customization = entryOf(id);
    if (!customization || isSame(customization, entryIn(session, id))) return;
    session.write({ type: 'session/customizationUpdated', customization });
  }
}

export function entryIn({ state }: Session, id: string): Customization | undefined {
  return state.customizations?.find((entry) => entry.id === id);
}

/** Both are made of JSON, and their members come in the same order. */
function isSame(one: Customization, other: Customization | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
