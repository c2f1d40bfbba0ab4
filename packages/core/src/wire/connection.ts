/**
 * One client on one transport. The path of a message: read the frame, put it in line, translate it from the client's
 * dialect, check it, let its handler do the work, translate the answer, send it. `ping` and answers to our own requests
 * skip the line.
 */
import {
  type ActionOrigin,
  ErrorCode,
  type HostRequestMethod,
  type HostRequests,
  leastForNotification,
  ROOT_CHANNEL,
} from '@atrium/protocol/ahp-1';
import { checkClientRequest, checkHostRequestResult, describeProblem } from '@atrium/protocol/ahp-1/validation';
import { type Frame, readFrame } from '@atrium/protocol/validation';
import { type Access, hasRole, OWNER } from '../contracts/access.js';
import type { Caller } from '../contracts/ports.js';
import { RequestError } from '../contracts/request-error.js';
import { type EntryOrigin, LogUnavailableError } from '../log/log.js';
import type { Lane } from '../sessions/service.js';
import { cutText } from '../util/text.js';
import { accessKey } from './access-control.js';
import type { WireContext } from './context.js';
import { type Dialect, type DialectConnection, initialDialect, type OriginalAction } from './dialects/dialects.js';
import { dispatchAction, refuseAction } from './dispatch.js';
import type { Edition } from './editions.js';
import { type Outgoing, outgoing, outgoingNotification } from './frames.js';
import { answerHandshake, type Identity } from './handshake.js';
import {
  checkedNames,
  checkedParams,
  HostRequestQueue,
  idIn,
  isTooLong,
  Lanes,
  type Params,
  paramsOf,
} from './inbound.js';
import {
  CLIENT_FRAME_MAX_BYTES,
  HANDSHAKE_TIMEOUT_MS,
  REJECTION_MAX_CHARACTERS,
  REQUESTS_BEFORE_HANDSHAKE_MAX,
  TEXT_HELD_MAX_MS,
} from './limits.js';
import { Outbox, Responder } from './outbox.js';
import type { Answer } from './received-actions.js';
import { ClientNotice } from './subscriptions.js';
import { CloseCode, type Transport } from './transport.js';

type State =
  | { readonly at: 'new'; readonly requests: number }
  /** The handshake is accepted; `ready` says whether it has been answered. */
  | { readonly at: 'open'; readonly identity: Identity; readonly ready: boolean }
  | { readonly at: 'closed' };

type RequestFrame = Extract<Frame, { kind: 'request' }>;
type NotificationFrame = Extract<Frame, { kind: 'notification' }>;

export class Connection implements Caller {
  readonly #context: WireContext;
  readonly #transport: Transport;
  readonly #outbox: Outbox;
  readonly #responder: Responder;
  readonly #lanes: Lanes;
  readonly #hostRequests: HostRequestQueue;
  readonly #cancelHandshakeTimer: () => void;
  #access: Access;
  readonly #edition: Edition;
  #cancelExpiry: () => void = () => {};
  #state: State = { at: 'new', requests: 0 };
  /** Kept after the connection closes: requests still under way are answered in the client's dialect. */
  #dialect: Dialect = initialDialect;
  #dialectConnection: DialectConnection = {};
  /** Milliseconds by channel. */
  readonly #textHolds = new Map<string, number>();
  #textMaxDelayMs: number | undefined;
  /** Numbers of this client's actions that were echoed before they were applied. */
  readonly echoedEarly = new Set<number>();

  constructor(context: WireContext, transport: Transport, access: Access = OWNER) {
    this.#context = context;
    this.#access = access;
    this.#edition = context.editions.join(this);
    this.#transport = transport;
    this.#outbox = new Outbox({
      transport,
      clock: context.clock,
      waitedMs: () => context.subscriptions.textWindowOf(this),
      onTooSlow: () => this.close(CloseCode.TooSlow, 'reads too slowly: resume'),
      onBroken: (error) => this.#brokenOff(error),
    });
    const { logger, view } = context;
    this.#responder = new Responder({ outbox: this.#outbox, logger, view, dialect: () => this.#dialect });
    this.#lanes = new Lanes(() => this.close(CloseCode.PolicyViolation, 'sends faster than it can be served'));
    this.#hostRequests = new HostRequestQueue(context.clock, (message) => this.#outbox.push(outgoing(message)));
    this.#cancelHandshakeTimer = context.clock.after(HANDSHAKE_TIMEOUT_MS, () =>
      this.close(CloseCode.HandshakeTimeout, 'no handshake in time'),
    );
    this.#expireInTime();
    transport.start({
      message: (text) => this.#receive(text),
      drain: () => this.#outbox.flush(),
      ended: () => void this.#ended(),
      closed: () => this.#closed(),
    });
  }

  get name(): string {
    return this.#transport.name;
  }

  /** The client's identity, once the handshake is done. */
  get identity(): Identity | undefined {
    return this.#state.at === 'open' ? this.#state.identity : undefined;
  }

  get access(): Access {
    return this.#access;
  }

  /**
   * Applies a change of the credential's access. If the client may now see or do something else, the connection closes:
   * its subscriptions end, requests under way get no answer, and the next handshake tells the client its new access.
   */
  changeAccess(access: Access): void {
    if (this.#state.at === 'closed') return;
    const isSame = accessKey(this.#access) === accessKey(access);
    this.#access = access;
    this.#expireInTime();
    if (isSame) return;
    const { identity } = this;
    const mayLend = hasRole(access.role, 'driver') && !access.bounds;
    if (identity && !mayLend) this.#context.lendingRevoked(identity.clientId);
    this.close(CloseCode.AccessChanged, 'what this access allows has changed: connect again');
  }

  /**
   * Everything this client is sent goes through its edition, which it shares with all clients that have the same
   * access.
   */
  get edition(): Edition {
    return this.#edition;
  }

  #expireInTime(): void {
    this.#cancelExpiry();
    const { until } = this.#access;
    if (until === undefined) return;
    const { clock } = this.#context;
    const end = () => this.close(CloseCode.AccessEnded, 'this access has expired: ask for a new one');
    this.#cancelExpiry = clock.after(Math.max(0, until - clock.now()), end);
  }

  /** True when the handshake has been answered. What happens earlier is part of that answer. */
  get isReady(): boolean {
    return this.#state.at === 'open' && this.#state.ready;
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  get sendsStoredJson(): boolean {
    return this.#dialect.traits.sendsStoredJson;
  }

  get dialectConnection(): DialectConnection {
    return this.#dialectConnection;
  }

  /** Bytes that wait to be sent to this client. */
  get unsentBytes(): number {
    return this.#outbox.unsentBytes;
  }

  send(message: Outgoing): void {
    this.sendAll([message]);
  }

  /** Sends messages in one write. The list may be shared between connections. */
  sendAll(messages: readonly Outgoing[]): void {
    this.#responder.send(messages);
  }

  /** Sets how long text on one of its subscriptions may be held back. The shortest time applies to all of them. */
  holdText(channel: string, milliseconds: number | undefined): void {
    if (milliseconds === undefined) this.#textHolds.delete(channel);
    else this.#textHolds.set(channel, Math.min(Math.max(milliseconds, 0), TEXT_HELD_MAX_MS));
    const wishes = [...this.#textHolds.values()];
    this.#textMaxDelayMs = wishes.length === 0 ? undefined : Math.min(...wishes);
    this.#outbox.holdText(this.#textMaxDelayMs ?? 0);
  }

  /** How long text may wait on its way to this client; undefined when the client did not say. */
  get textMaxDelayMs(): number | undefined {
    return this.#textMaxDelayMs;
  }

  /** Holds all messages back until the request under way has been answered. */
  holdForAnswer(): void {
    this.#responder.beginAnswer();
  }

  /**
   * Stops taking in what the client sends while storing is behind. A little of it waits here, so that pings are still
   * answered; the rest waits in the socket, if the transport can pause.
   */
  pauseReading(): void {
    if (this.#state.at === 'closed') return;
    this.#lanes.hold();
    this.#pauseWhenFull();
  }

  resumeReading(): void {
    this.#lanes.resume();
    if (this.#state.at !== 'closed') this.#transport.resume?.();
  }

  #pauseWhenFull(): void {
    if (this.#lanes.isHeldFull) this.#transport.pause?.();
  }

  #enter(work: () => Promise<void>, lane: Lane, characters: number): void {
    this.#lanes.enter(work, lane, characters);
    this.#pauseWhenFull();
  }

  /**
   * Sends a request to the client. Rejects when the client answers with an error or a result of the wrong shape, stays
   * silent, or leaves.
   */
  async request<M extends HostRequestMethod>(
    method: M,
    params: HostRequests[M]['params'],
    timeoutMs?: number,
  ): Promise<HostRequests[M]['result']> {
    if (!this.dialect.canSend(method)) throw new RequestError(ErrorCode.MethodNotFound, `the client has no ${method}`);
    const given = { method, params: params as Params };
    const { params: shown } = this.dialect.encodeRequest?.(given, this.#context.view) ?? given;
    const checked = checkHostRequestResult(method, await this.#hostRequests.send(method, shown, timeoutMs));
    if (!checked.ok) throw new RequestError(ErrorCode.InvalidParams, describeProblem(checked.problem));
    return checked.value;
  }

  close(code: number, reason: string): void {
    if (this.#state.at === 'closed') return;
    this.#context.logger.log('info', 'closing connection', { connection: this.name, code, reason });
    this.#outbox.flush();
    this.#transport.close(code, reason);
    this.#closed();
  }

  /** Finishes the requests that came before the input ended, then closes. */
  async #ended(): Promise<void> {
    await this.#lanes.emptied();
    await this.#outbox.sent();
    this.close(CloseCode.Normal, 'end of input');
  }

  /** Closes a connection whose answer broke off: part of it is sent and cannot be taken back. */
  #brokenOff(error: unknown): void {
    this.#context.logger.log('error', 'an answer broke off', { connection: this.name, error: String(error) });
    this.close(CloseCode.SnapshotNeeded, 'the answer broke off: connect again');
  }

  #closed(): void {
    if (this.#state.at === 'closed') return;
    const { identity } = this;
    this.#state = { at: 'closed' };
    this.#outbox.close();
    this.#responder.close();
    this.#cancelHandshakeTimer();
    this.#cancelExpiry();
    this.#hostRequests.abandon();
    this.#context.connections.left(this, identity);
    this.#context.editions.remove(this, this.#edition);
  }

  #receive(text: string): void {
    if (this.#state.at === 'closed') return;
    if (isTooLong(text)) {
      const message = `a frame may have at most ${CLIENT_FRAME_MAX_BYTES} bytes`;
      return this.#responder.errorAtOnce(idIn(text), new RequestError(ErrorCode.InvalidRequest, message));
    }
    const frame = readFrame(text);
    if (frame.kind === 'invalid')
      return this.#responder.errorAtOnce(frame.id, new RequestError(frame.code, frame.message));
    if (frame.kind === 'success' || frame.kind === 'failure') return this.#hostRequests.answered(frame);
    if (frame.kind === 'request' && frame.method === 'ping') return this.#ping(frame);
    if (frame.kind === 'notification') return this.#enter(() => this.#notification(frame), 'main', text.length);
    const lane = this.isReady ? this.#context.requests.laneOf(frame.method) : 'main';
    this.#enter(() => this.#request(frame, lane), lane, text.length);
  }

  #ping({ id, params }: RequestFrame): void {
    const given = { method: 'ping', params: paramsOf(params ?? { channel: ROOT_CHANNEL }) };
    const call = this.dialect.request(given, this.#callContext);
    const checked = checkClientRequest('ping', call.kind === 'forward' ? call.params : given.params);
    if (checked.ok) this.#outbox.push(outgoing({ jsonrpc: '2.0', id, result: null }));
    else this.#responder.errorAtOnce(id, new RequestError(ErrorCode.InvalidParams, describeProblem(checked.problem)));
  }

  async #request(frame: RequestFrame, lane: Lane): Promise<void> {
    try {
      if (this.#state.at === 'new') await this.#first(frame, this.#state.requests + 1);
      else if (this.#state.at === 'open') await this.#answer(frame, lane);
    } catch (error) {
      if (this.#state.at === 'new' && this.#closedWithoutLog(error)) return;
      this.#fail(frame.id, error, lane);
    }
  }

  /**
   * Closes the connection if the log cannot be reached: without it, the host cannot say where the client was. The
   * client can come back here or to another host, and resume.
   */
  #closedWithoutLog(error: unknown): boolean {
    if (!(error instanceof LogUnavailableError)) return false;
    this.close(CloseCode.NotStored, 'the log cannot be reached now: connect again');
    return true;
  }

  /** Handles a request before the handshake. A client gets a few tries, then the connection is closed. */
  async #first(frame: RequestFrame, requests: number): Promise<void> {
    this.#state = { at: 'new', requests };
    if (requests <= REQUESTS_BEFORE_HANDSHAKE_MAX) return this.#handshake(frame);
    this.close(CloseCode.PolicyViolation, 'too many requests before the handshake');
  }

  async #handshake({ id, method, params }: RequestFrame): Promise<void> {
    if (method !== 'initialize' && method !== 'reconnect') {
      throw new RequestError(ErrorCode.InvalidRequest, `send initialize or reconnect before ${method}`);
    }
    const accepted = await answerHandshake(this.#context, { connection: this, method, params: paramsOf(params) });
    if (this.#state.at !== 'new') return;
    this.#cancelHandshakeTimer();
    const { identity } = accepted;
    this.#state = { at: 'open', identity, ready: false };
    this.#dialect = identity.dialect;
    this.#learn(accepted.dialectConnection);
    this.holdForAnswer();
    this.#context.connections.arrived(this, identity);
    const result = await accepted.result(this).catch((error) => this.#abandonHandshake(id, error));
    if (this.identity) this.#state = { at: 'open', identity, ready: true };
    void this.#responder.result(id, result);
  }

  /** Ends a handshake that failed halfway: the client gets the error, and starts over on a new connection. */
  #abandonHandshake(id: number, error: unknown): void {
    if (this.#closedWithoutLog(error)) return;
    this.#fail(id, error);
    this.close(CloseCode.GoingAway, 'the handshake failed: connect again');
  }

  async #answer({ id, method, params }: RequestFrame, lane: Lane): Promise<void> {
    const { view } = this.#edition;
    const call = this.dialect.request({ method, params: paramsOf(params) }, this.#callContext);
    this.#learn(call.connection);
    if (call.kind === 'fail') return this.#fail(id, RequestError.from(call.error), lane);
    const result = await this.#perform(call.method, call.params);
    const sent = this.#responder.result(id, call.encodeResult(result, view), lane);
    // Wait here: a file that was read is only in this answer, so the next one is read when the client has taken it.
    if (lane === 'aside') await sent;
  }

  #perform(method: string, params: Params): unknown {
    const { requests, control } = this.#context;
    const checked = requests.isExtension(method) ? checkedNames(method, params) : checkedParams(method, params);
    control.checkRequest(this, method, checked as Params);
    return requests.answer(this, method, checked);
  }

  async #notification({ method, params }: NotificationFrame): Promise<void> {
    if (this.#state.at !== 'open') return;
    try {
      const call = this.dialect.notification({ method, params: paramsOf(params) }, this.#callContext);
      this.#learn(call.connection);
      if (call.kind === 'dispatch') await dispatchAction(this.#context, this, call);
      else if (call.kind === 'reject') await refuseAction(this.#context, this, call);
      else if (call.kind === 'forward' && call.method === 'unsubscribe' && this.#canNotify(call.method)) {
        const channel = String(call.params.channel);
        this.holdText(channel, undefined);
        this.#context.subscriptions.remove(this, channel);
      }
    } catch (error) {
      this.#context.logger.log('error', 'a notification failed', { method, error: String(error) });
    }
  }

  #canNotify(method: string): boolean {
    return hasRole(this.#access.role, leastForNotification(method));
  }

  get #callContext() {
    return { connection: this.#dialectConnection, clientId: this.identity?.clientId, view: this.#edition.view };
  }

  #learn(connection: DialectConnection): void {
    this.#dialectConnection = connection;
    if (this.identity) this.#dialect = this.identity.dialect.forConnection(connection);
  }

  /** Tells only this client that its action was rejected. */
  reject(original: OriginalAction, origin: EntryOrigin, because: string): void {
    const { clients, writer } = this.#context;
    if (this.#state.at === 'closed') return clients.received.release(origin);
    const reason = cutText(because, REJECTION_MAX_CHARACTERS);
    writer.reject(this.#rejection(original, origin, reason), { origin, reason });
  }

  /**
   * Answers a resend the way the action was first answered. An echo carries the action's number, so a client that
   * already has the action can tell. A rejection gets a new number: it changes no state, and clients may skip numbers
   * they have passed.
   */
  answerAgain(original: OriginalAction, { clientId, clientSeq }: EntryOrigin, { serverSeq, reason }: Answer): void {
    const { writer } = this.#context;
    const origin = { clientId, clientSeq };
    if (reason !== undefined) return writer.reject(this.#rejection(original, origin, reason));
    // An action without a number is about to be shown to all who subscribe, this client included.
    if (serverSeq === undefined) return;
    writer.sendNotice(
      new ClientNotice(this, () =>
        outgoingNotification(this.dialect.encodeEcho(original, { serverSeq, origin }, this.#context.view)),
      ),
    );
  }

  /** Echoes a deferred action at once, if the client's dialect waits for its echoes in order. */
  echoDeferred(original: OriginalAction, { clientId, clientSeq }: EntryOrigin): void {
    const { dialect } = this;
    if (!dialect.traits.waitsForEchoes) return;
    const message = (serverSeq: number) => {
      this.echoedEarly.add(clientSeq);
      const stamp = { serverSeq, origin: { clientId, clientSeq } };
      return outgoingNotification(dialect.encodeEcho(original, stamp, this.#context.view));
    };
    this.#context.writer.sendNotice(new ClientNotice(this, message));
  }

  #rejection(original: OriginalAction, { clientId, clientSeq }: ActionOrigin, rejectionReason: string): ClientNotice {
    const origin = { clientId, clientSeq };
    return new ClientNotice(this, (serverSeq) => {
      const stamp = { serverSeq, origin, rejectionReason };
      return outgoingNotification(this.dialect.encodeRejection(original, stamp, this.#context.view));
    });
  }

  #fail(id: number, error: unknown, lane: Lane = 'main'): void {
    const { code } = this.#responder.error(id, error, lane);
    if (code === ErrorCode.UnsupportedProtocolVersion) this.close(CloseCode.UnsupportedVersion, 'no common version');
  }
}
