/**
 * Events that are not over: still to be reported, being reported, or to be withdrawn when their question is settled.
 * Each is a record that is stored together with the action that it is about, so a crash loses none and a restarted host
 * knows whom it has told.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import { jsonText, type Log } from '@atrium/core/log/log.js';
import type { FoundEvent } from './events.js';
import { EVENTS_MAX } from './limits.js';

const PREFIX = 'notify-event:';
/** How many ended events are remembered, so that they are not found again. */
const SEEN_MAX = 2 * EVENTS_MAX;

export interface OpenEvent extends FoundEvent {
  /**
   * `waiting`: not decided yet. `updated`: decided; receivers are being told or have been. `settled`: receivers are being
   * told that it is over.
   */
  readonly stage: 'waiting' | 'told' | 'settled';
  /** By receiver. `sending` is stored before the first attempt. */
  readonly receivers: Readonly<Record<string, 'sending' | 'sent'>>;
}

export class OpenEvents {
  readonly #all = new Map<string, OpenEvent>();
  /** Events that only connected clients hear of; they are not stored. */
  readonly #unstored = new Set<string>();
  readonly #seen = new Set<string>();

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  async load(): Promise<void> {
    for (const { value } of await this.log.records(PREFIX)) {
      const event = JSON.parse(value) as OpenEvent;
      this.#all.set(event.id, event);
      this.#seen.add(event.id);
    }
  }

  get isAny(): boolean {
    return this.#all.size > 0;
  }

  all(): readonly OpenEvent[] {
    return [...this.#all.values()];
  }

  get(id: string): OpenEvent | undefined {
    return this.#all.get(id);
  }

  /** Undefined when the event is known already, or too many are open. */
  add(found: FoundEvent, isStored: boolean): OpenEvent | undefined {
    if (this.#seen.has(found.id) || this.#all.size >= EVENTS_MAX) return undefined;
    this.#see(found.id);
    const event: OpenEvent = { ...found, stage: 'waiting', receivers: {} };
    if (!isStored) this.#unstored.add(found.id);
    this.#set(event);
    this.writer.afterFailure(() => {
      this.#forget(found.id);
      this.#seen.delete(found.id);
    });
    return event;
  }

  change(id: string, changes: Partial<Pick<OpenEvent, 'stage' | 'receivers'>>): OpenEvent | undefined {
    const event = this.#all.get(id);
    if (!event) return undefined;
    const changed = { ...event, ...changes };
    this.#set(changed);
    return changed;
  }

  remove(id: string): void {
    const isStored = !this.#unstored.has(id);
    this.#forget(id);
    if (isStored) this.writer.record({ key: PREFIX + id, value: null });
  }

  #set(event: OpenEvent): void {
    this.#all.set(event.id, event);
    if (!this.#unstored.has(event.id)) this.writer.record({ key: PREFIX + event.id, value: jsonText(event) }, 'full');
  }

  #forget(id: string): void {
    this.#all.delete(id);
    this.#unstored.delete(id);
  }

  #see(id: string): void {
    this.#seen.add(id);
    const [oldest] = this.#seen;
    if (this.#seen.size > SEEN_MAX && oldest !== undefined) this.#seen.delete(oldest);
  }
}
