/**
 * Who is subscribed to which channel, and what subscribers are sent. Each action becomes bytes once per dialect, not once
 * per client. A subscription begins with a snapshot and continues behind it without a gap.
 */
import { channelKind, type SessionState } from '@atrium/protocol';
import type { Channel } from '../channels/channel.js';
import type { OpenChannel, TurnWindow, WindowRequest } from '../channels/open-channel.js';
import type { CommittedBatch, CommittedStep, Notice } from '../channels/writer.js';
import type { Caller } from '../contracts/ports.js';
import type { Connection } from './connection.js';
import {
  type ChannelMemory,
  DIALECTS,
  type Dialect,
  type DialectStep,
  type HostView,
  NO_MEMORY,
} from './dialects/dialects.js';
import { type Encoded, encode, encodedOf, type NumberedMessage, withoutOrigin } from './encoding.js';
import { type Outgoing, outgoing } from './frames.js';
import { TranslatedReplay } from './replay.js';
import { CloseCode } from './transport.js';

export interface SubscriptionsOptions {
  readonly connections: { of(clientId: string): Connection | undefined; all(): Iterable<Connection> };
  /** What dialects may look up while they translate. */
  readonly view: HostView;
  /** Brings a channel into memory; undefined when there is none with this URI. */
  open(uri: string): Promise<OpenChannel | undefined>;
  /** The greatest number that clients may have seen. */
  shown(): number;
  /** A client unsubscribed or left. The channel may still have other subscribers. */
  unsubscribed(uri: string): void;
}

export interface Subscribed {
  /** All snapshots are true at this number: whatever follows has a greater one. */
  readonly seq: number;
  readonly snapshots: unknown[];
  /** The channels that exist, including those without a state. */
  readonly found: string[];
  readonly windows: Record<string, TurnWindow>;
}

/** A message for one client alone, in its place among the actions. */
export class ClientNotice implements Notice {
  constructor(
    readonly connection: Connection,
    /** Gets the number of its place among the actions. */
    readonly message: (serverSeq: number) => Outgoing,
  ) {}

  /** The client waits for this message in vain: it must connect again and ask again. */
  lost(reason: string): void {
    this.connection.close(CloseCode.NotStored, reason);
  }
}

/** What each client gets of one tick, channel by channel. */
type Parcels = Map<Connection, Encoded[]>;

const NONE: ReadonlySet<Connection> = new Set();

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #subscribers = new Map<string, Set<Connection>>();
  readonly #channels = new Map<Caller, Set<string>>();
  /** What older dialects remember of a session while it is in memory. */
  readonly #memories = new Map<string, ChannelMemory>();
  /** The dialects that cannot translate without states, each with what it said in the newest ticks. */
  readonly #translated = DIALECTS.filter(({ traits }) => traits.needsStates).map((dialect) => {
    return { dialect, replay: new TranslatedReplay() };
  });

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /**
   * Subscribes a client to channels and takes their snapshots, all at one moment, so that nothing falls between. Leaves out
   * channels that do not exist.
   */
  async open(connection: Connection, uris: readonly string[], window: WindowRequest | undefined): Promise<Subscribed> {
    for (;;) {
      const open: OpenChannel[] = [];
      for (const uri of new Set(uris)) {
        const source = await this.#options.open(uri);
        if (source) open.push(source);
      }
      // From here to the end nothing may wait.
      const request = { window, takesText: connection.dialect.traits.takesText };
      const taken = open.map((source) => ({ channel: source.channel, snapshot: source.takeSnapshot(request) }));
      if (taken.some(({ snapshot }) => !snapshot)) continue;
      for (const { channel } of taken) this.add(connection, channel);
      const shown = taken.flatMap(({ channel, snapshot }) => (snapshot ? { uri: channel.uri, ...snapshot } : []));
      return {
        seq: this.#options.shown(),
        snapshots: shown.flatMap(({ snapshot }) => snapshot ?? []),
        found: shown.map(({ uri }) => uri),
        windows: Object.fromEntries(shown.flatMap(({ uri, turns }) => (turns ? [[uri, turns]] : []))),
      };
    }
  }

  /** Subscribes a client from now on. What follows reaches it behind the answer to its request. */
  add(connection: Connection, { uri }: Channel): void {
    // The client left while the channel was being opened; nothing would ever remove it again.
    if (!connection.identity) return this.#options.unsubscribed(uri);
    connection.holdForAnswer();
    entry(this.#subscribers, uri).add(connection);
    entry(this.#channels, connection).add(uri);
    this.#replayOf(connection.dialect)?.follow(uri, this.#options.shown());
  }

  remove(connection: Connection, uri: string): void {
    this.#remove(connection, uri);
    this.#options.unsubscribed(uri);
  }

  /** Ends all subscriptions of a connection that has closed. */
  removeAllOf(connection: Connection): void {
    const uris = this.channelsOf(connection);
    for (const uri of uris) this.#remove(connection, uri);
    this.#channels.delete(connection);
    for (const uri of uris) this.#options.unsubscribed(uri);
  }

  /** Ends all subscriptions to a channel that is gone. */
  unsubscribeAll(uri: string): void {
    for (const connection of [...this.#of(uri)]) this.#remove(connection, uri);
    this.forget(uri);
  }

  #remove(connection: Connection, uri: string): void {
    const subscribers = this.#subscribers.get(uri);
    subscribers?.delete(connection);
    if (subscribers?.size === 0) this.#subscribers.delete(uri);
    this.#channels.get(connection)?.delete(uri);
  }

  #of(uri: string): ReadonlySet<Connection> {
    return this.#subscribers.get(uri) ?? NONE;
  }

  isWatched(uri: string): boolean {
    return this.#subscribers.has(uri);
  }

  channelsOf(caller: Caller): readonly string[] {
    return [...(this.#channels.get(caller) ?? [])];
  }

  /** Bytes that wait for the subscriber that keeps up best; 0 without subscribers. */
  unsentTo(uri: string): number {
    const waiting = [...this.#of(uri)].map(({ unsentBytes }) => unsentBytes);
    return waiting.length === 0 ? 0 : Math.min(...waiting);
  }

  /** Whether a subscriber can answer questions; true without subscribers, because one may come. */
  mayBeAnswered(uri: string): boolean {
    const subscribers = [...this.#of(uri)];
    return subscribers.length === 0 || subscribers.some(({ dialect }) => dialect.traits.answersQuestions);
  }

  /** Whether some subscriber's dialect has no questions at all. */
  isWatchedWithoutQuestions(uri: string): boolean {
    return [...this.#of(uri)].some(({ dialect }) => !dialect.traits.answersQuestions);
  }

  /** What older dialects remember of a channel. */
  memoryOf(uri: string): ChannelMemory | undefined {
    return this.#memories.get(uri);
  }

  /** The channel left memory: what dialects remember of it goes, too. */
  forget(uri: string): void {
    this.#memories.delete(uri);
    for (const { replay } of this.#translated) replay.forget(uri);
  }

  /** The messages of a channel behind a number, as sent to a dialect that needs states; undefined if not all are kept. */
  translatedAfter(dialect: Dialect, uri: string, seq: number): readonly NumberedMessage[] | undefined {
    return this.#replayOf(dialect)?.after(uri, seq);
  }

  #replayOf(spoken: Dialect): TranslatedReplay | undefined {
    return this.#translated.find(({ dialect }) => isSameVersion(dialect, spoken))?.replay;
  }

  /** Sends one stored tick to all subscribers of its channels. */
  show({ steps, notices }: CommittedBatch): void {
    const parcels: Parcels = new Map();
    for (const [uri, run] of byChannel(steps)) this.#pack(uri, run, parcels);
    for (const { seq, notice } of notices) {
      if (!(notice instanceof ClientNotice)) continue;
      pack(parcels, notice.connection, encodedOf([{ seq, origin: undefined, message: notice.message(seq) }]));
    }
    for (const [connection, parts] of parcels) deliver(connection, parts);
  }

  /** Puts the steps of one channel into the parcels of the clients that they concern. */
  #pack(uri: string, steps: readonly DialectStep[], parcels: Parcels): void {
    const memory = this.#memories.get(uri) ?? NO_MEMORY;
    const encodings = new Map<Dialect, Encoded>();
    const encodedFor = (dialect: Dialect): Encoded => {
      const encoded = encodings.get(dialect) ?? encode(dialect, memory, steps);
      encodings.set(dialect, encoded);
      return encoded;
    };
    for (const subscriber of this.#of(uri)) pack(parcels, subscriber, encodedFor(subscriber.dialect));
    for (const asker of this.#absentAskers(uri, steps)) {
      pack(parcels, asker, onlyOwn(asker, encodedFor(asker.dialect)));
    }
    this.#keepTranslated(uri, steps, encodedFor);
    const next = DIALECTS.reduce((current, dialect) => dialect.remember(current, steps), memory);
    if (next !== memory) this.#memories.set(uri, next);
  }

  #keepTranslated(uri: string, steps: readonly DialectStep[], encodedFor: (dialect: Dialect) => Encoded): void {
    const [first = 0, upTo = 0] = [steps[0], steps.at(-1)].map((step) => step?.envelope.serverSeq);
    for (const { dialect, replay } of this.#translated) {
      if (!replay.isFollowed(uri)) continue;
      const isWatched = [...this.#of(uri)].some((subscriber) => isSameVersion(subscriber.dialect, dialect));
      replay.add(uri, encodedFor(dialect), { first, upTo, isWatched });
    }
  }

  /** A client that is not subscribed still gets the echo of its own action, so that it does not wait for it forever. */
  #absentAskers(uri: string, steps: readonly DialectStep[]): Set<Connection> {
    const subscribers = this.#of(uri);
    const absent = new Set<Connection>();
    for (const { envelope } of steps) {
      const asker = envelope.origin && this.#options.connections.of(envelope.origin.clientId);
      if (asker?.isReady && !subscribers.has(asker)) absent.add(asker);
    }
    return absent;
  }

  /** Notifies all subscribers once, without a number, and clients whose dialect has no such subscription. */
  notify(uri: string, method: string, params: object): void {
    const encoded = new Map<Dialect, Outgoing | undefined>();
    for (const connection of this.#options.connections.all()) {
      const { dialect } = connection;
      const concerns = dialect.traits.notifiesEveryone || this.#of(uri).has(connection);
      if (!connection.identity || !concerns) continue;
      if (!encoded.has(dialect)) {
        const frame = dialect.encodeNotification({ method, params: { channel: uri, ...params } }, this.#options.view);
        encoded.set(dialect, frame && outgoing({ jsonrpc: '2.0', method: frame.method, params: frame.params }));
      }
      const message = encoded.get(dialect);
      if (message) connection.send(message);
    }
  }
}

/** One version can be spoken in several ways. */
function isSameVersion(a: Dialect, b: Dialect): boolean {
  return a.traits.version === b.traits.version;
}

/** The window of turns that a client asks for, if it asks for one. */
export function windowOf(params: Readonly<Record<string, unknown>>): WindowRequest | undefined {
  const { turns } = params;
  if (typeof turns !== 'object' || turns === null || !('last' in turns)) return undefined;
  return Number.isSafeInteger(turns.last) && Number(turns.last) >= 0 ? { last: Number(turns.last) } : undefined;
}

function entry<Key, Value>(map: Map<Key, Set<Value>>, key: Key): Set<Value> {
  const present = map.get(key) ?? new Set<Value>();
  map.set(key, present);
  return present;
}

function pack(parcels: Parcels, connection: Connection, encoded: Encoded): void {
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

/** Nearly always there is one part, and its list goes to all subscribers as it is. */
function messagesOf(connection: Connection, parts: readonly Encoded[]): readonly Outgoing[] {
  const [first] = parts;
  if (first && parts.length === 1) return withoutEarlyEchoes(connection, first).messages;
  return inOrder(parts.map((part) => withoutEarlyEchoes(connection, part)));
}

/** Sorts by number, across channels: a client that has seen a number has seen everything up to it. */
function inOrder(parts: readonly Encoded[]): Outgoing[] {
  const all = parts.flatMap(({ numbered }) => numbered).sort((a, b) => a.seq - b.seq);
  return all.map(({ message }) => message);
}

/**
 * A client that got an early echo gets the action once more, as if from the host: it no longer waits for the action, and
 * actions of others or a snapshot may have changed its view since.
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
