/** Who watches what: those who come and go, what they are told, and what follows when the last one has gone. */

import type { HostCore } from '../contracts/host-core.js';
import { serviceOf } from '../contracts/service.js';
import { Resting } from '../sessions/resting.js';
import type { Connection } from '../wire/connection.js';
import type { ConnectionRegistry } from '../wire/connection-registry.js';
import { type ChannelMemory, canAnswer } from '../wire/dialects/dialects.js';
import { Audience } from './audience.js';
import type { CommittedBatch } from './batch.js';
import { Broadcaster } from './broadcast.js';
import type { Channel } from './channel.js';
import type { NumberedMessage } from './encoding.js';

export class Watching {
  readonly #core: HostCore;
  readonly #audience = new Audience();
  readonly #broadcaster: Broadcaster;
  readonly #resting: Resting;

  constructor(core: HostCore, connections: ConnectionRegistry) {
    this.#core = core;
    this.#broadcaster = new Broadcaster(
      this.#audience,
      (clientId) => connections.of(clientId),
      () => connections.all(),
    );
    const { clock, logger } = core;
    const isWatched = (uri: string) => this.isWatched(uri);
    this.#resting = new Resting({ clock, logger, isWatched, putAway: (uri) => this.#putAway(uri) });
  }

  /** What older wires remember of a session, while it is open. */
  memoryOf(uri: string): ChannelMemory | undefined {
    return this.#broadcaster.memoryOf(uri);
  }

  /** What a channel said behind a number, in the wire whose translation needs states; undefined if unknown. */
  translatedAfter(uri: string, seq: number): readonly NumberedMessage[] | undefined {
    return this.#broadcaster.translatedAfter(uri, seq);
  }

  /** What follows reaches the connection behind the answer to its request. */
  subscribe(connection: Connection, channel: Channel): void {
    // It has left while the channel was being opened, and nobody would ever take it out again.
    if (!connection.identity) return this.#unwatched(channel.uri);
    connection.holdForAnswer();
    this.#audience.add(connection, channel.uri);
    this.#broadcaster.watches(connection, channel.uri, this.#core.writer.committedSeq);
  }

  unsubscribe(connection: Connection, uri: string): void {
    this.#audience.remove(connection, uri);
    this.#unwatched(uri);
  }

  unsubscribeAll(uri: string): void {
    this.#audience.clear(uri);
    this.#broadcaster.forget(uri);
  }

  /** A connection is closed: it watches nothing any more. */
  left(connection: Connection): void {
    for (const uri of this.#audience.leave(connection)) this.#unwatched(uri);
  }

  #unwatched(uri: string): void {
    this.mayRest(uri);
    if (!this.isWatched(uri)) serviceOf(this.#core.services, uri)?.unwatched?.(uri);
  }

  isWatched(uri: string): boolean {
    return this.#audience.has(uri);
  }

  watchedBy(connection: Connection): readonly string[] {
    return this.#audience.watchedBy(connection);
  }

  unsentTo(uri: string): number {
    const waiting = [...this.#audience.of(uri)].map(({ unsentBytes }) => unsentBytes);
    return waiting.length === 0 ? 0 : Math.min(...waiting);
  }

  mayBeAnswered(uri: string): boolean {
    const watchers = [...this.#audience.of(uri)];
    return watchers.length === 0 || watchers.some(({ dialect }) => canAnswer(dialect));
  }

  isWatchedWithoutQuestions(uri: string): boolean {
    return [...this.#audience.of(uri)].some(({ dialect }) => !canAnswer(dialect));
  }

  notify(uri: string, method: string, params: object): void {
    this.#broadcaster.notify(uri, method, params, this.#core.view);
  }

  /** Shows one stored tick to everyone whom it concerns. */
  show(batch: CommittedBatch): void {
    this.#broadcaster.show(batch);
  }

  mayRest(uri: string): void {
    if (this.#core.sessions.inMemory.has(uri)) this.#resting.used(uri);
  }

  async #putAway(uri: string): Promise<void> {
    const { sessions } = this.#core;
    await sessions.putAway(uri);
    if (!sessions.inMemory.has(uri)) this.#broadcaster.forget(uri);
  }

  /** Nobody leaves memory any more by itself. */
  stop(): void {
    this.#resting.stop();
  }
}
