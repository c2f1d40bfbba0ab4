/** A client of sessions-v1: it takes snapshots, follows what comes, and expects its own actions back in their order. */
import type {
  SessionsV1Action,
  SessionsV1ActionEnvelope,
  SessionsV1ActiveTurn,
  SessionsV1SessionAction,
  SessionsV1SessionState,
  SessionsV1Snapshot,
  SessionsV1Turn,
} from '@atrium/protocol/dialects';
import { applySessionsV1 } from '../../../protocol/test/support/sessions-v1-client.js';
import type { Answer } from './fuzz-client.js';
import { difference } from './fuzz-difference.js';

const WIRE_ROOT = 'agenthost:root';

interface Message extends Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly envelope?: SessionsV1ActionEnvelope;
    readonly notification?: { type: string; session?: string };
  };
}

interface Mirrored {
  readonly state: SessionsV1SessionState;
  /** The number of the snapshot, and that of the last action; several actions may share one. */
  readonly fromSeq: number;
  readonly seq: number;
}

/** An action without the session that it is for. */
export type SessionsV1Request = SessionsV1SessionAction extends infer Action
  ? Action extends unknown
    ? Omit<Action, 'session'>
    : never
  : never;

export class FuzzSessionsV1Client {
  readonly sessions = new Map<string, Mirrored>();
  readonly received: SessionsV1ActionEnvelope[] = [];
  readonly dispatched: SessionsV1Action[] = [];
  readonly violations: string[] = [];
  /** Numbers that came back accepted: they must be stored. */
  readonly accepted = new Set<number>();
  probes = 0;
  replays = 0;
  /** Own numbers that have not come back, oldest first. */
  #pending: number[] = [];
  readonly #subscribing = new Set<string>();
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #post: ((text: string) => void) | undefined;
  #isOpen = false;
  #known = false;
  #lastSeen = 0;
  #nextId = 1;

  constructor(readonly clientId: string) {}

  get isOpen(): boolean {
    return this.#isOpen;
  }

  attach(post: (text: string) => void): void {
    this.#post = post;
    this.#pending = [];
    const { clientId } = this;
    const subscriptions = [WIRE_ROOT, ...this.sessions.keys()];
    const first = { protocolVersion: 1, clientId, initialSubscriptions: subscriptions };
    const next = { clientId, lastSeenServerSeq: this.#lastSeen, subscriptions };
    this.request(this.#known ? 'reconnect' : 'initialize', this.#known ? next : first, ({ result, error }) => {
      if (!result) return this.#wrong(`the handshake failed: ${error?.message}`);
      this.#known = true;
      this.#isOpen = true;
      if (result.type === 'replay') this.#replayed(result.actions as SessionsV1ActionEnvelope[]);
      else this.#replace(result.snapshots as SessionsV1Snapshot[]);
    });
  }

  #replayed(actions: readonly SessionsV1ActionEnvelope[]): void {
    this.replays += 1;
    for (const envelope of actions) this.#action(envelope);
  }

  #replace(snapshots: readonly SessionsV1Snapshot[]): void {
    this.sessions.clear();
    for (const snapshot of snapshots) this.#install(snapshot);
  }

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

  subscribe(session: string): void {
    this.#subscribing.add(session);
    this.request('subscribe', { resource: session }, ({ result }) => {
      if (result && this.#subscribing.has(session)) this.#install(result as unknown as SessionsV1Snapshot);
    });
  }

  unsubscribe(session: string): void {
    this.sessions.delete(session);
    this.#subscribing.delete(session);
    this.#send({ method: 'unsubscribe', params: { resource: session } });
  }

  /** Asks for an action; sessions-v1 has no way to find out later what became of it, so it needs a connection. */
  dispatch(session: string, request: SessionsV1Request): void {
    if (!this.#isOpen) return;
    this.dispatched.push({ ...request, session } as SessionsV1Action);
    this.#pending.push(this.dispatched.length);
    this.repeat(this.dispatched.length);
  }

  repeat(clientSeq: number): void {
    this.#send({ method: 'dispatchAction', params: { clientSeq, action: this.dispatched[clientSeq - 1] } });
  }

  probe(session: string): void {
    this.request('subscribe', { resource: session }, ({ result }) => {
      const mirror = this.sessions.get(session);
      if (!result || !mirror) return;
      this.probes += 1;
      const found = difference(
        viewOf(mirror.state),
        viewOf((result as unknown as { state: SessionsV1SessionState }).state),
      );
      if (found) this.#wrong(`the mirror of ${session} is not what the host shows: ${found}`);
    });
  }

  receive(text: string): void {
    const { id, method, params, result, error } = JSON.parse(text) as Message;
    if (method === 'action' && params?.envelope) return this.#action(params.envelope);
    const told = method === 'notification' ? params?.notification : undefined;
    if (told?.type === 'notify/sessionRemoved' && told.session) this.#removed(told.session);
    if (method !== undefined || id === undefined) return;
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    answered?.({ ...(result && { result }), ...(error && { error }) });
  }

  /** The host does not answer for a session that is gone. */
  #removed(session: string): void {
    this.sessions.delete(session);
    const isFor = (action: SessionsV1Action | undefined) => action && 'session' in action && action.session === session;
    this.#pending = this.#pending.filter((clientSeq) => !isFor(this.dispatched[clientSeq - 1]));
  }

  #install({ resource, state, fromSeq }: SessionsV1Snapshot): void {
    this.#lastSeen = Math.max(this.#lastSeen, fromSeq);
    if (resource !== WIRE_ROOT)
      this.sessions.set(resource, { state: state as SessionsV1SessionState, fromSeq, seq: fromSeq });
  }

  #action(envelope: SessionsV1ActionEnvelope): void {
    const { action, serverSeq, origin } = envelope;
    this.received.push(envelope);
    this.#lastSeen = Math.max(this.#lastSeen, serverSeq);
    const isOwn = origin?.clientId === this.clientId;
    // The answer to a resend says what was said before.
    const isAgain = isOwn && !this.#pending.includes(origin.clientSeq);
    if (isOwn) this.#echo(origin.clientSeq, envelope);
    if (action.type === 'root/agentsChanged') return;
    const mirror = this.sessions.get(action.session);
    if (!mirror) return;
    const isOld = serverSeq <= mirror.fromSeq || serverSeq < mirror.seq;
    if (isOld && isAgain) return;
    if (isOld && !isOwn) return this.#wrong(`${action.session} was told ${serverSeq} after ${mirror.seq}`);
    const seq = Math.max(mirror.seq, serverSeq);
    this.sessions.set(action.session, { ...mirror, state: applySessionsV1(mirror.state, envelope), seq });
  }

  /** Sessions-v1 looks at the head of its list only. */
  #echo(clientSeq: number, { action, rejectionReason }: SessionsV1ActionEnvelope): void {
    if (!this.#pending.includes(clientSeq)) return;
    if (this.#pending[0] !== clientSeq) this.#wrong(`action ${clientSeq} came back before ${this.#pending[0]}`);
    const found = difference(action, this.dispatched[clientSeq - 1]);
    if (found) this.#wrong(`action ${clientSeq} came back changed: ${found}`);
    this.#pending = this.#pending.filter((pending) => pending !== clientSeq);
    if (rejectionReason === undefined) this.accepted.add(clientSeq);
  }

  #send(message: object): void {
    this.#post?.(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  #wrong(what: string): void {
    this.violations.push(`${this.clientId}: ${what}`);
  }
}

/** What following and a snapshot agree on. A model that was asked for during a turn is shown at once to who asked. */
function viewOf({ summary, lifecycle, creationError, turns, activeTurn }: SessionsV1SessionState) {
  const { resource, title, model } = summary;
  return {
    resource,
    title,
    ...(!activeTurn && { model }),
    lifecycle,
    creationError,
    turns: turns.map(turnView),
    active: activeTurn && activeView(activeTurn),
  };
}

function turnView({ id, userMessage, responseText, toolCalls, usage, state, error }: SessionsV1Turn) {
  const results = Object.fromEntries(toolCalls.map(({ toolCallId, success }) => [toolCallId, success]));
  return { id, userMessage, responseText, results, usage, state, error };
}

function activeView({ toolCalls, pendingPermissions, ...turn }: SessionsV1ActiveTurn) {
  const statuses = Object.fromEntries(Object.values(toolCalls).map(({ toolCallId, status }) => [toolCallId, status]));
  return { ...turn, statuses, requests: Object.keys(pendingPermissions).sort() };
}
