/** The parts of a provider, wired together. Tells them when a connection opens and ends. */

import { deferred, PendingById } from '@atrium/link';
import type { ProviderHelloAckMessage, ProviderStreamHistoryMessage } from '@atrium/protocol/provider';
import { Authentication, Credentials, PairingDialog } from './authentication.js';
import { Connection, Keepalive } from './connection.js';
import { LocalErrorCode, ProviderError } from './errors.js';
import { HelloExchange, ReconnectToken, SessionChooser } from './hello.js';
import { Inbox } from './inbox.js';
import type { Binding, ProviderState, Settings } from './options.js';
import { Pushes } from './pushes.js';
import { checked, helloOf, type Registration, registrationOf } from './registration.js';
import { SessionEvents } from './session-events.js';
import { type Tool, ToolCalls } from './tools.js';
import { filterChange, Updates } from './updates.js';

export class Engine {
  readonly settings: Settings;
  readonly registration: { current: Registration };
  /** Tools of single sessions; no `hello` carries them. */
  readonly sessionTools = new Map<string, Tool>();
  readonly ready = deferred<Binding>();
  readonly sessions: SessionChooser;
  readonly pushes: Pushes;
  readonly updates: Updates;
  readonly queries: PendingById<string, ProviderStreamHistoryMessage['streams']>;
  readonly connection: Connection;
  readonly #reconnectToken: ReconnectToken;
  readonly #keepalive: Keepalive;
  readonly #calls: ToolCalls;
  readonly #events: SessionEvents;
  readonly #authentication: Authentication;
  readonly #hello: HelloExchange;
  readonly #inbox: Inbox;
  #state: ProviderState = { at: 'connecting', failures: 0 };

  constructor(settings: Settings) {
    const { clock, log, on, random, name, transport } = settings;
    this.settings = settings;
    this.registration = { current: registrationOf(settings) };
    // Throws to the author now for options that the gateway would refuse later.
    checked(helloOf(settings, this.registration.current, { session: undefined, reconnectToken: undefined }));
    this.sessions = new SessionChooser(settings.session);
    this.connection = new Connection(
      { transport, clock, random },
      {
        dialling: (failures) => this.#show({ at: 'connecting', failures }),
        opened: () => this.#opened(),
        message: (text) => {
          this.#keepalive.received();
          this.#inbox.receive(text);
        },
        lost: (error, next) => this.#lost(error, next),
      },
    );
    const { connection, registration } = this;
    const send = connection.send.bind(connection);
    const isBound = () => this.#hello.isBound;
    this.#reconnectToken = new ReconnectToken(clock);
    this.#keepalive = new Keepalive({
      clock,
      ask: () => this.#authentication.showTokenAgain(),
      silent: () => connection.restart(new Error('The connection is lost: the gateway has fallen silent')),
    });
    this.#calls = new ToolCalls({ tool: (tool) => this.#tool(tool), send: (text) => connection.sendText(text) });
    this.pushes = new Pushes({ clock, isReady: isBound, send });
    this.updates = new Updates({ clock, registration, isBound, send });
    this.queries = new PendingById({
      clock,
      late: () => new ProviderError(LocalErrorCode.Timeout, 'the gateway did not answer the query'),
    });
    this.#events = new SessionEvents({ on, log, send, ended: (id) => this.#sessionEnded(id) });
    const show = (state: ProviderState) => this.#show(state);
    const giveUp = (error: Error) => void this.close(error);
    this.#authentication = new Authentication({
      credentials: new Credentials(settings),
      pairing: new PairingDialog(settings.pairing),
      ...{ name, send, show, giveUp },
      hangUp: () => connection.hangUp(),
      tryAgain: (error, when) => this.#tryAgain(error, when),
    });
    this.#hello = new HelloExchange({
      ...{ clock, log, show, giveUp },
      sessions: this.sessions,
      hello: (session) => this.#sendHello(session),
      bound: (ack, session) => this.#bound(ack, session),
      outOfSessions: () => this.#authenticateAgain(),
    });
    this.#inbox = new Inbox({
      ...{ on, log, registration, send },
      ...{
        authentication: this.#authentication,
        hello: this.#hello,
        calls: this.#calls,
        events: this.#events,
        sessions: this.sessions,
      },
      ...{ updates: this.updates, queries: this.queries },
    });
  }

  get state(): ProviderState {
    return this.#state;
  }

  get isClosed(): boolean {
    return this.#state.at === 'closed';
  }

  /** For good. */
  async close(error?: Error): Promise<void> {
    if (this.isClosed) return;
    const why = error ?? new ProviderError(LocalErrorCode.Closed, 'close() was called');
    this.#resetConnection();
    const closed = this.connection.close();
    this.#calls.abandon('the provider is closed');
    this.updates.close(why);
    this.pushes.close(why);
    this.queries.abandon(() => why);
    this.ready.reject(why);
    this.#show(error ? { at: 'closed', error } : { at: 'closed' });
    await closed;
  }

  /** A connection inside one process cannot die silently. */
  #opened(): void {
    if (!this.settings.isTrusted) this.#keepalive.start();
    this.#authentication.opened();
  }

  #sendHello(session: string): void {
    const reconnectToken = this.#reconnectToken.token();
    this.#events.helloSent(this.sessions.active);
    this.connection.send(helloOf(this.settings, this.registration.current, { session, reconnectToken }));
  }

  /** Gateways that do not name the session mean the requested one. */
  #bound(ack: ProviderHelloAckMessage, asked: string): void {
    const { providerId, persistDir, degraded } = ack;
    const sessionId = this.sessions.isEverywhere ? undefined : (ack.sessionId ?? asked);
    const binding: Binding = {
      providerId,
      ...(sessionId !== undefined && { sessionId }),
      ...(persistDir !== undefined && { persistDir }),
      ...(degraded && { degraded }),
    };
    this.connection.settled();
    this.#reconnectToken.bound(ack.reconnectToken);
    this.sessions.bound(sessionId);
    this.updates.bound();
    this.#setFiltersAgain();
    this.#show({ at: 'ready', ...binding });
    this.ready.resolve(binding);
    this.pushes.flush();
  }

  #setFiltersAgain(): void {
    for (const [stream, rules] of Object.entries(this.registration.current.filters))
      void this.updates.change((before) => filterChange(before, { stream, rules }));
  }

  #lost(error: Error, next: { readonly failures: number; readonly delayMs: number }): void {
    this.#reconnectToken.lost();
    this.#resetConnection();
    this.#calls.abandon('the connection is lost');
    this.updates.lost();
    this.queries.abandon(() => new ProviderError(LocalErrorCode.Disconnected, error.message));
    this.#show({ at: 'reconnecting', error, ...next });
  }

  #tryAgain(error: Error, when: 'now' | 'later'): void {
    if (this.isClosed) return;
    if (when === 'later') return this.connection.restart(error);
    this.#resetConnection();
    this.connection.dial();
  }

  /**
   * Most tokens are valid for one session, and that one has ended. Authenticating again finds out whether ours is valid
   * for another; if not, the person is asked to pair again. Inside one process there are no tokens, and the provider
   * waits.
   */
  #authenticateAgain(): void {
    if (this.settings.isTrusted) return this.#show({ at: 'waiting-for-session' });
    const ended = new ProviderError(LocalErrorCode.Disconnected, 'the session has ended');
    this.updates.lost();
    this.queries.abandon(() => ended);
    this.#tryAgain(ended, 'now');
  }

  /** Resets the parts that belong to one connection. */
  #resetConnection(): void {
    this.#keepalive.stop();
    this.#authentication.lost();
    this.#hello.lost();
  }

  #sessionEnded(sessionId: string): void {
    if (!this.sessions.isEverywhere) this.#calls.abandon('the session has ended');
    this.#hello.sessionEnded(sessionId);
  }

  #tool(name: string): Tool | undefined {
    const { tools } = this.registration.current;
    return Object.hasOwn(tools, name) ? tools[name] : this.sessionTools.get(name);
  }

  #show(state: ProviderState): void {
    if (this.isClosed) return;
    this.#state = state;
    try {
      this.settings.onState?.(state);
    } catch (error) {
      this.settings.log('onState failed', error);
    }
  }
}
