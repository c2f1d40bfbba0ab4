/** Tells the clients of a session what changed, and only that. Changes that come close together are told as one. */
import type { Customization } from '@atrium/protocol';
import type { Session } from '../../core/sessions/session.js';
import type { Clock } from '../../core/util/clock.js';
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
  /** How many look for what is there: what they find is told when the last of them is done. */
  #searches = 0;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  /** This entry may be other than before. */
  soon(id: string): void {
    this.#changed.add(id);
    if (this.#searches === 0) this.#disarm ??= this.#parts.clock.after(PUBLISH_MERGE_MS, () => this.now());
  }

  /** Tells everything that a search finds at once, when it is over. */
  async during(search: () => Promise<void>): Promise<void> {
    this.#searches += 1;
    try {
      await search();
    } finally {
      this.#searches -= 1;
      if (this.#searches === 0) this.now();
    }
  }

  now(): void {
    this.stop();
    const changes = [...this.#changed].flatMap((id) => this.#changeOf(id) ?? []);
    this.#changed.clear();
    if (changes.some(({ isOfList }) => isOfList)) return this.#tellList(changes);
    for (const { customization } of changes) {
      if (customization) this.#parts.session.write({ type: 'session/customizationUpdated', customization });
    }
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

  #changeOf(id: string): Change | undefined {
    const { session, entryOf } = this.#parts;
    const known = entryIn(session, id);
    const customization = entryOf(id);
    if (customization ? isSame(customization, known) : known?.type !== 'directory') return undefined;
    return { id, customization, isOfList: !known || known.type === 'directory' };
  }

  /** All entries, with what changed in its place and what is new behind them. */
  #tellList(changes: readonly Change[]): void {
    const { session } = this.#parts;
    const fresh = new Map(changes.map(({ id, customization }) => [id, customization]));
    const known = (session.state.customizations ?? []).flatMap((entry) => {
      const shown = fresh.has(entry.id) ? fresh.get(entry.id) : entry;
      fresh.delete(entry.id);
      return shown ?? [];
    });
    const added = [...fresh.values()].flatMap((entry) => entry ?? []);
    session.write({ type: 'session/customizationsChanged', customizations: [...known, ...added] });
  }
}

interface Change {
  readonly id: string;
  /** Undefined when it is gone. */
  readonly customization: Customization | undefined;
  /**
   * New entries come with the whole list, and so does everything about directories: published clients (ahpx 0.2.24 to
   * 0.2.26) fail on a directory in `session/customizationUpdated`.
   */
  readonly isOfList: boolean;
}

export function entryIn({ state }: Session, id: string): Customization | undefined {
  return state.customizations?.find((entry) => entry.id === id);
}

/** Both are made of JSON, and their members come in the same order. */
function isSame(one: Customization, other: Customization | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
