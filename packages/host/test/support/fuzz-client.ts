/**
 * A client written from the text of the protocol, without our library: it keeps a mirror of every channel, resumes by
 * `reconnect`, sends again under the same number what was not acknowledged, and notes everything that a host must not do.
 * It knows no transport: somebody hands it texts and takes its texts away.
 */
import {
  type ActionEnvelope,
  type ActionOrigin,
  ErrorCode,
  type RootState,
  rootReducer,
  type SessionState,
  type Snapshot,
  type StateAction,
  sessionReducer,
} from '@atrium/protocol';
import { difference, withoutTimes } from './fuzz-difference.js';

export const ROOT = 'ahp-root://';

export interface Mirrored {
  readonly state: SessionState | RootState;
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
  readonly action: StateAction;
}

interface Message extends Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
}

export class FuzzClient {
  readonly channels = new Map<string, Mirrored>();
  /** Every envelope that ever came, live or in a replay. */
  readonly received: ActionEnvelope[] = [];
  /** Every action that was ever asked for: the one with the number n is at n - 1. */
  readonly dispatched: Dispatched[] = [];
  /** What the host did wrong. */
  readonly violations: string[] = [];
  /** Own numbers that have neither come back nor been called settled. */
  readonly pending = new Set<number>();
  /** Own numbers that were under way when it came back as a stranger: nobody can say what became of them. */
  readonly abandoned = new Set<number>();
  probes = 0;
  resumed = { replay: 0, snapshot: 0 };
  /** Asked for, and not left again while the answer was on its way. */
  readonly #subscribing = new Set<string>();
  readonly #echoed = new Set<number>();
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #post: ((text: string) => void) | undefined;
  #isOpen = false;
  #known = false;
  #lastSeen = 0;
  #nextId = 1;
  /** The numbers above are of its last beginning. */
  #began = 0;

  constructor(
    readonly clientId: string,
    readonly protocolVersions: readonly string[] = ['0.3.0', '0.2.0'],
    readonly wanted: readonly string[] = [ROOT],
  ) {}

  /** Whether the handshake is done. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  session(uri: string): SessionState | undefined {
    return this.channels.get(uri)?.state as SessionState | undefined;
  }

  get sessions(): [uri: string, state: SessionState][] {
    return [...this.channels].flatMap(([uri, { state }]) => (uri === ROOT ? [] : [[uri, state as SessionState]]));
  }

  /** A new connection: says hello, or takes up the last one. */
  attach(post: (text: string) => void, manner: Manner = 'resume'): void {
    this.#post = post;
    if (!this.#known || manner === 'anew') this.#initialize();
    else this.#reconnect(manner === 'snapshot' ? Number.MAX_SAFE_INTEGER : this.#lastSeen);
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
  dispatch(channel: string, action: StateAction): void {
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
      else if (error?.code !== ErrorCode.SessionNotFound) this.#wrong(`${uri} cannot be compared: ${error?.message}`);
      done();
    });
  }

  #compare(uri: string, { state, fromSeq }: Snapshot): void {
    const mirror = this.channels.get(uri);
    if (!mirror) return;
    this.probes += 1;
    if (mirror.seq > fromSeq) this.#wrong(`${uri} is seen up to ${mirror.seq}, the host is only at ${fromSeq}`);
    const found = difference(withoutTimes(mirror.state), withoutTimes(state));
    if (found) this.#wrong(`the mirror of ${uri} at ${fromSeq} is not what the host has: ${found}`);
  }

  receive(text: string): void {
    const message = JSON.parse(text) as Message;
    if (message.method === 'action') return this.#action(message.params as ActionEnvelope);
    if (message.method === 'root/sessionRemoved') this.channels.delete((message.params as { session: string }).session);
    if (message.method !== undefined || message.id === undefined) return;
    const answered = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    answered?.(message);
  }

  /** From the moment that this is sent, the host may count its numbers anew: what was under way stays unknown. */
  #initialize(): void {
    for (const clientSeq of this.pending) this.abandoned.add(clientSeq);
    this.pending.clear();
    this.#began = this.dispatched.length;
    const { clientId, protocolVersions, wanted } = this;
    const subscriptions = [...new Set([...wanted, ...this.channels.keys()])];
    const params = { channel: ROOT, protocolVersions, clientId, initialSubscriptions: subscriptions };
    this.request('initialize', params, ({ result, error }) => {
      if (!result) return this.#wrong(`initialize failed: ${error?.message}`);
      this.#known = true;
      this.#lastSeen = Number(result.serverSeq);
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
    for (const envelope of actions as ActionEnvelope[]) this.#action(envelope);
    for (const uri of missing as string[]) this.channels.delete(uri);
  }

  #restarted({ snapshots }: Record<string, unknown>): void {
    this.#lastSeen = 0;
    this.#replace(snapshots as Snapshot[]);
  }

  #replace(snapshots: readonly Snapshot[]): void {
    this.channels.clear();
    for (const snapshot of snapshots) this.#install(snapshot);
  }

  #install({ resource, state, fromSeq }: Snapshot): void {
    this.#lastSeen = Math.max(this.#lastSeen, fromSeq);
    this.channels.set(resource, { state: state as SessionState | RootState, seq: fromSeq });
  }

  #opened(): void {
    this.#isOpen = true;
    for (const clientSeq of this.pending) this.#sendAction(clientSeq);
  }

  #sendAction(clientSeq: number): void {
    const { channel, action } = this.dispatched[clientSeq - 1] ?? {};
    this.#send({ method: 'dispatchAction', params: { channel, clientSeq, action } });
  }

  #send(message: object): void {
    this.#post?.(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  #action(envelope: ActionEnvelope): void {
    const { channel, serverSeq, origin, rejectionReason } = envelope;
    this.received.push(envelope);
    this.#lastSeen = Math.max(this.#lastSeen, serverSeq);
    if (origin?.clientId === this.clientId) this.#echo(origin, envelope);
    else if (rejectionReason !== undefined) this.#wrong(`it was told of somebody else's rejection, ${serverSeq}`);
    if (rejectionReason !== undefined) return;
    const mirror = this.channels.get(channel);
    if (mirror) this.#reduce(mirror, envelope);
  }

  #reduce(mirror: Mirrored, { channel, serverSeq, action }: ActionEnvelope): void {
    if (serverSeq <= mirror.seq) return this.#wrong(`${channel} was told ${serverSeq} again, after ${mirror.seq}`);
    const context = { now: serverSeq };
    const state =
      channel === ROOT
        ? rootReducer(mirror.state as RootState, action, context)
        : sessionReducer(mirror.state as SessionState, action, context);
    this.channels.set(channel, { state, seq: serverSeq });
  }

  #echo({ clientSeq }: ActionOrigin, envelope: ActionEnvelope): void {
    if (this.#echoed.has(clientSeq)) this.#wrong(`its action ${clientSeq} came back twice`);
    const asked = this.dispatched[clientSeq - 1];
    const found = difference({ channel: envelope.channel, action: envelope.action }, asked);
    if (found) this.#wrong(`its action ${clientSeq} came back changed: ${found}`);
    this.#echoed.add(clientSeq);
    this.pending.delete(clientSeq);
  }

  #wrong(what: string): void {
    this.violations.push(`${this.clientId}: ${what}`);
  }
}
