/** The live list of sessions that users hold. */

import type { Log } from '@atrium/link';
import { Emitter } from '@atrium/link';
import type { SessionSummary } from '@atrium/protocol';
import { type Catalogue, type CatalogueEvent, catalogueOf, withEvent } from './catalogue.js';
import { latest } from './streams.js';

export class SessionList implements AsyncIterable<readonly SessionSummary[]> {
  #catalogue: Catalogue = new Map();
  #items: readonly SessionSummary[] = [];
  /** What is told while the list is being read; the list may be older than it. */
  #held: CatalogueEvent[] | undefined;
  #closed = false;
  readonly #changed: Emitter<readonly SessionSummary[]>;
  readonly #onClose: () => void;

  /** Lists are made by `client.sessions`. */
  constructor(log: Log, onClose: () => void) {
    this.#changed = new Emitter(log);
    this.#onClose = onClose;
  }

  get items(): readonly SessionSummary[] {
    return this.#items;
  }

  get(uri: string): SessionSummary | undefined {
    return this.#catalogue.get(uri);
  }

  onChange(listener: (items: readonly SessionSummary[]) => void): () => void {
    return this.#changed.on(listener);
  }

  /** The list now, then whenever it has changed; a slow loop gets the latest and skips those in between. */
  [Symbol.asyncIterator](): AsyncGenerator<readonly SessionSummary[], void, undefined> {
    return latest({
      current: () => this.#items,
      ended: () => this.#closed,
      onChange: (listener) => this.#changed.on(listener),
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#changed.emit(this.#items);
    this.#onClose();
  }

  /** The list is being read. For the client only. */
  expect(): void {
    this.#held = [];
  }

  /** The list was read. For the client only. */
  replace(items: readonly SessionSummary[]): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#set(held.reduce(withEvent, catalogueOf(items)));
  }

  /** Something was told about a session. For the client only. */
  apply(event: CatalogueEvent): void {
    this.#held?.push(event);
    const next = withEvent(this.#catalogue, event);
    if (next !== this.#catalogue) this.#set(next);
  }

  #set(catalogue: Catalogue): void {
    this.#catalogue = catalogue;
    this.#items = [...catalogue.values()];
    this.#changed.emit(this.#items);
  }
}
