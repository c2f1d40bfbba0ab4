/** A host, a log that outlives it, and clients of all versions: everything happens by the choice of a seed. */
import { InputReferences } from '@atrium/core/tool-calls/input-references.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { Ledger, STREAMED } from './crash-ledger.js';
import { answer } from './fuzz-actions.js';
import { furtherChat, isFurtherChat, sessionOf } from './fuzz-chats.js';
import { FuzzClient, ROOT } from './fuzz-client.js';
import { MortalHost } from './fuzz-mortal-host.js';
import { byProvider, plainChats } from './fuzz-names.js';
import { FuzzPeer } from './fuzz-peer.js';
import type { Random } from './fuzz-random.js';
import { FUZZ_INLINE_MAX_CHARACTERS } from './fuzz-script.js';
import { FuzzSessionsV1Client } from './fuzz-sessions-v1-client.js';
import { said, seenBy } from './fuzz-speech.js';
import { settle } from './test-host.js';

const PEERS_MAX = 4;
const SESSIONS_MAX = 3;
/** What clients offer: each version alone, and ours as our own library offers it. */
const OFFERS = [
  ['1.0.0'],
  ['0.9.0'],
  ['0.7.0'],
  ['0.6.0'],
  ['0.5.2'],
  ['0.5.1'],
  ['0.5.0'],
  ['0.3.0', '0.2.0'],
  ['0.2.0'],
] as const;
/**
 * Beside them, clients that number their actions anew on every connection, clients that call sessions and chats otherwise,
 * and the oldest wire.
 */
const ALL = [
  ...OFFERS,
  'counts anew',
  'counts anew with chats',
  'names by provider',
  'names by provider, unsaid',
  'names of plain chats',
  undefined,
] as const;
/** Rounds after which everything that was begun has come to its end, or never will. */
const ROUNDS_TO_REST = 200;

export class FuzzWorld {
  readonly #ledger: Ledger;
  readonly #host: MortalHost;
  readonly #random: Random;
  readonly #peers: FuzzPeer[] = [];
  /** Sessions that exist, and all that ever did. */
  readonly #sessions = new Set<string>();
  readonly #all: string[] = [];
  readonly #confirmed = new Map<FuzzClient, number>();

  /** Further chats that exist, and how many ever did. */
  readonly #chats = new Set<string>();
  readonly #everyChat: string[] = [];
  #chatCount = 0;

  private constructor(
    random: Random,
    private readonly isMixed: boolean,
    hasLongInput: boolean,
  ) {
    this.#random = random;
    const inputs = new InputReferences({ inlineMaxCharacters: FUZZ_INLINE_MAX_CHARACTERS });
    this.#ledger = new Ledger(hasLongInput ? inputs.referTo : undefined);
    // A host that must log an error has failed at something.
    const log: Logger['log'] = (level, message, fields) => {
      if (level === 'error') this.#ledger.violations.push(`the host says: ${message} ${JSON.stringify(fields)}`);
    };
    this.#host = new MortalHost({ log }, hasLongInput);
  }

  /** A few clients of versions that the seed chooses, or one of each version. Odd seeds have long tool input. */
  static async begin(random: Random, { isMixed = false } = {}): Promise<FuzzWorld> {
    const world = new FuzzWorld(random, isMixed, random.seed % 2 === 1);
    await world.#start();
    world.#invite(isMixed ? ALL : world.#someVersions());
    await world.#readAll();
    world.#createSession();
    await world.#readAll();
    for (const peer of world.#peers) for (const uri of world.#sessions) peer.subscribe(uri);
    return world;
  }

  /** The first one can do everything; the others are as they come. */
  #someVersions(): (typeof ALL)[number][] {
    const others = Array.from({ length: this.#random.between(1, PEERS_MAX - 1) }, () => this.#random.pick(ALL));
    return [this.#random.pick(OFFERS), ...others];
  }

  #invite(versions: readonly (typeof ALL)[number][]): void {
    for (const [index, offered] of versions.entries()) {
      this.#peers.push(new FuzzPeer(clientOf(`peer-${index + 1}`, offered), this.#random));
    }
    for (const peer of this.#peers) peer.connect(this.#host.host);
  }

  get violations(): string[] {
    return [...this.#ledger.violations, ...this.#peers.flatMap(({ client }) => client.violations)];
  }

  get probes(): number {
    return this.#peers.reduce((sum, { client }) => sum + client.probes, 0);
  }

  get #clients(): FuzzClient[] {
    return this.#peers.flatMap(({ client }) => (client instanceof FuzzClient ? client : []));
  }

  /** One thing happens, and the host gets a little time for it. */
  async step(): Promise<void> {
    const random = this.#random;
    const roll = random.below(100);
    const peer = random.pick(this.#peers);
    if (!peer) return;
    if (this.isMixed && roll < 16) this.#withChats()?.actInChat();
    else if (this.isMixed && roll < 22) this.#changeChats(this.#withChats() ?? peer);
    else if (roll < 46) peer.act();
    else if (roll < 50) peer.repeat();
    else if (roll < 56) peer.probe();
    else if (roll < 68) await this.#host.advance(random.pick([1, 5, 10, 20, 40]));
    else if (roll < 69) await this.#host.advance(random.pick([31_000, 61_000]));
    else if (roll < 75) peer.drop();
    else if (roll < 84) peer.connect(this.#host.host);
    else if (roll < 89) this.#turn(peer);
    else if (roll < 91) this.#createSession();
    else if (roll < 92) this.#disposeSession(peer);
    else if (roll < 94) await this.#host.end(random.pick(['order', 'now', 'before-commit', 'after-commit']));
    else peer.stall(random.chance(0.5));
    await settle(random.below(4));
    for (const reader of this.#peers) reader.readSome();
    if (this.#host.isDead) await this.#start();
  }

  #turn(peer: FuzzPeer): void {
    const uri = this.#random.pick([...this.#sessions]);
    if (uri) peer.turnTo(uri);
  }

  #withChats(): FuzzPeer | undefined {
    return this.#random.pick(this.#peers.filter(({ mayOpenChats }) => mayOpenChats));
  }

  #changeChats(peer: FuzzPeer): void {
    const session = this.#random.pick([...this.#sessions]);
    const chat = this.#random.pick([...this.#chats]);
    if (chat !== undefined && this.#random.chance(0.4)) return peer.watchChat(chat);
    if (chat !== undefined && this.#random.chance(0.3)) return peer.closeChat(chat, () => this.#chats.delete(chat));
    if (session === undefined) return;
    const name = furtherChat(session, ++this.#chatCount);
    this.#everyChat.push(name);
    peer.openChat(session, name, () => this.#chats.add(name));
  }

  #createSession(): void {
    const peer = this.#peers.find(({ client }) => client instanceof FuzzClient && client.isOpen);
    if (!peer || this.#sessions.size >= SESSIONS_MAX) return;
    const uri = `ahp-session:/fuzz-${this.#all.length + 1}`;
    this.#all.push(uri);
    this.#sessions.add(uri);
    peer.client.request('createSession', { channel: uri }, () => peer.subscribe(uri));
  }

  #disposeSession({ client }: FuzzPeer): void {
    const uri = this.#random.pick([...this.#sessions]);
    if (!uri || this.#sessions.size < 2 || !(client instanceof FuzzClient) || !client.isOpen) return;
    client.request('disposeSession', { channel: uri }, ({ error }) => {
      if (!error) this.#sessions.delete(uri);
    });
  }

  /** Starts the host and holds it to everything that is known, before anybody else talks to it. */
  async #start(): Promise<void> {
    for (const peer of this.#peers) peer.drop();
    await this.#host.start();
    this.#ledger.take(await this.#host.entries(this.#ledger.head));
    const snapshots = await this.#host.snapshots(this.#all, this.#everyChat);
    for (const snapshot of snapshots) this.#ledger.compare(snapshot);
    this.#sessions.clear();
    this.#chats.clear();
    for (const { resource } of snapshots) {
      this.#sessions.add(sessionOf(resource));
      if (isFurtherChat(resource)) this.#chats.add(resource);
    }
    for (const client of this.#clients) this.#confirm(client);
  }

  /** Everything that a client was shown must be stored; deltas may have been merged on their way. */
  #confirm(client: FuzzClient): void {
    for (const envelope of client.received.slice(this.#confirmed.get(client) ?? 0)) {
      if (!STREAMED.has(envelope.action.type)) this.#ledger.confirm(client, envelope);
    }
    this.#confirmed.set(client, client.received.length);
  }

  async #readAll(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      await settle(3);
      for (const peer of this.#peers) peer.readAll();
    }
  }

  /** Everybody comes back, everything that was begun comes to its end, and all accounts are settled. */
  async end(): Promise<void> {
    await this.#restart();
    for (let round = 0; round < ROUNDS_TO_REST; round++) {
      if (await this.#isAtRest(round)) break;
      await this.#host.advance(50);
    }
    for (const peer of this.#peers) peer.probe();
    for (const client of this.#clients) if (client.isOpen) client.readInputs({ isAtRest: true });
    await this.#readAll();
    for (const client of this.#clients) this.#checkGone(client);
    await this.#restart();
    for (const { client } of this.#peers) this.#settle(client);
  }

  async #restart(): Promise<void> {
    await this.#host.end('now');
    await this.#start();
  }

  async #isAtRest(round: number): Promise<boolean> {
    for (const peer of this.#peers) {
      peer.stall(false);
      peer.connect(this.#host.host);
    }
    await this.#readAll();
    const [peer] = this.#peers;
    if (!(peer?.client instanceof FuzzClient) || !peer.client.isOpen) return false;
    const { client: first } = peer;
    for (const uri of this.#sessions) if (!isWatchedWhole(first, uri)) peer.subscribe(uri);
    await this.#readAll();
    const busy = first.watched.filter((uri) => seenBy(first, uri)?.turn !== undefined);
    if (round % 5 === 0) this.#help(first, round);
    await this.#readAll();
    return busy.length === 0 && this.#clients.every((client) => this.#undecided(client).length === 0);
  }

  /** Answers what waits for an answer; what is still there after a long time is called off. */
  #help(client: FuzzClient, round: number): void {
    for (const uri of client.watched) {
      const seen = seenBy(client, uri);
      if (seen?.turn === undefined) continue;
      const cancel = { wants: 'cancel', turnId: seen.turn } as const;
      const intent = round > ROUNDS_TO_REST / 2 ? cancel : answer({ seen, random: this.#random, name: 'rest' });
      if (!intent) continue;
      const { channel, action } = said(client, uri, intent);
      client.dispatch(channel, action);
    }
  }

  /** A session that was disposed is gone for everybody, also for those who were away. */
  #checkGone({ clientId, watched }: FuzzClient): void {
    for (const uri of watched) {
      if (!this.#sessions.has(uri)) this.#ledger.violations.push(`${clientId} still shows ${uri}, which is gone`);
    }
  }

  /** The host does not answer for a session that is gone. */
  #undecided(client: FuzzClient): number[] {
    return [...client.pending].filter((clientSeq) => !this.#isGone(client, clientSeq));
  }

  #isGone(client: FuzzClient, clientSeq: number): boolean {
    const channel = client.dispatched[clientSeq - 1]?.channel ?? '';
    if (isFurtherChat(channel) && !this.#chats.has(channel)) return true;
    return channel !== ROOT && !this.#sessions.has(sessionOf(channel));
  }

  #settle(client: FuzzClient | FuzzSessionsV1Client): void {
    if (client instanceof FuzzSessionsV1Client) return this.#ledger.settleNumbers(client.clientId, client.accepted);
    for (const clientSeq of this.#undecided(client)) {
      const { action } = client.dispatched[clientSeq - 1] ?? {};
      this.#ledger.violations.push(`${client.name}: ${clientSeq} (${action?.type}) was never decided`);
    }
    if (client.countsAnew) return this.#ledger.settleActions(client);
    this.#ledger.settle(client, (clientSeq) => client.abandoned.has(clientSeq) || this.#isGone(client, clientSeq));
  }
}

function clientOf(name: string, offered: (typeof ALL)[number]): FuzzClient | FuzzSessionsV1Client {
  if (offered === undefined) return new FuzzSessionsV1Client(name);
  if (offered === 'counts anew') return new FuzzClient(name, ['0.2.0'], [ROOT], true);
  if (offered === 'counts anew with chats') return new FuzzClient(name, ['0.9.0'], [ROOT], true);
  if (offered === 'names by provider') {
    const names = byProvider({ clientInfo: { name: 'vscode-agents-window' } });
    return new FuzzClient(name, ['0.9.0'], [ROOT], false, names);
  }
  if (offered === 'names by provider, unsaid') return new FuzzClient(name, ['0.5.1'], [ROOT], false, byProvider());
  if (offered === 'names of plain chats') return new FuzzClient(name, ['1.0.0'], [ROOT], false, plainChats);
  return new FuzzClient(name, offered);
}

function isWatchedWhole({ channels, hasChats }: FuzzClient, uri: string): boolean {
  return channels.has(uri) && (!hasChats || channels.has(defaultChatUri(uri)));
}
