/**
 * A small host for tests: real reducers, one sequence, replay, snapshots, echoes; and whatever a test scripts.
 * It answers at once and keeps every envelope, so that tests decide alone what is lost and when.
 */
import {
  type ActionEnvelope,
  type ActionOrigin,
  type ChatState,
  channelKind,
  reducers,
  type SessionState,
  type Snapshot,
  type StateAction,
} from '@atrium/protocol/ahp-1';
import type { Transport } from '../../src/index.js';
import { ROOT, summary } from './states.js';

type Params = Record<string, unknown> & { channel: string };
type State = Snapshot['state'];
type Reduce = (state: State, action: StateAction) => State;

/** Throw it from a script to answer with an error. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    message = 'refused',
    readonly data?: unknown,
  ) {
    super(message);
  }
}

export class FakeConnection {
  readonly subscribed = new Set<string>();
  clientId = '';

  constructor(
    readonly transport: Transport,
    readonly host: FakeHost,
  ) {
    transport.onMessage((text) => host.receive(this, JSON.parse(text)));
  }

  send(message: object): void {
    this.transport.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }
}

const REDUCERS = reducers as unknown as Record<string, Reduce>;

export class FakeHost {
  /** Whether it goes beyond the protocol: windows, settled numbers, and taking each number of a client once. */
  extended = true;
  resumeBy: 'replay' | 'snapshot' = 'replay';
  /** How many turns `fetchTurns` brings. */
  pageSize = 3;
  seq = 0;
  readonly states = new Map<string, State>([[ROOT, { agents: [] }]]);
  readonly log: ActionEnvelope[] = [];
  /** Every request and notification that came, in order. */
  readonly heard: { id?: number; method: string; params: Params; result?: unknown; error?: unknown }[] = [];
  readonly connections: FakeConnection[] = [];
  /** What a test wants answered otherwise. */
  readonly scripts = new Map<string, (params: Params, connection: FakeConnection) => unknown>();
  /** A reason to reject an action. */
  judge: (action: StateAction) => string | undefined = () => undefined;
  /** Whether an action has to wait until `release`. */
  defers: (action: StateAction) => boolean = () => false;
  readonly held: { channel: string; action: StateAction; origin: ActionOrigin }[] = [];
  /** `clientId/clientSeq` of all that was accepted for a decision, and of all that was decided. */
  readonly taken = new Set<string>();
  readonly decided = new Set<string>();

  accept(transport: Transport): FakeConnection {
    const connection = new FakeConnection(transport, this);
    this.connections.push(connection);
    return connection;
  }

  get connection(): FakeConnection {
    const connection = this.connections.at(-1);
    if (!connection) throw new Error('nobody has connected');
    return connection;
  }

  sessionOf(uri: string): SessionState {
    return this.states.get(uri) as SessionState;
  }

  chatOf(uri: string): ChatState {
    return this.states.get(uri) as ChatState;
  }

  /** All params that came with a method. */
  params(method: string): Params[] {
    return this.heard.filter((message) => message.method === method).map(({ params }) => params);
  }

  notify(method: string, params: object): void {
    for (const connection of this.connections) connection.send({ method, params });
  }

  /** An action happens: one number, one step of the reducer, one envelope to every subscriber and its originator. */
  act(channel: string, action: StateAction, origin?: ActionOrigin): ActionEnvelope {
    this.seq += 1;
    const state = this.states.get(channel);
    if (state) this.states.set(channel, REDUCERS[channelKind(channel)]?.(state, action) ?? state);
    const envelope: ActionEnvelope = { channel, action, serverSeq: this.seq, ...(origin ? { origin } : {}) };
    this.log.push(envelope);
    for (const connection of this.connections) {
      const isOrigin = origin !== undefined && connection.clientId === origin.clientId;
      if (isOrigin || connection.subscribed.has(channel)) connection.send({ method: 'action', params: envelope });
    }
    return envelope;
  }

  /** What was held now happens. */
  release(): void {
    for (const { channel, action, origin } of this.held.splice(0)) this.#decide(channel, action, origin);
  }

  receive(connection: FakeConnection, message: (typeof this.heard)[number]): void {
    this.heard.push(message);
    if (message.id === undefined) this.#notified(connection, message.method, message.params);
    else if (message.method) connection.send({ id: message.id, ...this.#answer(connection, message) });
  }

  #notified(connection: FakeConnection, method: string, params: Params): void {
    if (method === 'unsubscribe') connection.subscribed.delete(params.channel);
    if (method !== 'dispatchAction' || !this.states.has(params.channel)) return;
    const origin = { clientId: connection.clientId, clientSeq: params.clientSeq as number };
    const key = `${origin.clientId}/${origin.clientSeq}`;
    if (this.extended && this.taken.has(key)) return;
    this.taken.add(key);
    const action = params.action as StateAction;
    if (this.defers(action)) this.held.push({ channel: params.channel, action, origin });
    else this.#decide(params.channel, action, origin);
  }

  #decide(channel: string, action: StateAction, origin: ActionOrigin): void {
    this.decided.add(`${origin.clientId}/${origin.clientSeq}`);
    const rejectionReason = this.judge(action);
    if (rejectionReason === undefined) {
      this.act(channel, action, origin);
      return;
    }
    const envelope = { channel, action, serverSeq: ++this.seq, origin, rejectionReason };
    for (const connection of this.connections) {
      if (connection.clientId === origin.clientId) connection.send({ method: 'action', params: envelope });
    }
  }

  #answer(connection: FakeConnection, { method, params }: { method: string; params: Params }): object {
    try {
      const script = this.scripts.get(method);
      return { result: script ? script(params, connection) : this.answer(connection, method, params) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { error: { code: error.code, message: error.message, data: error.data } };
    }
  }

  /** The answer without any script. */
  answer(connection: FakeConnection, method: string, params: Params): unknown {
    switch (method) {
      case 'initialize':
        connection.clientId = params.clientId as string;
        return this.#initialize(connection, params);
      case 'reconnect':
        connection.clientId = params.clientId as string;
        return this.#reconnect(connection, params);
      case 'subscribe':
        return this.#subscribe(connection, params);
      case 'listSessions':
        return {
          items: [...this.states]
            .filter(([uri]) => channelKind(uri) === 'session')
            .map(([uri]) => summary(uri, { title: this.sessionOf(uri).title })),
        };
      case 'fetchTurns':
        return this.#fetchTurns(connection, params);
      default:
        return null;
    }
  }

  #initialize(connection: FakeConnection, params: Params): object {
    const uris = (params.initialSubscriptions ?? []) as string[];
    const versions = params.protocolVersions as string[];
    return { protocolVersion: versions[0], serverSeq: this.seq, ...this.#snapshots(connection, uris, params) };
  }

  #reconnect(connection: FakeConnection, params: Params): object {
    const uris = params.subscriptions as string[];
    const pending = (params.pending ?? []) as number[];
    const settled = pending.filter((clientSeq) => this.decided.has(`${connection.clientId}/${clientSeq}`));
    const extra = this.extended ? { settled } : {};
    if (this.resumeBy === 'snapshot')
      return { type: 'snapshot', ...this.#snapshots(connection, uris, params), ...extra };
    const resumable = uris.filter((uri) => this.states.has(uri));
    for (const uri of resumable) connection.subscribed.add(uri);
    const missed = this.log.filter(({ serverSeq }) => serverSeq > (params.lastSeenServerSeq as number));
    const actions = missed.filter(({ channel }) => resumable.includes(channel));
    return { type: 'replay', actions, missing: uris.filter((uri) => !resumable.includes(uri)), ...extra };
  }

  #subscribe(connection: FakeConnection, params: Params): object {
    const { channel } = params;
    connection.subscribed.add(channel);
    if (channelKind(channel) === 'otlp') return {};
    if (!this.states.has(channel)) throw new Refusal(channelKind(channel) === 'session' ? -32001 : -32008);
    const { snapshot, position } = this.#snapshot(channel, params);
    return { snapshot, ...(position ? { turns: position } : {}) };
  }

  #snapshots(connection: FakeConnection, uris: string[], params: Params): object {
    for (const uri of uris) connection.subscribed.add(uri);
    const found = uris.filter((uri) => this.states.has(uri)).map((uri) => this.#snapshot(uri, params));
    const positions = found.flatMap(({ snapshot, position }) => (position ? [[snapshot.resource, position]] : []));
    const snapshots = found.map(({ snapshot }) => snapshot);
    return positions.length > 0 ? { snapshots, turns: Object.fromEntries(positions) } : { snapshots };
  }

  #snapshot(uri: string, params: Params): { snapshot: Snapshot; position?: { start: number; total: number } } {
    const state = this.states.get(uri) as State;
    const last = this.#windowOf(params);
    if (last === undefined || !('turns' in state)) {
      return { snapshot: { resource: uri, state, fromSeq: this.seq } };
    }
    const total = state.turns.length;
    const start = Math.max(0, total - last);
    const cursor = start > 0 ? { turnsNextCursor: String(start) } : {};
    const windowed = { ...state, turns: state.turns.slice(start), ...cursor };
    const snapshot = { resource: uri, state: windowed, fromSeq: this.seq };
    return this.extended ? { snapshot, position: { start, total } } : { snapshot };
  }

  /** The protocol has windows in `subscribe`; in the handshake they are an extension. */
  #windowOf({ view, turns }: Params): number | undefined {
    const asked = (view as { turns?: number } | undefined)?.turns;
    return asked ?? (this.extended ? (turns as { last: number } | undefined)?.last : undefined);
  }

  /** The turns go to the asking client alone, before the answer does. */
  #fetchTurns(connection: FakeConnection, { channel, cursor }: Params): object {
    const end = Number(cursor);
    const start = Math.max(0, end - this.pageSize);
    const turns = this.chatOf(channel).turns.slice(start, end);
    const action = { type: 'chat/turnsLoaded', turns, ...(start > 0 ? { turnsNextCursor: String(start) } : {}) };
    connection.send({ method: 'action', params: { channel, serverSeq: ++this.seq, action } });
    return {};
  }
}
