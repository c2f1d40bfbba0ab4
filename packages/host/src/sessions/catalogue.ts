/** The list of sessions, open or not. It is small enough to be in memory whole, as text. */
import type { SessionLifecycle, SessionSummary } from '@atrium/protocol';
import type { Writer } from '../channels/writer.js';
import type { Log } from '../log/log.js';
import type { Held } from './held-actions.js';

export interface CatalogueEntry {
  readonly summary: SessionSummary;
  readonly lifecycle: SessionLifecycle;
  /** When it was disposed, in milliseconds since the epoch. */
  readonly disposedAt?: number;
}

interface Known {
  readonly provider: string;
  readonly disposed: boolean;
  readonly text: string;
}

const SESSION = 'session:';
/** Sessions that were at work. What is found under it at the start was cut off by a crash. */
const ACTIVE = 'active:';
/** Actions that wait for the end of a session's turn. */
const HELD = 'held:';

export class Catalogue {
  readonly #known = new Map<string, Known>();

  private constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  static async load(log: Log, writer: Writer): Promise<Catalogue> {
    const catalogue = new Catalogue(log, writer);
    for (const { key, value } of await log.records(SESSION)) catalogue.#remember(key.slice(SESSION.length), value);
    return catalogue;
  }

  #remember(uri: string, text: string): void {
    const { summary, disposedAt } = JSON.parse(text) as CatalogueEntry;
    this.#known.set(uri, { provider: summary.provider, disposed: disposedAt !== undefined, text });
  }

  /** The provider of a session, disposed or not. */
  providerOf(uri: string): string | undefined {
    return this.#known.get(uri)?.provider;
  }

  find(uri: string): CatalogueEntry | undefined {
    const known = this.#known.get(uri);
    return known && JSON.parse(known.text);
  }

  isListed(uri: string): boolean {
    return this.#known.get(uri)?.disposed === false;
  }

  list(): SessionSummary[] {
    return [...this.#known.values()]
      .filter(({ disposed }) => !disposed)
      .map(({ text }) => (JSON.parse(text) as CatalogueEntry).summary);
  }

  get count(): number {
    let count = 0;
    for (const { disposed } of this.#known.values()) if (!disposed) count++;
    return count;
  }

  /** Disposed sessions, with when. */
  disposed(): { uri: string; at: number }[] {
    return [...this.#known.keys()].flatMap((uri) => {
      const at = this.find(uri)?.disposedAt;
      return at === undefined ? [] : [{ uri, at }];
    });
  }

  /** Notes a session as it is now, together with the actions of this tick. The list shows it once it is stored. */
  set(uri: string, entry: CatalogueEntry): void {
    const text = JSON.stringify(entry);
    this.writer.record({ key: SESSION + uri, value: text });
    this.writer.afterCommit(() => this.#remember(uri, text));
  }

  remove(uri: string): void {
    this.writer.record({ key: SESSION + uri, value: null });
    this.writer.afterCommit(() => this.#known.delete(uri));
  }

  /** Notes whether a session is at work, so that a crash can be told from a rest. */
  setActive(uri: string, active: boolean): void {
    this.writer.record({ key: ACTIVE + uri, value: active ? '1' : null });
  }

  /** Notes which actions wait for the end of a session's turn. */
  setHeld(uri: string, held: readonly Held[]): void {
    this.writer.record({ key: HELD + uri, value: held.length > 0 ? JSON.stringify(held) : null });
  }

  async held(uri: string): Promise<Held[]> {
    return JSON.parse((await this.log.record(HELD + uri)) ?? '[]');
  }

  /** The sessions that were at work when the host last stopped. */
  async interrupted(): Promise<string[]> {
    return (await this.log.records(ACTIVE)).map(({ key }) => key.slice(ACTIVE.length));
  }
}
