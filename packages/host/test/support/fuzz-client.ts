/**
 * A client written from the text of the protocol, without our library: it keeps a mirror of every channel, resumes by
 * `reconnect`, sends again under the same number what was not acknowledged, and notes everything that a host must not do.
 * It knows no transport: the test passes texts in both directions.
 *
 * One that counts anew is as the published clients of 0.2.0 are: its numbers begin at 1 on every connection, and it never
 * sends again what an earlier connection was given.
 */
import { createHash } from 'node:crypto';
import { ErrorCode, type SessionState, type Snapshot } from '@atrium/protocol';
import { channelKind } from '@atrium/protocol/ahp-1';
import { isClaim } from './crash-ledger.js';
import { sessionOf } from './fuzz-chats.js';
import { difference } from './fuzz-difference.js';
import type { FuzzNames } from './fuzz-names.js';
import { type AnyAction, type AnyEnvelope, type FuzzWire, wireOf, withMembersOf } from './fuzz-wire.js';

export const ROOT = 'ahp-root://';

export interface Mirrored {
  readonly state: object;
  /** The number that the state is true at. */
  readonly seq: number;
}

export interface Answer {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** How to come back: by replay where possible, by snapshots (as from a host whose counter went back), or as a stranger. */
export type Manner = 'resume' | 'snapshot' | 'anew';

export interface Dispatched {
  readonly channel: string;
  readonly action: AnyAction;
}

interface Message extends Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
}

export class FuzzClient {
  readonly channels = new Map<string, Mirrored>();
  /** Every envelope that ever came, live or in a replay. */
  readonly received: AnyEnvelope[] = [];
  /** Every action that was ever asked for: the one with the number n is at n - 1. */
  readonly dispatched: Dispatched[] = [];
  /** What the host did wrong. */
  readonly violations: string[] = [];
  /** Own numbers that have neither come back nor been called settled. */
  readonly pending = new Set<number>();
  /** Own numbers that were under way when it came back as a stranger: it is not known what became of them. */
  readonly abandoned = new Set<number>();
  /** Chats that it wants to be disposed: a snapshot that is on its way at that moment may lack turns. */
  readonly leaving = new Set<string>();
  probes = 0;
  resumed = { replay: 0, snapshot: 0 };
  /** Asked for, and not left again while the answer was on its way. */
  readonly #subscribing = new Set<string>();
  /** How each own number was answered, and how often it was sent on this connection. */
  readonly #answers = new Map<number, Pick<AnyEnvelope, 'serverSeq' | 'rejectionReason'>>();
  readonly #sent = new Map<number, number>();
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #post: ((text: string) => void) | undefined;
  #isOpen = false;
  #known = false;
  #lastSeen = 0;
  #nextId = 1;
  /** The greatest number of this connection, whatever the channel: the next one must be above it. */
  #highest = 0;
  /** The numbers above are of its last beginning. */
  #began = 0;
  /** What is taken off a number on the wire: so many were dispatched before this connection. */
  #base = 0;

  readonly #wire: FuzzWire;

  constructor(
    readonly clientId: string,
    readonly protocolVersions: readonly string[] = ['0.3.0', '0.2.0'],
    readonly wanted: readonly string[] = [ROOT],
    readonly countsAnew = false,
    /** How it calls sessions, when not as the host does. */
    readonly names?: FuzzNames | undefined,
  ) {
    this.#wire = wireOf(this.version);
  }

  /** What it speaks: the first of what it offers. */
  get version(): string {
    return this.protocolVersions[0] ?? '';
  }

  /** As a failed test names it. */
  get name(): string {
    return `${this.clientId} (${this.version}${this.countsAnew ? ', counts anew' : ''}${this.names ? ', other names' : ''})`;
  }

  get hasChats(): boolean {
    return this.#wire.hasChats;
  }

  /** Whether the handshake is done. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The sessions that it watches, as versions without chats have them. */
  get sessions(): [uri: string, state: SessionState][] {
    return this.watched.map((uri) => [uri, this.channels.get(uri)?.state as SessionState]);
  }

  /** The sessions that it watches, be it only their chats. */
  get watched(): string[] {
    const uris = [...this.channels.keys()].filter((uri) => uri !== ROOT);
    return [...new Set(uris.map(sessionOf))];
  }

  /** A new connection: says hello, or takes up the last one. */
  attach(post: (text: string) => void, manner: Manner = 'resume'): void {
    this.#post = post;
    if (this.countsAnew) this.#countAnew();
    if (!this.#known || manner === 'anew') this.#initialize();
    else this.#reconnect(manner === 'snapshot' ? Number.MAX_SAFE_INTEGER : this.#lastSeen);
  }

  /** What an earlier connection was given is forgotten; what waited for this one is numbered now. */
  #countAnew(): void {
    for (const clientSeq of this.pending) if (this.#sent.has(clientSeq)) this.abandoned.add(clientSeq);
    for (const clientSeq of this.abandoned) this.pending.delete(clientSeq);
    this.#base = Math.min(this.dispatched.length, ...[...this.pending].map((clientSeq) => clientSeq - 1));
    this.#began = this.#base;
  }

  /** The connection is gone, and with it everything that was on its way. */
  detach(): void {
    this.#post = undefined;
    this.#isOpen = false;
    this.#waiting.clear();
  }

  request(method: string, params: object, answered: (answer: Answer) => void = () => {}): void {
    const id = this.#nextId++;
    this.#waiting.set(id, answered);
    this.#send({ id, method, params });
  }

  subscribe(uri: string, answered: (answer: Answer) => void = () => {}): void {
    this.#subscribing.add(uri);
    this.request('subscribe', { channel: uri }, (answer) => {
      const { snapshot } = (answer.result ?? {}) as { snapshot?: Snapshot };
      if (snapshot) this.#highest = Math.max(this.#highest, snapshot.fromSeq);
      if (snapshot && this.#subscribing.has(uri)) this.#install(snapshot);
      answered(answer);
    });
  }

  unsubscribe(uri: string): void {
    this.channels.delete(uri);
    this.#subscribing.delete(uri);
    this.#send({ method: 'unsubscribe', params: { channel: uri } });
  }

  /** Asks for an action; without a connection it waits for the next. */
  dispatch(channel: string, action: AnyAction): void {
    this.dispatched.push({ channel, action });
    this.pending.add(this.dispatched.length);
    if (this.#isOpen) this.#sendAction(this.dispatched.length);
  }

  /** Sends once more what was sent already, as a client does that is not sure. Its numbers count since it last began. */
  repeat(clientSeq: number): void {
    if (this.#isOpen && clientSeq > this.#began) this.#sendAction(clientSeq);
  }

  /** Asks for a fresh snapshot and compares the mirror with it: at the answer, in order, both must be the same. */
  probe(uri: string, done: () => void = () => {}): void {
    this.request('subscribe', { channel: uri }, ({ result, error }) => {
      if (result) this.#compare(uri, result.snapshot as Snapshot);
      else if (!isGone(uri, error?.code)) this.#wrong(`${uri} cannot be compared: ${error?.message}`);
      done();
    });
  }

  #compare(uri: string, { state, fromSeq }: Snapshot): void {
    const mirror = this.channels.get(uri);
    if (!mirror || this.leaving.has(uri)) return;
    this.probes += 1;
    this.#highest = Math.max(this.#highest, fromSeq);
    if (mirror.seq > fromSeq) this.#wrong(`${uri} is seen up to ${mirror.seq}, the host is only at ${fromSeq}`);
    const found = difference(this.#wire.comparable(mirror.state), this.#wire.comparable(state));
    if (found) this.#wrong(`the mirror of ${uri} at ${fromSeq} is not what the host has: ${found}`);
  }

  /** Reads the tool input that its mirrors hold by reference: what is read must be what was named. */
  readInputs({ isAtRest = false } = {}): void {
    for (const [uri] of JSON.stringify([...this.channels]).matchAll(/atrium-input:[^"]*/g)) {
      this.request('resourceRead', { channel: ROOT, uri }, ({ result, error }) => {
        const hash = createHash('sha256').update(String(result?.data)).digest('hex');
        if (result && !uri.endsWith(hash)) this.#wrong(`${uri} was read as something else`);
        if (error && (isAtRest || error.code !== ErrorCode.NotFound)) this.#wrong(`${uri}: ${error.message}`);
      });
    }
  }

  receive(text: string): void {
    if (this.names) this.#checkNames(text, this.names);
    const message = JSON.parse(this.names?.in(text) ?? text) as Message;
    if (message.method === 'action') return this.#action(message.params as AnyEnvelope);
    if (message.method === 'root/sessionRemoved') this.#removed((message.params as { session: string }).session);
    if (message.method !== undefined || message.id === undefined) return;
    const answered = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    answered?.(message);
  }

  #removed(session: string): void {
    for (const channel of this.channels.keys()) if (sessionOf(channel) === session) this.channels.delete(channel);
  }

  /** From the moment that this is sent, the host may count its numbers anew: what was under way stays unknown. */
  #initialize(): void {
    for (const clientSeq of this.pending) this.abandoned.add(clientSeq);
    this.pending.clear();
    this.#began = this.dispatched.length;
    if (this.countsAnew) this.#base = this.#began;
    const { clientId, protocolVersions, wanted } = this;
    const subscriptions = [...new Set([...wanted, ...this.channels.keys()])];
    const { greeting = {} } = this.names ?? {};
    const params = { channel: ROOT, protocolVersions, clientId, initialSubscriptions: subscriptions, ...greeting };
    this.request('initialize', params, ({ result, error }) => {
      if (!result) return this.#wrong(`initialize failed: ${error?.message}`);
      this.#known = true;
      this.#lastSeen = Number(result.serverSeq);
      this.#highest = this.#lastSeen;
      this.#replace(result.snapshots as Snapshot[]);
      this.#opened();
    });
  }

  #reconnect(lastSeenServerSeq: number): void {
    const subscriptions = [...this.channels.keys()];
    const numbers = { lastSeenServerSeq, pending: [...this.pending] };
    this.request('reconnect', { channel: ROOT, clientId: this.clientId, subscriptions, ...numbers }, (answer) => {
      const { result, error } = answer;
      if (!result) return this.#wrong(`reconnect failed: ${error?.message}`);
      const isAhead = lastSeenServerSeq === Number.MAX_SAFE_INTEGER;
      if (isAhead && result.type === 'replay') this.#wrong('it was far ahead of the host, and got a replay');
      if (result.type === 'replay') this.#replayed(result);
      else this.#restarted(result);
      this.resumed[result.type as 'replay' | 'snapshot'] += 1;
      for (const clientSeq of (result.settled ?? []) as number[]) this.pending.delete(clientSeq);
      this.#opened();
    });
  }

  #replayed({ actions, missing }: Record<string, unknown>): void {
    this.#highest = this.#lastSeen;
    for (const envelope of actions as AnyEnvelope[]) this.#action(envelope);
    for (const uri of missing as string[]) this.channels.delete(uri);
  }

  #restarted({ snapshots }: Record<string, unknown>): void {
    this.#lastSeen = 0;
    this.#replace(snapshots as Snapshot[]);
    this.#highest = this.#lastSeen;
  }

  #replace(snapshots: readonly Snapshot[]): void {
    this.channels.clear();
    for (const snapshot of snapshots) this.#install(snapshot);
  }

  #install({ resource, state, fromSeq }: Snapshot): void {
    this.#lastSeen = Math.max(this.#lastSeen, fromSeq);
    this.channels.set(resource, { state: state as object, seq: fromSeq });
  }

  #opened(): void {
    this.#isOpen = true;
    for (const clientSeq of this.pending) this.#sendAction(clientSeq);
  }

  #sendAction(clientSeq: number): void {
    const { channel, action } = this.dispatched[clientSeq - 1] ?? {};
    this.#sent.set(clientSeq, (this.#sent.get(clientSeq) ?? 0) + 1);
    this.#send({ method: 'dispatchAction', params: { channel, clientSeq: clientSeq - this.#base, action } });
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#post?.(this.names?.out(text) ?? text);
  }

  #checkNames(text: string, { mayHear }: FuzzNames): void {
    const { method, params } = JSON.parse(text) as { method?: string; params?: { channel?: string } };
    const { channel = ROOT } = params ?? {};
    if (method === 'action' && channel !== ROOT && !mayHear(channel)) this.#wrong(`it was told of ${channel}`);
  }

  #action(envelope: AnyEnvelope): void {
    const { channel, serverSeq, origin, rejectionReason } = envelope;
    this.received.push(envelope);
    this.#lastSeen = Math.max(this.#lastSeen, serverSeq);
    this.#checkNumber(envelope);
    if (origin?.clientId === this.clientId) this.#echo(origin, envelope);
    else if (rejectionReason !== undefined) this.#wrong(`it was told of another client's rejection, ${serverSeq}`);
    if (rejectionReason !== undefined) return;
    if (envelope.action.type === 'session/chatRemoved') this.channels.delete(String(envelope.action.chat));
    const mirror = this.channels.get(channel);
    if (mirror) this.#reduce(mirror, envelope);
  }

  /** Some clients keep one number for all channels, and drop what is not above it. */
  #checkNumber({ channel, serverSeq, origin }: AnyEnvelope): void {
    if (serverSeq <= this.#highest && !this.#isAnswerAgain(origin))
      this.#wrong(`${channel} was told ${serverSeq}, after ${this.#highest} on some channel`);
    this.#highest = Math.max(this.#highest, serverSeq);
  }

  /** Whether an own action may come back under an old number: its number stands for an action that the host knows. */
  #isAnswerAgain(origin: AnyEnvelope['origin']): boolean {
    if (origin?.clientId !== this.clientId) return false;
    return this.countsAnew || (this.#sent.get(origin.clientSeq) ?? 0) > 1;
  }

  #reduce(mirror: Mirrored, envelope: AnyEnvelope): void {
    const { channel, serverSeq, origin } = envelope;
    if (serverSeq <= mirror.seq) {
      if (!this.#isAnswerAgain(origin)) this.#wrong(`${channel} was told ${serverSeq} again, after ${mirror.seq}`);
      return;
    }
    this.channels.set(channel, { state: this.#wire.reduce(channel, mirror.state, envelope), seq: serverSeq });
  }

  #echo(origin: { readonly clientSeq: number }, envelope: AnyEnvelope): void {
    const clientSeq = origin.clientSeq + this.#base;
    const asked = this.dispatched[clientSeq - 1];
    const { channel, rejectionReason } = envelope;
    // A host adds what a client of a version with chats left out, as when a turn began.
    const isFilled = this.hasChats && rejectionReason === undefined;
    const action = isFilled ? withMembersOf(envelope.action, asked?.action) : envelope.action;
    const found = difference({ channel, action }, asked);
    // An echo of an earlier connection's action has a number that says nothing here.
    if (this.countsAnew && (found || !this.#sent.has(clientSeq))) return;
    if (found) this.#wrong(`its action ${clientSeq} came back changed: ${found}`);
    this.#checkAgain(clientSeq, envelope);
    this.#answers.set(clientSeq, envelope);
    this.pending.delete(clientSeq);
  }

  /** What is answered again is answered as before, and only because it was sent again. */
  #checkAgain(clientSeq: number, { serverSeq, rejectionReason }: AnyEnvelope): void {
    const before = this.#answers.get(clientSeq);
    const asked = this.dispatched[clientSeq - 1]?.action;
    if (!before || !asked || this.countsAnew || isClaim(asked)) return;
    if ((this.#sent.get(clientSeq) ?? 0) < 2) this.#wrong(`its action ${clientSeq} came back twice`);
    if (before.rejectionReason !== rejectionReason) this.#wrong(`its action ${clientSeq} was judged a second time`);
    const isApplied = rejectionReason === undefined && before.serverSeq !== serverSeq;
    if (isApplied) this.#wrong(`its action ${clientSeq} was taken as ${before.serverSeq} and as ${serverSeq}`);
  }

  #wrong(what: string): void {
    this.violations.push(`${this.name}: ${what}`);
  }
}

/** Whether an error says that there is no such channel. */
function isGone(uri: string, code: number | undefined): boolean {
  return code === ErrorCode.SessionNotFound || (channelKind(uri) === 'chat' && code === ErrorCode.NotFound);
}
