/** Puts the parts of a client together: routes messages, and acts when a connection begins or ends. */

import { Emitter, type Log, type Outcome, optional } from '@atrium/link';
import type {
  ActionEnvelope,
  HostNotificationMethod,
  HostNotifications,
  InitializeResult,
  StateAction,
} from '@atrium/protocol/ahp-1';
import { checkHostNotification, describeProblem, isHostNotification } from '@atrium/protocol/ahp-1/from-host';
import { Connection, onWake } from './connection.js';
import { ClientClosedError, InvalidResultError, RequestTimeoutError } from './errors.js';
import { type HandshakeResult, initialize, reconnect } from './handshake.js';
import { answer } from './host-requests.js';
import type { DispatchedAction } from './kinds.js';
import type { Settings } from './options.js';
import type { Peer } from './peer.js';
import type { Accepted, UndecidedAction } from './pending-actions.js';
import { asChat } from './reducers.js';
import { type CatalogueEvent, isCatalogueMethod, SessionLists } from './session-list.js';
import { stamped } from './stamps.js';
import { Store } from './store.js';
import { Subscriptions } from './subscriptions.js';
import { Claims } from './transform.js';

/** The host's description of itself. */
export type HostInfo = Omit<InitializeResult, 'snapshots' | 'serverSeq'>;

interface Notified {
  readonly method: HostNotificationMethod;
  readonly params: HostNotifications[HostNotificationMethod];
}

export class Engine {
  readonly store: Store;
  readonly claims: Claims;
  readonly connection: Connection;
  readonly subscriptions: Subscriptions;
  readonly lists: SessionLists;
  readonly notified: Emitter<Notified>;
  /** Notifications that the host adds to the protocol. */
  readonly extended: Emitter<{ readonly method: string; readonly params: unknown }>;
  readonly #settings: Settings;
  readonly #stopWaking: () => void;
  /** Actions that arrived before the answer to the handshake; they are applied after it. */
  readonly #early: ActionEnvelope[] = [];
  #info: HostInfo | undefined;
  #canResume = false;

  constructor(settings: Settings) {
    const { clientId, log, handlers } = settings;
    this.#settings = settings;
    this.store = new Store({ clientId, log });
    this.claims = new Claims(this.store, settings.transformSystemMessage);
    this.notified = new Emitter(log);
    this.extended = new Emitter(log);
    this.connection = new Connection(settings, {
      handshake: (peer, settle) => this.#shakeHands(peer, settle),
      received: () => this.store.received(),
      opened: (peer, result) => this.#opened(peer, result),
      closed: (error) => this.#closed(error),
      notification: (method, params) => this.#notification(method, params),
      request: (method, params) => answer(handlers, method, params, log),
    });
    this.subscriptions = new Subscriptions(this.store, () => this.openPeer(), log);
    this.lists = new SessionLists(log);
    this.#stopWaking = onWake(() => this.connection.dialNow());
  }

  get log(): Log {
    return this.#settings.log;
  }

  /** Undefined until the first connection. */
  get info(): HostInfo | undefined {
    return this.#info;
  }

  /** Calls back when a request would count as unanswered. */
  readonly limit = (doing: string, late: (error: Error) => void): (() => void) => {
    const { clock, requestTimeoutMs } = this.#settings;
    return clock.after(requestTimeoutMs, () => late(new RequestTimeoutError(doing, requestTimeoutMs)));
  };

  openPeer(): Peer | undefined {
    return this.connection.status.at === 'open' ? this.connection.peer('') : undefined;
  }

  /** Sends an action and shows it; without a connection it waits for the next one. */
  dispatch(uri: string, action: DispatchedAction): Promise<Accepted> {
    const { status } = this.connection;
    if (status.at === 'closed') return optional(Promise.reject(status.error ?? new ClientClosedError()));
    const { entry, accepted } = this.store.dispatch(uri, this.claims.action(uri, this.#stamped(uri, action)));
    const peer = this.openPeer();
    if (peer) this.#send(peer, entry);
    this.store.predict(entry);
    return accepted;
  }

  #stamped(uri: string, action: DispatchedAction): StateAction {
    const channel = this.store.find(uri);
    const chat = channel && asChat(channel.kind, channel.optimistic);
    return stamped(action, { now: this.#settings.clock.now(), chat });
  }

  #shakeHands(peer: Peer, settle: (outcome: Outcome<HandshakeResult>) => void): void {
    this.#early.length = 0;
    const begin = this.#canResume ? reconnect : initialize;
    begin(peer, this.store, this.#settings, (outcome) => {
      // A replay that this client cannot read would fail on every reconnect: it asks for the states instead.
      const isReadable = outcome.ok || !(outcome.error instanceof InvalidResultError);
      this.#canResume = outcome.ok || (this.#canResume && isReadable);
      settle(outcome);
    });
  }

  #opened(peer: Peer, result: HandshakeResult): void {
    const isFirst = this.#info === undefined;
    if (result.by === 'initialize') this.#info = infoOf(result.result);
    const early = this.#early.splice(0);
    this.store.receive(early);
    for (const entry of this.store.pending.entries()) {
      if (!entry.sent) this.#send(peer, entry);
    }
    this.subscriptions.opened(peer, result);
    for (const envelope of early) this.subscriptions.acted(envelope);
    if (!isFirst) this.lists.readAll(peer);
  }

  /**
   * A channel without a subscription may never echo the action, for instance because it does not exist; so the wait is
   * limited.
   */
  #send(peer: Peer, entry: UndecidedAction): void {
    sendAction(peer, entry);
    if (this.store.find(entry.channel)) return;
    this.store.pending.limit(entry.clientSeq, (late) => this.limit(`${entry.action.type} to ${entry.channel}`, late));
  }

  #closed(error: Error): void {
    this.#stopWaking();
    this.lists.closeAll();
    for (const channel of this.store.channels) this.store.lose(channel, error);
    this.store.pending.abandon(error);
  }

  #notification(method: string, params: unknown): void {
    if (!isHostNotification(method)) return this.extended.emit({ method, params });
    const checked = checkHostNotification(method, params);
    if (!checked.ok) {
      this.#settings.log(`dropped ${method}: ${describeProblem(checked.problem)}`);
      if (method === 'action') this.#unreadable(params);
      return;
    }
    if (method === 'action') this.#action(checked.value as ActionEnvelope);
    if (isCatalogueMethod(method)) this.#catalogue({ method, params: checked.value } as CatalogueEvent);
    this.notified.emit({ method, params: checked.value });
  }

  #action(envelope: ActionEnvelope): void {
    if (this.connection.status.at === 'open') {
      this.store.receive([envelope]);
      this.subscriptions.acted(envelope);
    } else {
      this.#early.push(envelope);
    }
  }

  /** The host has applied the action even if this client cannot reduce it: reads its channel again. */
  #unreadable(params: unknown): void {
    const { channel, origin, serverSeq, rejectionReason } = (params ?? {}) as Readonly<Record<string, unknown>>;
    const { clientId, clientSeq } = (origin ?? {}) as Readonly<Record<string, unknown>>;
    const isOurs = clientId === this.store.clientId && typeof clientSeq === 'number';
    const own = isOurs ? this.store.pending.entries().find((entry) => entry.clientSeq === clientSeq) : undefined;
    // A host also sends back rejected actions that are malformed; the dispatched action takes their place.
    if (own && own.channel === channel && typeof serverSeq === 'number' && typeof rejectionReason === 'string') {
      const { action, clientSeq: number } = own;
      const ours = { clientId: this.store.clientId, clientSeq: number };
      return this.#action({ channel, serverSeq, origin: ours, rejectionReason, action });
    }
    if (isOurs) this.store.forget(new Set([clientSeq]));
    if (typeof channel === 'string') this.subscriptions.refresh(channel);
  }

  #catalogue(event: CatalogueEvent): void {
    this.lists.apply(event);
    if (event.method === 'root/sessionRemoved') this.store.loseSession(event.params.session);
  }
}

function infoOf({ snapshots: _held, serverSeq: _seen, ...info }: InitializeResult): HostInfo {
  return info;
}

function sendAction(peer: Peer, entry: UndecidedAction): void {
  entry.sent = true;
  const { channel, clientSeq, action } = entry;
  peer.notify('dispatchAction', { channel, clientSeq, action });
}
