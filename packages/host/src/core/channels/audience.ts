/** Who watches what. */
import type { Connection } from '../wire/connection.js';

const NOBODY: ReadonlySet<Connection> = new Set();

export class Audience {
  readonly #watchers = new Map<string, Set<Connection>>();
  readonly #watched = new Map<Connection, Set<string>>();

  /** Adds a watcher; once is enough, however often it asks. */
  add(connection: Connection, uri: string): void {
    entry(this.#watchers, uri).add(connection);
    entry(this.#watched, connection).add(uri);
  }

  remove(connection: Connection, uri: string): void {
    const watchers = this.#watchers.get(uri);
    watchers?.delete(connection);
    if (watchers?.size === 0) this.#watchers.delete(uri);
    this.#watched.get(connection)?.delete(uri);
  }

  /** Takes a connection out everywhere, and says what it watched. */
  leave(connection: Connection): string[] {
    const uris = [...(this.#watched.get(connection) ?? [])];
    for (const uri of uris) this.remove(connection, uri);
    this.#watched.delete(connection);
    return uris;
  }

  watchedBy(connection: Connection): readonly string[] {
    return [...(this.#watched.get(connection) ?? [])];
  }

  clear(uri: string): void {
    for (const connection of [...this.of(uri)]) this.remove(connection, uri);
  }

  /** Those who watch a channel. Not to be kept: it changes. */
  of(uri: string): ReadonlySet<Connection> {
    return this.#watchers.get(uri) ?? NOBODY;
  }

  isWatching(connection: Connection, uri: string): boolean {
    return this.of(uri).has(connection);
  }

  has(uri: string): boolean {
    return this.#watchers.has(uri);
  }
}

function entry<Key, Value>(map: Map<Key, Set<Value>>, key: Key): Set<Value> {
  const present = map.get(key) ?? new Set<Value>();
  map.set(key, present);
  return present;
}
