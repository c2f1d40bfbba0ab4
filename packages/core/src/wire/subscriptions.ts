/**
 * Who is subscribed to which channel, and what subscribers are sent. Each action becomes bytes once per dialect, not
 * once per client. A subscription begins with a snapshot and continues after it without a gap.
 *
 * Clients subscribe to channels of their wire. One wire channel may show several internal channels: an older wire shows
 * a session and its default chat as one. A session and its chats are one *group*: they are translated together.
 */
import {
  type ActionEnvelope,
  hasRole,
  ROOT_CHANNEL,
  type SessionSummary,
  type StateAction,
  type Turn,
} from '@atrium/protocol/ahp-1';
import type { ChannelSnapshot, OpenChannel, TurnWindow, WindowRequest } from '../channels/open-channel.js';
import type { CommittedBatch, CommittedStep, Notice } from '../channels/writer.js';
import type { Audience, Caller } from '../contracts/ports.js';
import { FETCH_TURNS_MAX } from '../sessions/limits.js';
import { textWindowMs } from '../sessions/text-joiner.js';
import type { AccessControl } from './access-control.js';
import type { Connection } from './connection.js';
import {
  type ChannelMemory,
  type Dialect,
  type DialectView,
  NO_MEMORY,
  type SnapshotParts,
  type StepGroup,
} from './dialects/dialects.js';
import type { Edition, Editions } from './editions.js';
import {
  type Encoded,
  encode,
  encodedOf,
  type NumberedMessage,
  onChannels,
  type TextGroup,
  type TextStep,
  withoutOrigin,
} from './encoding.js';
import { type Outgoing, outgoing } from './frames.js';
import type { LoadedTurns } from './loaded-turns.js';
import type { TranslatedReplay } from './replay.js';
import { CloseCode } from './transport.js';

export interface SubscriptionsOptions {
  readonly editions: Pick<Editions, 'main' | 'others' | 'forget'>;
  /** Decides who may open which channel, and who sees which session. */
  readonly control: Pick<AccessControl, 'canOpen' | 'sees'>;
  readonly connections: { of(clientId: string): Connection | undefined; unsubscribedAudience(): Iterable<Connection> };
  /** What dialects may look up while they translate. */
  readonly view: DialectView;
  /** Brings a channel into memory; undefined when this URI has none. */
  open(uri: string): Promise<OpenChannel | undefined>;
  /** Remembers from which turn on clients have the chats that they loaded in part. */
  readonly windows: LoadedTurns;
  /** Resolves when everything written so far is stored; rejects when it cannot be. */
  settled(): Promise<void>;
  /** Sends a notice with a number of its own. */
  sendNumbered(notice: Notice): void;
  /** The chats of a session. */
  chatsOf(session: string): readonly string[];
  /** The greatest number that clients may have seen. */
  shown(): number;
  /** Called when a client unsubscribed or left. The channel may still have other subscribers. */
  unsubscribed(uri: string): void;
  /** Called when a client that stays connected ends its interest in a session, and so gives up its role in it. */
  roleEnded(session: string, clientId: string): void;
}

export interface Subscribed {
  /** The number of all snapshots: whatever follows has a greater one. */
  readonly seq: number;
  readonly snapshots: SnapshotParts[];
  /** The wire channels that exist, including those without a state. */
  readonly found: string[];
  readonly windows: Record<string, TurnWindow>;
}

/** A message for one client, in its place among the actions. */
export class ClientNotice implements Notice {
  constructor(
    readonly connection: Connection,
    /** Called with the number of its place among the actions. */
    readonly message: (serverSeq: number) => Outgoing,
  ) {}

  /** Closes the connection: the client waits for a message that is lost, and must connect and ask again. */
  lost(reason: string): void {
    this.connection.close(CloseCode.NotStored, reason);
  }
}

/** What each client gets of one tick, one entry per group. */
type Parcels = Map<Connection, readonly Encoded[]>;

/** One client's share of the only group of a tick. */
interface Parcel {
  readonly connection: Connection;
  readonly encoded: Encoded;
}

/** Gives one client its share of a group. */
type Give = (connection: Connection, encoded: Encoded) => unknown;

const NONE: ReadonlyMap<Connection, ReadonlySet<string>> = new Map();

/** The group of a channel: for a chat, its session; for any other channel, the channel itself. */
export function groupOf(uri: string, view: DialectView): string {
  return view.sessionUriOf(uri) ?? uri;
}

/** A wire channel that a client asks for, with its internal channels. */
interface RequestedChannel {
  readonly wire: string;
  readonly sources: readonly OpenChannel[];
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  /** The subscribers of each internal channel, each with the wire channels that show it. */
  readonly #subscribers = new Map<string, Map<Connection, Set<string>>>();
  /** The wire channels of each client, each with its internal channels. */
  readonly #channels = new Map<Caller, Map<string, readonly string[]>>();
  /** For each client with bounds, the sessions that it has been told of. */
  readonly #listed = new WeakMap<Connection, Set<string>>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /**
   * Subscribes a client to wire channels and takes their snapshots at one moment, so that nothing is lost in between.
   * Leaves out channels that do not exist.
   */
  async open(connection: Connection, wires: readonly string[], window: WindowRequest | undefined): Promise<Subscribed> {
    for (;;) {
      const requested = await this.sourcesOf(connection, wires);
      // No `await` from here on.
      const { edition } = connection;
      // A projection has to look at the turns, so they cannot go out as stored text.
      const sendsStoredJson = connection.dialect.traits.sendsStoredJson && !edition.projection;
      const request = { window, sendsStoredJson };
      const taken = requested.map(({ wire, sources }) => ({
        wire,
        channels: sources.map(({ channel }) => channel.uri),
        snapshots: sources.map((source) => inEdition(edition, source.takeSnapshot(request))),
      }));
      if (taken.some(({ snapshots }) => snapshots.some((snapshot) => !snapshot))) continue;
      const { windows, settled, shown } = this.#options;
      const seq = shown();
      let hasWindow = false;
      for (const { wire, channels, snapshots } of taken) {
        this.add(connection, wire, channels);
        if (channels.length !== 1 || channels[0] !== wire || !connection.identity) continue;
        const start = snapshots[0]?.turns?.start ?? 0;
        windows.note(connection.identity, wire, start, seq);
        hasWindow ||= start > 0;
      }
      // Messages that follow wait for the answer. Store the window before the client hears of it, or a crash could lose
      // it.
      if (hasWindow) await settled().catch(() => {});
      return {
        seq,
        snapshots: taken.flatMap(({ wire, snapshots }) => partsOf(wire, snapshots) ?? []),
        found: taken.map(({ wire }) => wire),
        windows: Object.fromEntries(
          taken.flatMap(({ wire, snapshots }) => {
            const turns = snapshots.find((snapshot) => snapshot?.turns)?.turns;
            return turns ? [[wire, turns]] : [];
          }),
        ),
      };
    }
  }

  /** Frees memory for a client that will not be back soon. */
  forgetClient(clientId: string): void {
    this.#options.windows.forget(clientId);
  }

  /**
   * Restores what a client has of these channels, when it has seen everything up to a number; false when that is not
   * known.
   */
  returned({ identity }: Connection, seen: number, channels: readonly string[]): Promise<boolean> {
    return identity ? this.#options.windows.returned(identity, seen, channels) : Promise.resolve(true);
  }

  /** The first turn of a chat that a client has; 0 when it has all, or when that is not known. */
  loadedBy({ identity }: Connection, chat: string): number {
    return this.#options.windows.of(identity, chat);
  }

  /** Records that a client, which missed a cut of all turns, is told so now. */
  clearedFor({ identity }: Connection, chat: string): void {
    if (identity) this.#options.windows.note(identity, chat, 0, this.#options.shown());
  }

  /** Records that a client, which missed that turns came back, is told so now: it has the chat from this turn on. */
  restoredFor({ identity }: Connection, chat: string, from: number): void {
    if (identity) this.#options.windows.note(identity, chat, from, this.#options.shown());
  }

  /** Sends a client older turns of a chat; afterwards, its turns begin at this index. */
  sendOlderTurns(
    connection: Connection,
    chat: string,
    { start, turns }: { start: number; turns: readonly Turn[] },
  ): void {
    if (!connection.identity) return;
    const cursor = start > 0 && { turnsNextCursor: String(start) };
    const action = { type: 'chat/turnsLoaded' as const, turns: [...turns], ...cursor };
    const numbered = this.#options.windows.note(connection.identity, chat, start);
    this.#options.sendNumbered(this.#actionFor(connection, { channel: chat, action }, numbered));
  }

  loadedFrom(chat: string): number {
    return Math.max(0, ...[...this.#of(chat).keys()].map((connection) => this.loadedBy(connection, chat)));
  }

  /** Sends each client the turns that it lacks, before an action that names one of them. */
  loadTurns(chat: string, index: number, turns: readonly Turn[]): void {
    for (const connection of this.#of(chat).keys()) {
      const start = this.loadedBy(connection, chat);
      if (start <= index || !connection.identity) continue;
      if (start - index > FETCH_TURNS_MAX) {
        connection.close(
          CloseCode.SnapshotNeeded,
          'history was cut far before the loaded turns: reconnect for a snapshot',
        );
        continue;
      }
      this.sendOlderTurns(connection, chat, { start: index, turns: turns.slice(0, start - index) });
    }
  }

  canShowChats(session: string): boolean {
    const subscribers = [...this.#watching(session)];
    // A wire that has chats shows every chat under its own name.
    const hasChats = ({ dialect }: Connection) => dialect.channelsOf('ahp-chat:/any', this.#options.view).length > 0;
    return subscribers.length === 0 || subscribers.some(hasChats);
  }

  /**
   * The internal channels behind wire channels, brought into memory. Leaves out channels that do not exist for the
   * client.
   */
  async sourcesOf(connection: Connection, wires: Iterable<string>): Promise<RequestedChannel[]> {
    const { dialect, edition } = connection;
    const { control } = this.#options;
    const requested: RequestedChannel[] = [];
    for (const wire of new Set(wires)) {
      const sources: OpenChannel[] = [];
      for (const uri of dialect.channelsOf(wire, edition.view)) {
        const source = control.canOpen(connection, uri) ? await this.#options.open(uri) : undefined;
        if (source) sources.push(source);
      }
      if (sources.length > 0) requested.push({ wire, sources });
    }
    return requested;
  }

  /** Subscribes a client from now on. What happens next reaches it after the answer to its request. */
  add(connection: Connection, wire: string, channels: readonly string[]): void {
    // The client left while the channel was opening; nothing would ever remove this subscription.
    if (!connection.identity) return this.#unsubscribed(channels);
    connection.holdForAnswer();
    const own = this.#channels.get(connection) ?? new Map<string, readonly string[]>();
    this.#channels.set(connection, own.set(wire, channels));
    for (const uri of channels) {
      const subscribers = this.#subscribers.get(uri) ?? new Map<Connection, Set<string>>();
      this.#subscribers.set(uri, subscribers);
      subscribers.set(connection, (subscribers.get(connection) ?? new Set()).add(wire));
      replayFor(connection)?.follow(groupOf(uri, this.#options.view), this.#options.shown());
    }
  }

  remove(connection: Connection, wire: string): void {
    const channels = this.#remove(connection, wire);
    this.#unsubscribed(channels);
    const { identity, dialect } = connection;
    if (!identity || !dialect.traits.roleEndsWithSubscription) return;
    for (const uri of channels) this.#options.roleEnded(uri, identity.clientId);
  }

  #unsubscribed(channels: readonly string[]): void {
    for (const uri of channels) this.#options.unsubscribed(uri);
  }

  /** Ends all subscriptions of a closed connection. */
  removeAllOf(connection: Connection): void {
    const wires = [...(this.#channels.get(connection)?.keys() ?? [])];
    const channels = wires.flatMap((wire) => this.#remove(connection, wire));
    this.#channels.delete(connection);
    this.#unsubscribed(channels);
  }

  /** Ends all subscriptions to a channel that is gone. */
  unsubscribeAll(uri: string): void {
    for (const [connection, wires] of [...this.#of(uri)]) for (const wire of [...wires]) this.#remove(connection, wire);
    this.forget(uri);
  }

  /** Removes a wire channel, and returns its internal channels. */
  #remove(connection: Connection, wire: string): readonly string[] {
    const channels = this.#channels.get(connection)?.get(wire) ?? [];
    this.#channels.get(connection)?.delete(wire);
    for (const uri of channels) {
      const subscribers = this.#subscribers.get(uri);
      const wires = subscribers?.get(connection);
      wires?.delete(wire);
      if (wires?.size === 0) subscribers?.delete(connection);
      if (subscribers?.size === 0) this.#subscribers.delete(uri);
    }
    return channels;
  }

  #of(uri: string): ReadonlyMap<Connection, ReadonlySet<string>> {
    return this.#subscribers.get(uri) ?? NONE;
  }

  /** The subscribers of a session and its chats, or of any other channel. */
  #watching(uri: string): Set<Connection> {
    return new Set([uri, ...this.#options.chatsOf(uri)].flatMap((channel) => [...this.#of(channel).keys()]));
  }

  isWatched(uri: string): boolean {
    return this.#subscribers.has(uri);
  }

  audienceOf(uri: string): Audience {
    const subscribers = this.#of(uri);
    let maxDelayMs: number | undefined;
    for (const { textMaxDelayMs: wish } of subscribers.keys())
      if (wish !== undefined) maxDelayMs = Math.min(wish, maxDelayMs ?? wish);
    return { count: subscribers.size, maxDelayMs };
  }

  /** The longest time that text has waited for more before it reaches a client. */
  textWindowOf(caller: Caller): number {
    return Math.max(0, ...this.channelsOf(caller).map((uri) => textWindowMs(this.audienceOf(uri))));
  }

  /** The internal channels to which a client is subscribed. */
  channelsOf(caller: Caller): readonly string[] {
    return [...(this.#channels.get(caller)?.values() ?? [])].flat();
  }

  /** Bytes that wait for the fastest subscriber; 0 without subscribers. */
  unsentTo(uri: string): number {
    const waiting = [...this.#watching(uri)].map(({ unsentBytes }) => unsentBytes);
    return waiting.length === 0 ? 0 : Math.min(...waiting);
  }

  /** True when a subscriber can answer questions. True without subscribers, because one may come. */
  canBeAnswered(uri: string): boolean {
    const subscribers = [...this.#watching(uri)];
    return subscribers.length === 0 || subscribers.some(({ dialect }) => dialect.traits.answersQuestions);
  }

  /** True when the dialect of some subscriber has no questions at all. */
  isWatchedWithoutQuestions(uri: string): boolean {
    return [...this.#watching(uri)].some(({ dialect }) => !dialect.traits.answersQuestions);
  }

  /** Forgets what dialects remember of a channel that left memory. */
  forget(uri: string): void {
    this.#options.editions.forget(uri);
  }

  /**
   * The messages of a group after a number, as a dialect that needs states was sent them; undefined when not all are
   * kept.
   */
  translatedAfter(connection: Connection, uri: string, seq: number): readonly NumberedMessage[] | undefined {
    return replayFor(connection)?.after(uri, seq);
  }

  /** Sends one stored tick to the subscribers of its channels. */
  show({ steps, notices }: CommittedBatch): void {
    for (const { envelope } of steps) {
      if (isWholeCut(envelope.action)) this.#options.windows.cleared(envelope.channel, envelope.serverSeq);
      const from = restoredFrom(envelope.action);
      if (from !== undefined) this.#noteRestored(envelope, from);
    }
    const groups = groupsOf(steps, this.#options.view);
    const [only] = groups;
    // The usual case: only one channel acted, so every client gets one list.
    if (only && groups.length === 1 && notices.length === 0) return this.#showGroup(only);
    const parcels: Parcels = new Map();
    for (const group of groups) this.#pack(group, (connection, encoded) => pack(parcels, connection, encoded));
    for (const { seq, notice } of notices) {
      if (!(notice instanceof ClientNotice)) continue;
      pack(parcels, notice.connection, encodedOf([{ seq, origin: undefined, message: notice.message(seq) }]));
    }
    for (const [connection, parts] of parcels) deliver(connection, parts);
    for (const { atHand } of groups) atHand.steps = [];
  }

  /** Records that all subscribers now have these turns, whatever they had before. */
  #noteRestored({ channel, serverSeq }: ActionEnvelope, from: number): void {
    for (const { identity } of this.#of(channel).keys())
      if (identity) this.#options.windows.note(identity, channel, from, serverSeq);
  }

  /** Encodes for all clients before it sends anything to the first. */
  #showGroup(group: TextGroup): void {
    const parcels: Parcel[] = [];
    this.#pack(group, (connection, encoded) => parcels.push({ connection, encoded }));
    for (const { connection, encoded } of parcels) deliverOne(connection, encoded);
    group.atHand.steps = [];
  }

  /** Gives the steps of one group to the clients that they concern. */
  #pack(group: TextGroup, give: Give): void {
    const { main, others } = this.#options.editions;
    const concerned = this.#concernedBy(group);
    const first = new EditedGroup(main, group, this.#options.view);
    const edited = new Map<Edition, EditedGroup>([[main, first]]);
    const editedFor = (edition: Edition): EditedGroup => {
      const known = edited.get(edition);
      if (known) return known;
      const made = new EditedGroup(edition, edition.group(group), edition.view);
      edited.set(edition, made);
      return made;
    };
    for (const [subscriber, wires] of concerned) {
      const { edition, dialect, identity } = subscriber;
      const own = edition === main ? first : editedFor(edition);
      const encoded = onChannels(own.encodedFor(dialect), wires, identity?.clientId);
      if (encoded.numbered.length > 0 || encoded.close) give(subscriber, encoded);
    }
    for (const asker of this.#absentAskers(concerned, group)) {
      give(asker, onlyOwn(asker, editedFor(asker.edition).encodedFor(asker.dialect)));
    }
    first.remember(concerned);
    for (const edition of others.call(this.#options.editions)) editedFor(edition).remember(concerned);
  }

  /** The clients that are subscribed to a channel that acted, with their wire channels. */
  #concernedBy({ steps }: StepGroup): ReadonlyMap<Connection, ReadonlySet<string>> {
    const [first, ...others] = new Set(steps.map(({ envelope }) => envelope.channel));
    const watching = first === undefined ? NONE : this.#of(first);
    if (others.length === 0) return watching;
    const concerned = new Map(watching);
    for (const uri of others) {
      for (const [connection, wires] of this.#of(uri)) {
        const known = concerned.get(connection);
        concerned.set(connection, known ? new Set([...known, ...wires]) : wires);
      }
    }
    return concerned;
  }

  /**
   * Clients that are not subscribed, but sent one of the actions: each still gets its echo, so that it does not wait
   * forever.
   */
  #absentAskers(concerned: ReadonlyMap<Connection, unknown>, { steps }: StepGroup): Iterable<Connection> {
    // Usually the host itself acts.
    if (!steps.some(({ envelope }) => envelope.origin)) return [];
    const absent = new Set<Connection>();
    for (const { envelope } of steps) {
      const asker = envelope.origin && this.#options.connections.of(envelope.origin.clientId);
      if (asker?.isReady && !concerned.has(asker)) absent.add(asker);
    }
    return absent;
  }

  /** An action sent to one client only. */
  #actionFor(
    connection: Connection,
    { channel, action }: { readonly channel: string; readonly action: StateAction },
    numbered: (serverSeq: number) => void,
  ): ClientNotice {
    return new ClientNotice(connection, (serverSeq) => {
      numbered(serverSeq);
      const { edition } = connection;
      const shown = edition.action(channel, action);
      if (!shown) return outgoing({});
      const steps = [{ envelope: { channel, action: shown, serverSeq }, before: undefined, after: undefined }];
      const place = { channel: groupOf(channel, this.#options.view), stateBefore: () => undefined };
      const group = { ...place, steps, atHand: { steps } };
      const [message] = encode(connection.dialect, NO_MEMORY, group, edition.view).messages;
      return message ?? outgoing({});
    });
  }

  /** Notifies one client, if its version has the notification. */
  notifyOne(
    connection: Connection,
    notification: { readonly method: string; readonly params: Readonly<Record<string, unknown>> },
  ): void {
    if (!connection.identity) return;
    const frame = connection.dialect.encodeNotification(notification, connection.edition.view);
    if (frame) connection.send(outgoing({ jsonrpc: '2.0', method: frame.method, params: frame.params }));
  }

  /** Notifies all subscribers once, without a number, plus the clients whose dialect has no such subscription. */
  notify(uri: string, method: string, params: object): void {
    // One list per dialect, shared by its connections.
    const encoded = new Map<Dialect, readonly Outgoing[]>();
    const { main } = this.#options.editions;
    const tell = (connection: Connection) => {
      const { dialect, edition } = connection;
      if (edition !== main) return this.#notifyLimited(connection, { uri, method, params });
      const messages = encoded.get(dialect) ?? this.#notification(dialect, uri, method, params);
      encoded.set(dialect, messages);
      if (connection.identity && messages.length > 0) connection.sendAll(messages);
    };
    const subscribers = this.#of(uri);
    for (const connection of subscribers.keys()) tell(connection);
    for (const connection of this.#options.connections.unsubscribedAudience())
      if (!subscribers.has(connection)) tell(connection);
  }

  /** Notifies a client with limited access about sessions that it sees. */
  #notifyLimited(
    connection: Connection,
    { uri, method, params }: { readonly uri: string; readonly method: string; readonly params: object },
  ): void {
    const { access, edition } = connection;
    const { session, summary, changes } = params as { session?: string; summary?: SessionSummary; changes?: object };
    const about = session ?? summary?.resource;
    if (about === undefined) {
      if (hasRole(access.role, 'owner')) this.notifyOne(connection, { method, params: { channel: uri, ...params } });
      return;
    }
    if (!this.#options.control.sees(access, about)) return this.#left(connection, about);
    if (method === 'root/sessionRemoved') this.#listed.get(connection)?.delete(about);
    else this.noteListed(connection, [about]);
    const shown = {
      ...(summary && { summary: edition.projection?.summary(summary) ?? summary }),
      ...(changes && { changes: edition.projection?.summary(changes) ?? changes }),
    };
    this.notifyOne(connection, { method, params: { channel: uri, ...params, ...shown } });
  }

  /** A notification in a dialect; empty when the dialect lacks it. */
  #notification(dialect: Dialect, uri: string, method: string, params: object): readonly Outgoing[] {
    const frame = dialect.encodeNotification({ method, params: { channel: uri, ...params } }, this.#options.view);
    return frame ? [outgoing({ jsonrpc: '2.0', method: frame.method, params: frame.params })] : [];
  }

  /** Records the sessions that a client with bounds was told of, so that it can be told when they leave its bounds. */
  noteListed(connection: Connection, sessions: readonly string[]): void {
    if (!connection.access.bounds) return;
    const listed = this.#listed.get(connection) ?? new Set();
    this.#listed.set(connection, listed);
    for (const session of sessions) listed.add(session);
  }

  /**
   * Handles a session that has left a client's bounds. If the client never knew the session, it must not learn that it
   * exists.
   */
  #left(connection: Connection, session: string): void {
    const watched = this.channelsOf(connection);
    const isWatched = [session, ...this.#options.chatsOf(session)].some((uri) => watched.includes(uri));
    if (isWatched) this.#endHidden(connection);
    if (this.#listed.get(connection)?.delete(session) || isWatched) this.#notifyUnsubscribed(connection, session);
  }

  /**
   * Translates in the host's view: the client's own view no longer has the session, and some wires look up its name.
   */
  #notifyUnsubscribed(connection: Connection, session: string): void {
    const messages = this.#notification(connection.dialect, ROOT_CHANNEL, 'root/sessionRemoved', { session });
    if (connection.identity) connection.sendAll(messages);
  }

  #endHidden(connection: Connection): void {
    const { control } = this.#options;
    for (const [wire, channels] of [...(this.#channels.get(connection) ?? [])])
      if (!channels.every((uri) => control.canOpen(connection, uri))) this.remove(connection, wire);
  }
}

/** What a group did in one tick, projected for an edition and encoded once per dialect. */
class EditedGroup {
  readonly #encodings = new Map<Dialect, Encoded>();
  readonly #memory: ChannelMemory;

  constructor(
    readonly edition: Edition,
    readonly group: TextGroup,
    readonly view: DialectView,
  ) {
    this.#memory = edition.memories.get(group.channel) ?? NO_MEMORY;
  }

  encodedFor(dialect: Dialect): Encoded {
    const known = this.#encodings.get(dialect);
    if (known) return known;
    const encoded = encode(dialect, this.#memory, this.group, this.view);
    this.#encodings.set(dialect, encoded);
    return encoded;
  }

  /**
   * Lets each dialect that remembers state follow the group from its first subscriber on. After the last subscriber is
   * given up, the dialect still follows to the end of that turn: otherwise an answer to an old question could be taken
   * for the answer to a new one.
   */
  remember(concerned: ReadonlyMap<Connection, unknown>): void {
    const { edition, group } = this;
    const { channel, steps } = group;
    const isOf = (dialect: Dialect) => (subscriber: Connection) =>
      subscriber.edition === edition && isSameVersion(subscriber.dialect, dialect);
    let next = this.#memory;
    for (const { dialect, replay } of edition.translated) {
      const isFollowed = replay.isFollowed(channel);
      const [first, last] = isFollowed ? [steps[0], steps.at(-1)] : [];
      if (first && last) {
        const isWatched = [...concerned.keys()].some(isOf(dialect));
        const numbers = { first: first.envelope.serverSeq, upTo: last.envelope.serverSeq };
        replay.add(channel, this.encodedFor(dialect), { ...numbers, isWatched });
      }
      const isSpoken = isFollowed || dialect.traits.version in this.#memory;
      if (isSpoken) next = dialect.remember(next, group, this.view);
    }
    if (next === this.#memory) return;
    if (Object.keys(next).length > 0) edition.memories.set(channel, next);
    else edition.memories.delete(channel);
  }
}

function replayFor({ edition, dialect }: Connection): TranslatedReplay | undefined {
  return edition.replayOf(dialect);
}

function inEdition(edition: Edition, taken: ChannelSnapshot | undefined): ChannelSnapshot | undefined {
  return taken && edition.projection ? { ...taken, snapshot: edition.snapshot(taken.snapshot) } : taken;
}

/** True for an action that cuts off all turns of a chat. */
export function isWholeCut(action: StateAction): boolean {
  return action.type === 'chat/truncated' && action.turnId === undefined;
}

/**
 * The index of the first turn that an action restores for everyone who watches the chat; undefined for every other
 * action.
 */
export function restoredFrom(action: StateAction): number | undefined {
  return action.type === 'chat/turnsLoaded' ? Number(action.turnsNextCursor ?? 0) : undefined;
}

/** Compares versions, because one version can have several dialects. */
function isSameVersion(a: Dialect, b: Dialect): boolean {
  return a.traits.version === b.traits.version;
}

/** The window of turns that a client asks for, if any. */
export function windowOf(params: Readonly<Record<string, unknown>>): WindowRequest | undefined {
  const { turns, view } = params;
  if (typeof view === 'object' && view !== null && 'turns' in view) return windowOf({ turns: { last: view.turns } });
  if (typeof turns !== 'object' || turns === null || !('last' in turns)) return undefined;
  return Number.isSafeInteger(turns.last) && Number(turns.last) >= 0 ? { last: Number(turns.last) } : undefined;
}

/** The snapshots of a wire channel; undefined when none of its channels has a state. */
function partsOf(wire: string, snapshots: readonly (ChannelSnapshot | undefined)[]): SnapshotParts | undefined {
  const parts = snapshots.flatMap((taken) =>
    taken?.snapshot ? [taken.snapshot as SnapshotParts['parts'][number]] : [],
  );
  return parts.length > 0 ? { channel: wire, parts } : undefined;
}

function pack(parcels: Parcels, connection: Connection, encoded: Encoded): void {
  const parts = parcels.get(connection);
  parcels.set(connection, parts ? [...parts, encoded] : [encoded]);
}

function onlyOwn({ identity }: Connection, { numbered }: Encoded): Encoded {
  return encodedOf(numbered.filter(({ origin }) => origin?.clientId === identity?.clientId));
}

/** All subscribers get the same list. */
function deliverOne(connection: Connection, encoded: Encoded): void {
  connection.sendAll(withoutEarlyEchoes(connection, encoded).messages);
  if (encoded.close) connection.close(CloseCode.SnapshotNeeded, encoded.close);
}

function deliver(connection: Connection, parts: readonly Encoded[]): void {
  const [first] = parts;
  if (first && parts.length === 1) return deliverOne(connection, first);
  connection.sendAll(inOrder(parts.map((part) => withoutEarlyEchoes(connection, part))));
  for (const { close } of parts) if (close) return connection.close(CloseCode.SnapshotNeeded, close);
}

/** Sorts by number across channels: a client that has seen a number must have seen everything up to it. */
function inOrder(parts: readonly Encoded[]): Outgoing[] {
  const all = parts.flatMap(({ numbered }) => numbered).sort((a, b) => a.seq - b.seq);
  return all.map(({ message }) => message);
}

/**
 * Turns the echo of an action that was already echoed early into an action of the host: the client no longer waits for
 * it, but actions of others or a snapshot may have changed its view since.
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

/** Sorts the steps into groups, in order. */
function groupsOf(steps: readonly CommittedStep[], view: DialectView): TextGroup[] {
  const groups = new Map<string, TextStep[]>();
  for (const { channel, envelope, before, after, text } of steps) {
    const step = { envelope, before, after, text };
    const group = groupOf(channel.uri, view);
    const known = groups.get(group);
    if (known) known.push(step);
    else groups.set(group, [step]);
  }
  return [...groups].map(([channel, run]) => ({
    channel,
    steps: run,
    atHand: { steps: run },
    // A channel that did not act in this tick has the same state before and after.
    stateBefore: (uri) => {
      const first = run.find(({ envelope }) => envelope.channel === uri);
      return first ? first.before : (view.chatOf(uri) ?? view.sessionOf(uri));
    },
  }));
}
