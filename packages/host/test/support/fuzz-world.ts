/** A host in this process, a log that outlives it, and up to four clients: everything happens by the choice of a seed. */
import type { Snapshot } from '@atrium/protocol';
import { scriptedAgent } from '../../src/agents/scripted/scripted.js';
import { createHost, type Host } from '../../src/host.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import type { Logger } from '../../src/logger.js';
import { Ledger } from './crash-ledger.js';
import { FakeClock } from './fake-clock.js';
import { answer, randomAction, randomV1Action } from './fuzz-actions.js';
import { FuzzClient, type Manner, ROOT } from './fuzz-client.js';
import { type Death, LeasedLog } from './fuzz-leased-log.js';
import { FuzzLink } from './fuzz-link.js';
import type { Random } from './fuzz-random.js';
import { FUZZ_SCRIPT } from './fuzz-script.js';
import { FuzzV1Client } from './fuzz-v1-client.js';
import { settle } from './test-host.js';

const PEERS_MAX = 4;
const SESSIONS_MAX = 3;
/** Rounds after which everything that was begun has come to its end, or never will. */
const ROUNDS_TO_REST = 200;

interface Peer {
  readonly client: FuzzClient | FuzzV1Client;
  link: FuzzLink | undefined;
}

export class FuzzWorld {
  readonly ledger = new Ledger();
  restarts = 0;
  readonly #random: Random;
  readonly #kept = new MemoryLog();
  readonly #peers: Peer[] = [];
  /** Sessions that exist, and all that ever did. */
  readonly #sessions = new Set<string>();
  readonly #all: string[] = [];
  #clock = new FakeClock();
  #lease = new LeasedLog(this.#kept);
  #host: Host | undefined;
  #confirmed = new Map<FuzzClient, number>();

  /** A host that must log an error has failed at something. */
  readonly #logger: Logger = {
    log: (level, message, fields) => {
      if (level === 'error') this.ledger.violations.push(`the host says: ${message} ${JSON.stringify(fields)}`);
    },
  };

  private constructor(random: Random) {
    this.#random = random;
  }

  static async begin(random: Random): Promise<FuzzWorld> {
    const world = new FuzzWorld(random);
    await world.#start();
    const versions = [['0.3.0', '0.2.0'], ['0.2.0'], undefined] as const;
    const count = random.between(2, PEERS_MAX);
    for (let index = 1; index <= count; index++) {
      const offered = index === 1 ? versions[0] : random.pick(versions);
      const name = `peer-${index}`;
      const client = offered ? new FuzzClient(name, offered) : new FuzzV1Client(name);
      world.#peers.push({ client, link: undefined });
    }
    for (const peer of world.#peers) world.#connect(peer);
    await world.#readAll();
    world.#createSession();
    await world.#readAll();
    world.#subscribeAll();
    return world;
  }

  get violations(): string[] {
    return [...this.ledger.violations, ...this.#peers.flatMap(({ client }) => client.violations)];
  }

  get probes(): number {
    return this.#peers.reduce((sum, { client }) => sum + client.probes, 0);
  }

  /** One thing happens, and the host gets a little time for it. */
  async step(): Promise<void> {
    const random = this.#random;
    const roll = random.below(100);
    const peer = random.pick(this.#peers);
    if (!peer) return;
    if (roll < 46) this.#act(peer);
    else if (roll < 50) this.#repeat(peer);
    else if (roll < 56) this.#probe(peer);
    else if (roll < 68) await this.#clock.advance(random.pick([1, 5, 10, 20, 40]));
    else if (roll < 69) await this.#clock.advance(random.pick([31_000, 61_000]));
    else if (roll < 75) this.#drop(peer);
    else if (roll < 84) this.#connect(peer);
    else if (roll < 89) this.#turnTo(peer);
    else if (roll < 91) this.#createSession();
    else if (roll < 92) this.#disposeSession(peer);
    else if (roll < 94) await this.#restart();
    else if (peer.link) peer.link.isStalled = random.chance(0.5);
    await settle(random.below(4));
    this.#readSome();
    if (this.#lease.isDead) await this.#revive();
  }

  #act({ client }: Peer): void {
    const random = this.#random;
    const name = `${client.clientId}-${client.dispatched.length + 1}`;
    if (client instanceof FuzzV1Client) {
      const [uri, mirror] = random.pick([...client.sessions]) ?? [];
      const request = uri && mirror && randomV1Action(mirror.state, random, name);
      if (uri && request) client.dispatch(uri, request);
      return;
    }
    const [uri, state] = random.pick(client.sessions) ?? [];
    const action = uri && state && randomAction({ state, clientId: client.clientId, random, name });
    if (uri && action) client.dispatch(uri, action);
  }

  #repeat({ client }: Peer): void {
    if (client.isOpen && client.dispatched.length > 0) client.repeat(this.#random.between(1, client.dispatched.length));
  }

  #probe({ client }: Peer): void {
    if (!client.isOpen) return;
    const uris = client instanceof FuzzClient ? client.channels.keys() : client.sessions.keys();
    for (const uri of uris) client.probe(uri);
  }

  #drop(peer: Peer): void {
    peer.link?.cut();
    peer.link = undefined;
    peer.client.detach();
  }

  #connect(peer: Peer): void {
    if (peer.link) return;
    const link = new FuzzLink();
    peer.link = link;
    this.#host?.connect(link.transport);
    const post = (text: string) => link.post(text);
    const manner: Manner = this.#random.pick(['resume', 'resume', 'resume', 'snapshot', 'anew']);
    if (peer.client instanceof FuzzClient) peer.client.attach(post, manner);
    else peer.client.attach(post);
  }

  /** Subscribes to a session, or leaves one. */
  #turnTo({ client }: Peer): void {
    const uri = this.#random.pick([...this.#sessions]);
    if (!uri || !client.isOpen) return;
    if (client instanceof FuzzV1Client) {
      const session = uri.replace('ahp-session', 'mock');
      if (client.sessions.has(session)) client.unsubscribe(session);
      else client.subscribe(session);
    } else if (client.channels.has(uri)) client.unsubscribe(uri);
    else client.subscribe(uri);
  }

  #createSession(): void {
    const maker = this.#peers.find(({ client }) => client instanceof FuzzClient && client.isOpen)?.client;
    if (!(maker instanceof FuzzClient) || this.#sessions.size >= SESSIONS_MAX) return;
    const uri = `ahp-session:/fuzz-${this.#all.length + 1}`;
    this.#all.push(uri);
    this.#sessions.add(uri);
    maker.request('createSession', { channel: uri }, () => maker.subscribe(uri));
  }

  #disposeSession({ client }: Peer): void {
    const uri = this.#random.pick([...this.#sessions]);
    if (!uri || this.#sessions.size < 2 || !(client instanceof FuzzClient) || !client.isOpen) return;
    client.request('disposeSession', { channel: uri }, ({ error }) => {
      if (!error) this.#sessions.delete(uri);
    });
  }

  #subscribeAll(): void {
    for (const { client } of this.#peers) {
      for (const uri of this.#sessions) {
        if (client instanceof FuzzClient) client.subscribe(uri);
        else client.subscribe(uri.replace('ahp-session', 'mock'));
      }
    }
  }

  /** The host stops in good order, or dies: at once, or around its next commit. */
  async #restart(): Promise<void> {
    const death: Death | 'order' = this.#random.pick(['order', 'now', 'before-commit', 'after-commit']);
    if (death !== 'order' && !this.#lease.isDoomed) return this.#lease.die(death);
    if (!this.#lease.isDoomed) await this.#host?.stop();
    this.#lease.die('now');
  }

  async #revive(): Promise<void> {
    for (const peer of this.#peers) this.#drop(peer);
    this.#clock = new FakeClock(this.#clock.now());
    this.#lease = new LeasedLog(this.#kept);
    this.restarts += 1;
    await this.#start();
  }

  /** Starts a host and holds it to everything that is known, before anybody else talks to it. */
  async #start(): Promise<void> {
    const clock = this.#clock;
    const agents = [scriptedAgent(FUZZ_SCRIPT, { clock })];
    this.#host = await createHost({ log: this.#lease.log, agents, clock, logger: this.#logger });
    await settle();
    this.ledger.take(await this.#kept.read({ after: this.ledger.head }));
    const snapshots = await this.#snapshots();
    for (const snapshot of snapshots) this.ledger.compare(snapshot);
    this.#sessions.clear();
    for (const { resource } of snapshots) this.#sessions.add(resource);
    for (const { client } of this.#peers) if (client instanceof FuzzClient) this.#confirm(client);
  }

  async #snapshots(): Promise<Snapshot[]> {
    const observer = new FuzzClient('observer', undefined, this.#all);
    const link = new FuzzLink();
    this.#host?.connect(link.transport);
    observer.attach((text) => link.post(text), 'anew');
    while (link.unread.length === 0) await settle(1);
    const { result } = JSON.parse(link.unread[0] ?? '{}') as { result?: { snapshots?: Snapshot[] } };
    link.cut();
    return result?.snapshots ?? [];
  }

  /** Everything that a client was shown must be stored; deltas may have been merged on their way. */
  #confirm(client: FuzzClient): void {
    for (const envelope of client.received.slice(this.#confirmed.get(client) ?? 0)) {
      const { type } = envelope.action;
      if (type !== 'session/delta' && type !== 'session/reasoning') this.ledger.confirm(client.clientId, envelope);
    }
    this.#confirmed.set(client, client.received.length);
  }

  /** Each client reads some of what is there for it, perhaps nothing. */
  #readSome(): void {
    for (const peer of this.#peers) {
      this.#leaveCut(peer);
      const { unread = [], isClosed } = peer.link ?? {};
      const count = this.#random.chance(0.6) ? unread.length : this.#random.below(unread.length + 1);
      for (const text of unread.splice(0, count)) peer.client.receive(text);
      if (isClosed && unread.length === 0) this.#drop(peer);
    }
  }

  /** Version 1 cannot be told of a cut: the host hangs up in the middle of a tick, and the rest of that has no order. */
  #leaveCut(peer: Peer): void {
    if (peer.link?.isClosed && peer.client instanceof FuzzV1Client) this.#drop(peer);
  }

  async #readAll(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      await settle(3);
      for (const peer of this.#peers) {
        this.#leaveCut(peer);
        for (const text of peer.link?.unread.splice(0) ?? []) peer.client.receive(text);
        if (peer.link?.isClosed) this.#drop(peer);
      }
    }
  }

  /** Everybody comes back, everything that was begun comes to its end, and all accounts are settled. */
  async end(): Promise<void> {
    this.#lease.die('now');
    await this.#revive();
    for (let round = 0; round < ROUNDS_TO_REST; round++) {
      if (await this.#isAtRest(round)) break;
      await this.#clock.advance(50);
    }
    for (const peer of this.#peers) this.#probe(peer);
    await this.#readAll();
    this.#lease.die('now');
    await this.#revive();
    for (const { client } of this.#peers) this.#settle(client);
  }

  async #isAtRest(round: number): Promise<boolean> {
    for (const peer of this.#peers) {
      if (peer.link) peer.link.isStalled = false;
      this.#connect(peer);
    }
    await this.#readAll();
    const clients = this.#peers.flatMap(({ client }) => (client instanceof FuzzClient ? client : []));
    const [first] = clients;
    if (!first?.isOpen || this.#lease.isDead) return false;
    for (const uri of this.#sessions) if (!first.channels.has(uri)) first.subscribe(uri);
    await this.#readAll();
    const busy = first.sessions.filter(([, state]) => state.activeTurn);
    for (const [uri, state] of busy) {
      const cancel = { type: 'session/turnCancelled', turnId: state.activeTurn?.id ?? '' } as const;
      const helped = answer({ state, clientId: first.clientId, random: this.#random, name: 'rest' });
      const action = round > ROUNDS_TO_REST / 2 ? cancel : helped;
      if (action && round % 5 === 0) first.dispatch(uri, action);
    }
    await this.#readAll();
    return (
      busy.length === 0 && clients.every((client) => [...client.pending].every((seq) => this.#isGone(client, seq)))
    );
  }

  /** Whether an action was for a session that is not there any more: then nobody answers. */
  #isGone(client: FuzzClient, clientSeq: number): boolean {
    const channel = client.dispatched[clientSeq - 1]?.channel ?? '';
    return channel !== ROOT && !this.#sessions.has(channel);
  }

  #settle(client: FuzzClient | FuzzV1Client): void {
    if (client instanceof FuzzV1Client) return this.ledger.settleNumbers(client.clientId, client.accepted);
    for (const clientSeq of client.pending) {
      if (!this.#isGone(client, clientSeq))
        this.ledger.violations.push(`${client.clientId}: ${clientSeq} was never decided`);
    }
    this.ledger.settle(client, (clientSeq) => client.abandoned.has(clientSeq) || this.#isGone(client, clientSeq));
  }
}
