/**
 * Which sessions people are looking at. Clients report it (`atrium/view`). For a client that never does, a session
 * counts as in view for a while after each action of its person there; it may be open on a screen that nobody looks at.
 */
import { hasRole } from '@atrium/core/contracts/access.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { ViewParams } from '@atrium/protocol/ahp-1';
import { UNREPORTED_VIEW_MS } from './limits.js';
import { wrong } from './rules.js';

export interface ViewsOptions {
  readonly clock: Clock;
  isConnected(clientId: string): boolean;
  /** Whether a caller could view a session at all. */
  canSee(caller: Caller, session: string): boolean;
  /** A session may have gone out of view. */
  changed(session: string): void;
}

export class Views {
  readonly #options: ViewsOptions;
  readonly #reported = new Map<Caller, ViewParams>();
  /** By session, the clients that acted there and when they last did. */
  readonly #acted = new Map<string, Map<string, number>>();

  constructor(options: ViewsOptions) {
    this.#options = options;
  }

  report(caller: Caller, view: ViewParams): void {
    const before = this.#reported.get(caller);
    this.#reported.set(caller, view);
    if (before?.session !== undefined && before.isInView) this.#options.changed(before.session);
  }

  left(caller: Caller): void {
    const before = this.#reported.get(caller);
    this.#reported.delete(caller);
    if (before?.session !== undefined && before.isInView) this.#options.changed(before.session);
  }

  /** A client did something in a session. */
  acted(session: string, clientId: string): void {
    const { clock, changed } = this.#options;
    const clients = this.#acted.get(session) ?? new Map<string, number>();
    const isTimed = clients.size > 0;
    clients.set(clientId, clock.now());
    this.#acted.set(session, clients);
    if (!isTimed) this.#forgetLater(session, changed);
  }

  #forgetLater(session: string, changed: (session: string) => void): void {
    const { clock } = this.#options;
    clock.after(UNREPORTED_VIEW_MS, () => {
      const clients = this.#acted.get(session);
      const since = clock.now() - UNREPORTED_VIEW_MS;
      for (const [clientId, at] of clients ?? []) if (at <= since) clients?.delete(clientId);
      if (clients && clients.size > 0) return this.#forgetLater(session, changed);
      this.#acted.delete(session);
      changed(session);
    });
  }

  /** Whether someone who could answer sees the session. A spectator does not keep others from being notified. */
  isInView(session: string): boolean {
    const reporting = new Set<string>();
    const { isConnected, canSee } = this.#options;
    for (const [caller, view] of this.#reported) {
      const { identity, access } = caller;
      if (identity) reporting.add(identity.clientId);
      const couldAnswer = view.session === session && view.isInView && hasRole(access.role, 'approver');
      if (couldAnswer && canSee(caller, session)) return true;
    }
    const since = this.#options.clock.now() - UNREPORTED_VIEW_MS;
    return [...(this.#acted.get(session) ?? [])].some(
      ([clientId, at]) => at > since && !reporting.has(clientId) && isConnected(clientId),
    );
  }

  /** The clients that show notifications themselves, one for each receiver. */
  showing(): { readonly caller: Caller; readonly receiver: string | undefined }[] {
    const receivers = new Set<string>();
    return [...this.#reported].flatMap(([caller, { shows, receiver }]) => {
      if (!shows || (receiver !== undefined && receivers.has(receiver))) return [];
      if (receiver !== undefined) receivers.add(receiver);
      return [{ caller, receiver }];
    });
  }

  get isAnyShowing(): boolean {
    return [...this.#reported.values()].some(({ shows }) => shows);
  }
}

const TEXT_MAX_CHARACTERS = 500;

/** Parses a client's report. Throws the error to answer with. */
export function readView({ session, isInView, shows, receiver }: Readonly<Record<string, unknown>>): ViewParams {
  const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= TEXT_MAX_CHARACTERS;
  if (typeof isInView !== 'boolean') throw wrong('/isInView must be true or false');
  if (session !== undefined && !isText(session)) throw wrong('/session must be the URI of a session');
  if (receiver !== undefined && !isText(receiver)) throw wrong('/receiver must be the id of a receiver');
  return {
    isInView,
    ...(session !== undefined && { session }),
    ...(shows === true && { shows }),
    ...(receiver !== undefined && { receiver }),
  };
}
