/** Shows what was stored to everyone who watches: each action becomes bytes once per dialect, not once per client. */
import { channelKind, type SessionState } from '@atrium/protocol';
import type { Connection } from '../wire/connection.js';
import {
  type ChannelMemory,
  type Dialect,
  type DialectStep,
  type HostView,
  isTranslated,
  NO_MEMORY,
  rememberingDialects,
  TRANSLATED,
} from '../wire/dialects/dialects.js';
import { type Outgoing, outgoing } from '../wire/outgoing.js';
import { CloseCode } from '../wire/transport.js';
import type { Audience } from './audience.js';
import type { CommittedBatch, CommittedStep } from './batch.js';
import { type Encoded, encode, encodedOf, type NumberedMessage, withoutOrigin } from './encoding.js';
import { TranslatedReplay } from './translated-replay.js';

/** What each client gets of one tick, channel by channel. */
type Parcels = Map<Connection, Encoded[]>;

export class Broadcaster {
  /** What older wires remember of a session, while it is open. */
  readonly #memories = new Map<string, ChannelMemory>();
  readonly #translated = new TranslatedReplay();

  constructor(
    private readonly audience: Audience,
    private readonly connectionOf: (clientId: string) => Connection | undefined,
    private readonly everyone: () => Iterable<Connection>,
  ) {}

  memoryOf(uri: string): ChannelMemory | undefined {
    return this.#memories.get(uri);
  }

  forget(uri: string): void {
    this.#memories.delete(uri);
    this.#translated.forget(uri);
  }

  /** A connection watches a channel from this number on. */
  watches({ dialect }: Connection, uri: string, seq: number): void {
    if (isTranslated(dialect)) this.#translated.follow(uri, seq);
  }

  /** What a channel said behind a number in the one wire whose translation needs states; undefined if unknown. */
  translatedAfter(uri: string, seq: number): readonly NumberedMessage[] | undefined {
    return this.#translated.after(uri, seq);
  }

  show({ steps, notices }: CommittedBatch): void {
    const parcels: Parcels = new Map();
    for (const [uri, run] of byChannel(steps)) this.#pack(uri, run, parcels);
    for (const { seq, connection, message } of notices) {
      add(parcels, connection, encodedOf([{ seq, origin: undefined, message: message() }]));
    }
    for (const [connection, parts] of parcels) deliver(connection, parts);
  }

  /** Puts what one channel did into the parcels of those whom it concerns. */
  #pack(uri: string, steps: readonly DialectStep[], parcels: Parcels): void {
    const memory = this.#memories.get(uri) ?? NO_MEMORY;
    const encodings = new Map<Dialect, Encoded>();
    const encodedFor = ({ dialect }: Pick<Connection, 'dialect'>): Encoded => {
      const encoded = encodings.get(dialect) ?? encode(dialect, memory, steps);
      encodings.set(dialect, encoded);
      return encoded;
    };
    for (const watcher of this.audience.of(uri)) add(parcels, watcher, encodedFor(watcher));
    for (const asker of this.#absentAskers(uri, steps)) add(parcels, asker, onlyOwn(asker, encodedFor(asker)));
    if (this.#translated.isFollowed(uri)) this.#keepTranslated(uri, steps, encodedFor);
    this.#remember(uri, memory, steps);
  }

  #keepTranslated(
    uri: string,
    steps: readonly DialectStep[],
    encodedFor: (speaker: Pick<Connection, 'dialect'>) => Encoded,
  ): void {
    const [first = 0, upTo = 0] = [steps[0], steps.at(-1)].map((step) => step?.envelope.serverSeq);
    const speaker = [...this.audience.of(uri)].find(({ dialect }) => isTranslated(dialect));
    this.#translated.add(uri, encodedFor({ dialect: TRANSLATED }), { first, upTo, isWatched: speaker !== undefined });
  }

  /** A client hears of its own action even when it does not watch, so that it need not wait for it for ever. */
  #absentAskers(uri: string, steps: readonly DialectStep[]): Set<Connection> {
    const askers = steps.map(({ envelope }) => envelope.origin && this.connectionOf(envelope.origin.clientId));
    return new Set(
      askers.filter((asker) => asker?.isReady && !this.audience.isWatching(asker, uri)),
    ) as Set<Connection>;
  }

  #remember(uri: string, memory: ChannelMemory, steps: readonly DialectStep[]): void {
    const next = rememberingDialects.reduce((current, dialect) => dialect.remember(current, steps), memory);
    if (next !== memory) this.#memories.set(uri, next);
  }

  /** A notification to everyone who watches a channel, and to those whose wire has no such subscription. */
  notify(uri: string, method: string, params: object, view: HostView): void {
    const encoded = new Map<Dialect, Outgoing | undefined>();
    for (const connection of this.everyone()) {
      const { dialect } = connection;
      const concerns = dialect.notifiesEveryone || this.audience.isWatching(connection, uri);
      if (!connection.identity || !concerns) continue;
      if (!encoded.has(dialect)) {
        const frame = dialect.encodeNotification({ method, params: { channel: uri, ...params } }, view);
        encoded.set(dialect, frame && outgoing({ jsonrpc: '2.0', method: frame.method, params: frame.params }));
      }
      const message = encoded.get(dialect);
      if (message) connection.send(message);
    }
  }
}

function add(parcels: Parcels, connection: Connection, encoded: Encoded): void {
  const parts = parcels.get(connection);
  if (parts) parts.push(encoded);
  else parcels.set(connection, [encoded]);
}

function onlyOwn({ identity }: Connection, { numbered }: Encoded): Encoded {
  return encodedOf(numbered.filter(({ origin }) => origin?.clientId === identity?.clientId));
}

function deliver(connection: Connection, parts: readonly Encoded[]): void {
  connection.sendAll(messagesOf(connection, parts));
  const close = parts.find((part) => part.close)?.close;
  if (close) connection.close(CloseCode.SnapshotNeeded, close);
}

/** Nearly always there is one part, and its list goes to everyone as it is. */
function messagesOf(connection: Connection, parts: readonly Encoded[]): readonly Outgoing[] {
  const [first] = parts;
  if (first && parts.length === 1) return withoutEarlyEchoes(connection, first).messages;
  return inOrder(parts.map((part) => withoutEarlyEchoes(connection, part)));
}

/** By number, whichever channel they are from: what a client has seen up to a number, it has seen whole. */
function inOrder(parts: readonly Encoded[]): Outgoing[] {
  const all = parts.flatMap(({ numbered }) => numbered).sort((a, b) => a.seq - b.seq);
  return all.map(({ message }) => message);
}

/**
 * What a client was told early comes to it again as if from the host: it does not wait for it any more, and what others
 * had asked for before, or a snapshot, may have changed its view since.
 */
function withoutEarlyEchoes(connection: Connection, encoded: Encoded): Encoded {
  const { echoedEarly, identity } = connection;
  if (echoedEarly.size === 0) return encoded;
  const isOld = (origin: { clientId: string; clientSeq: number } | undefined) =>
    origin?.clientId === identity?.clientId && echoedEarly.delete(origin?.clientSeq ?? -1);
  return encodedOf(
    encoded.numbered.map((message) => (isOld(message.origin) ? withoutOrigin(message) : message)),
    encoded.close,
  );
}

/** The steps of each channel, in order. Dialects know the states of sessions, and no others. */
function byChannel(steps: readonly CommittedStep[]): Map<string, DialectStep[]> {
  const runs = new Map<string, DialectStep[]>();
  for (const { channel, envelope, before, after } of steps) {
    const isSession = channelKind(channel.uri) === 'session';
    const step = isSession
      ? { envelope, before: before as SessionState, after: after as SessionState }
      : { envelope, before: undefined, after: undefined };
    const run = runs.get(channel.uri);
    if (run) run.push(step);
    else runs.set(channel.uri, [step]);
  }
  return runs;
}
