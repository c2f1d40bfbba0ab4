/** JSON-RPC over one transport: pairs answers with requests, hands on the host's messages. Knows no protocol state. */
import { type Clock, type CloseReason, type Log, type Outcome, PendingRequests, type Transport } from '@atrium/link';
import type { JsonRpcErrorObject } from '@atrium/protocol';
import {
  type ClientNotificationMethod,
  type ClientNotifications,
  type ClientRequestMethod,
  type ClientRequests,
  ROOT_CHANNEL,
} from '@atrium/protocol/ahp-1';
import {
  checkClientRequestResult,
  describeProblem,
  type Frame,
  isClientRequest,
  readFrame,
} from '@atrium/protocol/ahp-1/from-host';
import { DisconnectedError, InvalidResultError, RequestError, RequestTimeoutError } from './errors.js';

type Params<M extends ClientRequestMethod> = ClientRequests[M]['params'];

/** The methods that users call. The others belong to the connection and to subscriptions. */
export type CallMethod = Exclude<ClientRequestMethod, 'initialize' | 'reconnect' | 'subscribe'>;

/** `channel` may be left out for methods that always go to the root channel. */
export type CallParams<M extends ClientRequestMethod> =
  Params<M> extends { channel: typeof ROOT_CHANNEL } ? Omit<Params<M>, 'channel'> : Params<M>;

export type CallResult<M extends ClientRequestMethod> = ClientRequests[M]['result'];

/** The events that the peer hands on. */
export interface PeerEvents {
  /** The peer read a request or an answer and handles it next. */
  received(): void;
  notification(method: string, params: unknown): void;
  /** Resolves with the answer to a request of the host. Never rejects. */
  request(method: string, params: unknown): Promise<Answer>;
  /** The connection ended. Called once. */
  closed(reason: CloseReason): void;
}

export type Answer = { readonly result: unknown } | { readonly error: JsonRpcErrorObject };

export interface PeerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly requestTimeoutMs: number;
  readonly heartbeatMs: number;
}

export class Peer {
  readonly #transport: Transport;
  readonly #events: PeerEvents;
  readonly #log: Log;
  readonly #requestTimeoutMs: number;
  readonly #calls: PendingRequests;
  readonly #heartbeat: Heartbeat;
  #open = true;

  constructor(transport: Transport, events: PeerEvents, { clock, log, requestTimeoutMs, heartbeatMs }: PeerOptions) {
    this.#transport = transport;
    this.#events = events;
    this.#log = log;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#calls = new PendingRequests({ clock, late: (method, ms) => new RequestTimeoutError(method, ms) });
    this.#heartbeat = new Heartbeat({
      clock,
      intervalMs: heartbeatMs,
      ping: () => this.call('ping', {}, () => {}),
      dead: () => this.close({ reason: 'the host fell silent' }),
    });
    transport.onClose((reason) => this.#ended(reason));
    transport.onMessage((text) => this.#receive(text));
  }

  /** Settles in the very step in which the answer is read, before the next message is. */
  call<M extends ClientRequestMethod>(
    method: M,
    params: CallParams<M>,
    settle: (outcome: Outcome<CallResult<M>>) => void,
  ): void {
    if (this.#open) {
      const id = this.#calls.add(method, this.#requestTimeoutMs, settle as (outcome: Outcome<unknown>) => void);
      this.#send({ id, method, params: { channel: ROOT_CHANNEL, ...params } });
    } else {
      settle({ ok: false, error: new DisconnectedError(method, 'the connection was lost') });
    }
  }

  request<M extends ClientRequestMethod>(method: M, params: CallParams<M>): Promise<CallResult<M>> {
    return new Promise((resolve, reject) => {
      this.call(method, params, (outcome) => (outcome.ok ? resolve(outcome.value) : reject(outcome.error)));
    });
  }

  notify<M extends ClientNotificationMethod>(method: M, params: ClientNotifications[M]): void {
    this.#send({ method, params });
  }

  close(reason: CloseReason = { reason: 'closed here' }): void {
    this.#ended(reason);
    this.#transport.close();
  }

  #send(message: object): void {
    if (!this.#open) return;
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    try {
      this.#transport.send(text);
    } catch (error) {
      this.#log('sending failed', error);
      this.close({ reason: 'sending failed' });
    }
  }

  #ended(reason: CloseReason): void {
    if (!this.#open) return;
    this.#open = false;
    this.#heartbeat.stop();
    this.#calls.abandon((method) => new DisconnectedError(method, reason.reason));
    this.#events.closed(reason);
  }

  /** A message that cannot be handled must not end the connection. */
  #receive(text: string): void {
    if (!this.#open) return;
    this.#heartbeat.received();
    try {
      const frame = readFrame(text);
      if (frame.kind !== 'notification' && frame.kind !== 'invalid') this.#events.received();
      const problem = this.#handle(frame);
      if (problem) this.#log(`dropped a message: ${problem}`);
    } catch (error) {
      this.#log('dropped a message that could not be handled', error);
    }
  }

  /** Returns why it dropped the frame, if it did. */
  #handle(frame: Frame): string | undefined {
    switch (frame.kind) {
      case 'success':
        return this.#succeeded(frame.id, frame.result);
      case 'failure':
        return this.#failed(frame.id, frame.error);
      case 'notification':
        this.#events.notification(frame.method, frame.params);
        return undefined;
      case 'request':
        void this.#answer(frame.id, frame.method, frame.params);
        return undefined;
      case 'invalid':
        return frame.message;
    }
  }

  #succeeded(id: number, result: unknown): string | undefined {
    const method = this.#calls.methodOf(id);
    if (method === undefined) return `no request waits for answer ${id}`;
    // Requests that hosts add to the protocol have no schema: their callers check the answer.
    const checked = isClientRequest(method)
      ? checkClientRequestResult(method, result)
      : { ok: true as const, value: result };
    if (checked.ok) this.#calls.succeeded(id, checked.value);
    else this.#calls.failed(id, new InvalidResultError(method, describeProblem(checked.problem)));
    return undefined;
  }

  #failed(id: number | null, error: JsonRpcErrorObject): string | undefined {
    if (id === null) return `the host could not read a message of ours: ${error.message}`;
    const { code, message, data } = error;
    return this.#calls.failed(id, new RequestError(code, message, data))
      ? undefined
      : `no request waits for answer ${id}`;
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    this.#send({ id, ...(await this.#events.request(method, params)) });
  }
}

export const HEARTBEAT_MS = 15_000;

/** A tick is half an interval: a ping every two ticks, dead after five silent ones. */
const TICKS_PER_PING = 2;
const SILENT_TICKS_MAX = 5;

interface HeartbeatOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  ping(): void;
  dead(): void;
}

/**
 * Detects a dead connection that was never closed. Counts ticks instead of reading a clock: a laptop that slept has not
 * been silent.
 */
class Heartbeat {
  readonly #options: HeartbeatOptions;
  #ticks = 0;
  #silent = 0;
  #cancel: () => void = () => {};

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#arm();
  }

  /** Call it for every message that arrives. */
  received(): void {
    this.#silent = 0;
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): void {
    const { clock, intervalMs } = this.#options;
    this.#cancel = clock.after(intervalMs / TICKS_PER_PING, () => this.#tick());
  }

  #tick(): void {
    this.#ticks += 1;
    this.#silent += 1;
    if (this.#silent >= SILENT_TICKS_MAX) {
      this.#options.dead();
      return;
    }
    if (this.#ticks % TICKS_PER_PING === 0) this.#options.ping();
    this.#arm();
  }
}
