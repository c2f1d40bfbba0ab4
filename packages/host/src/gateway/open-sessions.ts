/** The sessions that are open to providers, from the moment a session is ready until it ends, and who hears of them. */

import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { type Throttle, throttle } from '@atrium/core/util/scheduling.js';
import type { ProviderSessionEntry, ToProviderMessage } from '@atrium/protocol/provider';
import { GatewaySession } from './gateway-session.js';
import type { GatewayService, HostSession, SessionFacts } from './ports.js';
import { type Access, isOpenTo, listFor } from './provider-auth.js';

/** Titles may change with every word of an agent; providers hear of a change at most this often. */
export const TITLES_INTERVAL_MS = 1_000;

export interface OpenSessionsOptions {
  readonly clock: Clock;
  readonly services: readonly GatewayService[];
  /** The connections that have authenticated; they hear which sessions exist. */
  readonly connections: ReadonlySet<Listener>;
  /** No provider needs this session any more, so the host may unload it. */
  released(uri: string): void;
  /**
   * Admits no more providers. Tokens are revoked only if the session has ended, because an unloaded one may come back.
   */
  closeTo(session: GatewaySession, hasEnded: boolean): void;
  /** Removes all providers from a session. */
  unbindAll(session: GatewaySession): void;
}

interface Listener {
  readonly access: Access | undefined;
  send(message: ToProviderMessage): void;
}

export class OpenSessions {
  readonly list = new SessionList();
  readonly #options: OpenSessionsOptions;
  readonly #titlesChanged: Throttle;

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
    this.#titlesChanged = throttle(options.clock, TITLES_INTERVAL_MS, () => this.#announce());
  }

  /** A session was loaded into memory. */
  attach(host: HostSession, facts: SessionFacts): SessionObserver {
    const { services, released } = this.#options;
    const listeners = services.filter(({ textAdded }) => textAdded);
    const session = new GatewaySession({ host, facts, services, emptied: () => released(host.uri) });
    // The session is still being constructed; nothing can be written to it in this tick.
    if (host.state.lifecycle === 'ready') queueMicrotask(() => this.#reopen(session));
    return {
      begin: async () => {
        session.isUsed = true;
        if (this.list.has(session)) this.#use(session);
      },
      suspend: async () => {
        await Promise.all(services.map((service) => service.suspending?.(session)));
      },
      get keepsAwake() {
        return session.bindings.length > 0;
      },
      observe: (step) => {
        const { action, origin } = step;
        if (origin) this.list.touch(session);
        if (action.type === 'session/ready') this.#open(session);
        if (action.type === 'session/titleChanged' && this.#options.connections.size > 0) this.#titlesChanged.request();
        for (const service of services) service.observe?.(session, step);
      },
      textAdded: (step) => {
        for (const service of listeners) service.textAdded?.(session, step);
      },
      close: () => this.#end(session),
    };
  }

  stop(): void {
    this.#titlesChanged.stop();
  }

  /** The session was read from the log, so processes that had asked its people something have ended. */
  #reopen(session: GatewaySession): void {
    session.withdrawStaleQuestions();
    this.#open(session);
  }

  #open(session: GatewaySession): void {
    const leaving = this.list.whenEnded(session.id);
    if (leaving) return void leaving.then(() => this.#open(session));
    if (session.isClosed || this.list.get(session.id)) return;
    this.list.add(session);
    for (const service of this.#options.services) service.opened?.(session);
    this.#announce();
    if (session.isUsed) this.#use(session);
  }

  #use(session: GatewaySession): void {
    for (const service of this.#options.services) service.used?.(session);
  }

  async #end(session: GatewaySession): Promise<void> {
    if (!this.list.has(session)) return;
    session.isEnding = true;
    this.#options.closeTo(session, !session.isListed());
    // The session's own providers hear of the end before it disappears from the list.
    const ready = Promise.all(this.#options.services.map((service) => service.ending?.(session)));
    const ended = ready.then(() => this.#dispose(session));
    this.list.remove(session, ended);
    this.#announce();
    await ended;
  }

  /** Runs when the session's providers are ready for the end, or their time is up. */
  async #dispose(session: GatewaySession): Promise<void> {
    this.#options.unbindAll(session);
    await Promise.all(this.#options.services.map((service) => service.ended?.(session)));
  }

  #announce(): void {
    for (const connection of this.#options.connections) {
      const { access } = connection;
      if (access) connection.send({ type: 'sessions.updated', active: this.list.entriesFor(access) });
    }
  }
}

/** A session as the host lists it. */
export interface SessionListEntry extends ProviderSessionEntry {
  /** Whether a person touched this session last. As long as there are sessions, exactly one is in the foreground. */
  readonly foreground: boolean;
}

export class SessionList {
  readonly #sessions = new Map<string, GatewaySession>();
  /** Sessions that are ending, by their id. */
  readonly #ending = new Map<string, Promise<void>>();
  /** Sessions that people touched, the latest last. */
  readonly #touched = new Set<GatewaySession>();

  all(): readonly GatewaySession[] {
    return [...this.#sessions.values()];
  }

  get(id: string): GatewaySession | undefined {
    return this.#sessions.get(id);
  }

  has(session: GatewaySession): boolean {
    return this.#sessions.get(session.id) === session;
  }

  add(session: GatewaySession): void {
    this.#sessions.set(session.id, session);
  }

  /** A person did something in a session. */
  touch(session: GatewaySession): void {
    this.#touched.delete(session);
    if (this.has(session)) this.#touched.add(session);
  }

  /** Removes a session from the list. Until `ended` resolves, no other session may take its id. */
  remove(session: GatewaySession, ended: Promise<void>): void {
    this.#sessions.delete(session.id);
    this.#touched.delete(session);
    const done = () => void this.#ending.delete(session.id);
    this.#ending.set(session.id, ended.then(done, done));
  }

  /** Resolves when a session of this id, disposed and then restored, has ended; undefined when none is ending. */
  whenEnded(id: string): Promise<void> | undefined {
    return this.#ending.get(id);
  }

  entries(): SessionListEntry[] {
    const foreground = this.#foreground();
    return this.all().map((session) => ({ ...session.entry(true), foreground: session === foreground }));
  }

  /**
   * Lists the sessions that the provider may enter first, beginning with the foreground session, because some providers
   * take the first one.
   */
  entriesFor(access: Access): ProviderSessionEntry[] {
    const foreground = this.#foreground();
    const sessions = [...this.all()].sort((one, other) => Number(other === foreground) - Number(one === foreground));
    return listFor(access, sessions).map((session) => session.entry(isOpenTo(access, session)));
  }

  #foreground(): GatewaySession | undefined {
    return [...this.#touched].at(-1) ?? this.all().at(-1);
  }
}
