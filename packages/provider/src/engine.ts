/** The parts of a provider, wired together. It knows when a connection is there and when it is lost; the parts know the rest. */

import { deferred } from '@atrium/link';
import type { ProviderHelloAckMessage, ProviderStreamHistoryMessage } from '@atrium/protocol/provider';
import { Authentication, Credentials, PairingDialog } from './authentication.js';
import { Connection, Keepalive } from './connection.js';
import { LocalErrorCode, ProviderError } from './errors.js';
import { HelloExchange, ReconnectToken, SessionChooser } from './hello.js';
import { Inbox } from './inbox.js';
import type { Binding, ProviderState, Settings } from './options.js';
import { Pushes } from './pushes.js';
import { checked, helloOf, type Registration, registrationOf } from './registration.js';
import { Requests } from './requests.js';
import { SessionEvents } from './session-events.js';
import { type Tool, ToolCalls } from './tools.js';
import { filterChange, Updates } from './updates.js';

export class Engine {
  readonly settings: Settings;
  readonly registration: { current: Registration };
  /** Tools that only some session has; they are in no `hello`. */
  readonly sessionTools = new Map<string, Tool>();
  readonly ready = deferred<Binding>();
  readonly sessions: SessionChooser;
  readonly pushes: Pushes;
  readonly updates: Updates;
  readonly queries: Requests<ProviderStreamHistoryMessage['streams']>;
  readonly link: Connection;
  readonly #returning: ReconnectToken;
  readonly #pulse: Keepalive;
  readonly #calls: ToolCalls;
  readonly #life: SessionEvents;
  readonly #door: Authentication;
  readonly #greeter: HelloExchange;
  readonly #inbox: Inbox;
  #state: ProviderState = { at: 'connecting', failures: 0 };

  constructor(settings: Settings) {
    const { clock, log, on, random, name, transport } = settings;
    this.settings = settings;
    this.registration = { current: registrationOf(settings) };
    // What is wrong with the options is told to their author at once, not to the gateway later.
    checked(helloOf(settings, this.registration.current, { session: undefined, reconnectToken: undefined }));
    this.sessions = new SessionChooser(settings.session);
    this.link = new Connection(
      { transport, clock, random },
      {
        dialling: (failures) => this.#show({ at: 'connecting', failures }),
        opened: () => this.#opened(),
        message: (text) => {
          this.#pulse.heard();
          this.#inbox.receive(text);
        },
        lost: (error, next) => this.#lost(error, next),
      },
    );
    const { link, registration } = this;
    const send = link.send.bind(link);
    const isBound = () => this.#greeter.isBound;
    this.#returning = new ReconnectToken(clock);
    this.#pulse = new Keepalive({
      clock,
      ask: () => this.#door.knock(),
      silent: () => link.restart(new Error('The connection is lost: the gateway has fallen silent')),
    });
    this.#calls = new ToolCalls({ tool: (tool) => this.#tool(tool), send: (text) => link.sendText(text) });
    this.pushes = new Pushes({ clock, isReady: isBound, send });
    this.updates = new Updates({ clock, registration, isBound, send });
    this.queries = new Requests(clock);
    this.#life = new SessionEvents({ on, log, send, ended: (id) => this.#sessionEnded(id) });
    const show = (state: ProviderState) => this.#show(state);
    const giveUp = (error: Error) => void this.close(error);
    this.#door = new Authentication({
      credentials: new Credentials(settings),
      pairing: new PairingDialog(settings.pairing),
      ...{ name, send, show, giveUp },
      hangUp: () => link.hangUp(),
      tryAgain: (error, when) => this.#tryAgain(error, when),
    });
    this.#greeter = new HelloExchange({
      ...{ clock, log, show, giveUp },
      sessions: this.sessions,
      hello: (session) => this.#hello(session),
      bound: (ack, session) => this.#bound(ack, session),
      outOfSessions: () => this.#comeInAnew(),
    });
    this.#inbox = new Inbox({
      ...{ on, log, registration, send },
      ...{ door: this.#door, greeter: this.#greeter, calls: this.#calls, life: this.#life, sessions: this.sessions },
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
    this.#leave();
    const closed = this.link.close();
    this.#calls.abandon('the provider is closed');
    this.updates.close(why);
    this.pushes.close(why);
    this.queries.rejectAll(why);
    this.ready.reject(why);
    this.#show(error ? { at: 'closed', error } : { at: 'closed' });
    await closed;
  }

  /** In one process nobody can be cut off without noticing. */
  #opened(): void {
    if (!this.settings.isTrusted) this.#pulse.start();
    this.#door.opened();
  }

  #hello(session: string): void {
    const reconnectToken = this.#returning.token();
    this.#life.greeted(this.sessions.active);
    this.link.send(helloOf(this.settings, this.registration.current, { session, reconnectToken }));
  }

  /** Gateways that do not say which session it is mean the one that was asked for. */
  #bound(ack: ProviderHelloAckMessage, asked: string): void {
    const { providerId, persistDir, degraded } = ack;
    const sessionId = this.sessions.isEverywhere ? undefined : (ack.sessionId ?? asked);
    const binding: Binding = {
      providerId,
      ...(sessionId !== undefined && { sessionId }),
      ...(persistDir !== undefined && { persistDir }),
      ...(degraded && { degraded }),
    };
    this.link.settled();
    this.#returning.bound(ack.reconnectToken);
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
    this.#returning.lost();
    this.#leave();
    this.#calls.abandon('the connection is lost');
    this.updates.lost();
    this.queries.rejectAll(new ProviderError(LocalErrorCode.Disconnected, error.message));
    this.#show({ at: 'reconnecting', error, ...next });
  }

  #tryAgain(error: Error, when: 'now' | 'later'): void {
    if (this.isClosed) return;
    if (when === 'later') return this.link.restart(error);
    this.#leave();
    this.link.dial();
  }

  /**
   * Most tokens are good for one session, and that one has ended. Whether ours opens another one is found out at the
   * door: if not, the person is asked to pair again. In one process there is no door, and one just waits.
   */
  #comeInAnew(): void {
    if (this.settings.isTrusted) return this.#show({ at: 'waiting-for-session' });
    const ended = new ProviderError(LocalErrorCode.Disconnected, 'the session has ended');
    this.updates.lost();
    this.queries.rejectAll(ended);
    this.#tryAgain(ended, 'now');
  }

  /** Whatever was said on this connection is void. */
  #leave(): void {
    this.#pulse.stop();
    this.#door.lost();
    this.#greeter.lost();
  }

  #sessionEnded(sessionId: string): void {
    if (!this.sessions.isEverywhere) this.#calls.abandon('the session has ended');
    this.#greeter.sessionEnded(sessionId);
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
