/** Binds providers to sessions and unbinds them: first binding, rebind, reconnect, loss, goodbye. */

import type { Clock } from '@atrium/core/util/clock.js';
import { RateLimit } from '@atrium/core/util/scheduling.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import {
  GatewayErrorCode,
  type ProviderHelloMessage,
  REBINDS_PER_MINUTE_MAX,
  type ToProviderMessage,
} from '@atrium/protocol/provider';
import { degradedFor } from './authorize.js';
import { GatewayError, invalidSession } from './gateway-errors.js';
import { asOneChange, type GatewaySession } from './gateway-session.js';
import { type Arrival, type ArrivalOptions, checkEntry, helloAck, judgeArrival, renew } from './hello.js';
import { Identities, type Predecessor } from './identities.js';
import type { Commits, DepartureReason, GatewayService } from './ports.js';
import { Binding, type Provider } from './provider.js';
import type { ProviderConnection } from './provider-connection.js';
import type { ResultFolders } from './tools/provider-results.js';

/**
 * `hello` messages with one token, over all its connections: reconnecting does not reset the count. All tabs of a
 * pairing may come back at once, several times a minute.
 */
export const HELLOS_PER_MINUTE_MAX = 120;
const MINUTE_MS = 60_000;

export interface BinderOptions extends ArrivalOptions {
  readonly clock: Clock;
  readonly commits: Commits;
  readonly services: readonly GatewayService[];
  readonly folders: ResultFolders;
  sessions(): readonly GatewaySession[];
}

export class Binder {
  readonly #options: BinderOptions;
  readonly #identities: Identities;
  readonly #rates: HelloRates;

  constructor(options: BinderOptions) {
    this.#options = options;
    this.#identities = new Identities(options.clock, (provider) => this.#removeProvider(provider));
    this.#rates = new HelloRates(options.clock);
  }

  /** Handles a `hello`. The acknowledgement goes out when everything in the `hello` is in force. */
  async hello(connection: ProviderConnection, hello: ProviderHelloMessage): Promise<void> {
    this.#rates.count(connection);
    const left = [...(connection.provider?.bindings.values() ?? [])].map(({ session }) => session);
    // Clients see the old tools become the new ones, without a moment in which there are none.
    const { provider, scope, isBack, letThrough } = asOneChange(left, () => {
      this.#leaveBefore(connection);
      return this.#arrive(connection, hello);
    });
    const reconnectToken = this.#identities.hold(provider, connection);
    await this.#options.commits.settled();
    if (connection.state === 'Disconnected') return;
    if (connection.provider !== provider) throw invalidSession('the session has ended: choose another');
    connection.enter('Bound');
    const degraded = [...new Set([...provider.bindings.values()].flatMap(degradedFor))];
    const persistDir = this.#options.folders.of(provider);
    const { providerId, trust } = provider;
    connection.send(helloAck({ providerId, trust, reconnectToken, scope, persistDir, degraded }));
    letThrough();
    for (const binding of provider.bindings.values()) this.#notify((service) => service.bound?.(binding, isBack));
  }

  /**
   * Ends the old binding before the new one is judged, so that nothing of the old one is used even if the new one
   * fails.
   */
  #leaveBefore(connection: ProviderConnection): void {
    const { provider } = connection;
    connection.provider = undefined;
    if (provider) this.#leave(provider, 'rebound');
  }

  /** Throws before anything has changed. */
  #arrive(connection: ProviderConnection, hello: ProviderHelloMessage) {
    const { access } = connection;
    if (!access) throw new GatewayError(GatewayErrorCode.AuthFailed, 'not authenticated');
    const identity = { name: hello.name, instance: hello.instance };
    const claim = (token: string | undefined) => this.#identities.claim(identity, access, token);
    const arrival = judgeArrival(this.#options, { hello, access, sessions: this.#options.sessions(), claim });
    const { scope, predecessor } = arrival;
    const isBack = predecessor?.isBack ?? false;
    if (predecessor) this.#displace(predecessor);
    const provider = isBack && predecessor ? this.#comeBack(predecessor.provider, hello, arrival) : arrival.provider;
    for (const session of scope.sessions) if (!provider.bindings.has(session.id)) this.#bind(provider, session);
    connection.provider = provider;
    if (access.token) access.token.name = provider.name;
    return { provider, scope, isBack, letThrough: holdBack(provider, connection) };
  }

  /** Calls under way fail and are not repeated. An older connection that is still open is closed. */
  #displace({ provider, connection, isBack }: Predecessor): void {
    this.#notify((service) => service.left?.(provider, 'lost'));
    if (connection) {
      connection.provider = undefined;
      connection.close(CloseCode.Replaced, 'the provider has connected again');
    }
    if (isBack) return;
    this.#removeProvider(provider);
    this.#identities.release(provider);
  }

  /**
   * The same provider returns: what its `hello` leaves out stays as it was, in every session that it is still bound to.
   */
  #comeBack(provider: Provider, hello: ProviderHelloMessage, { scope, provider: now }: Arrival): Provider {
    provider.registration = now.registration;
    provider.admission = now.admission;
    provider.isEverywhere = scope.isEverywhere;
    for (const binding of [...provider.bindings.values()]) {
      if (!scope.sessions.includes(binding.session)) this.#unbind(binding);
      else {
        renew(binding, hello);
        binding.session.changed(provider.name);
      }
    }
    return provider;
  }

  /** A provider that is bound to all sessions is ready for a session that came later. Repeating this does nothing. */
  ready(provider: Provider, session: GatewaySession): void {
    if (provider.bindings.has(session.id)) return;
    checkEntry(this.#options, { provider, session });
    const binding = this.#bind(provider, session);
    this.#notify((service) => service.bound?.(binding, false));
  }

  #bind(provider: Provider, session: GatewaySession): Binding {
    const binding = new Binding(provider, session);
    provider.bindings.set(session.id, binding);
    session.add(binding);
    return binding;
  }

  /** Handles `goodbye`: nothing of the provider remains. */
  goodbye(connection: ProviderConnection): void {
    const { provider } = connection;
    connection.provider = undefined;
    if (provider) this.#leave(provider, 'left');
    connection.close(CloseCode.Normal, 'goodbye');
  }

  /** The connection is lost. For a while the provider may come back, and its fail-closed gates deny until then. */
  lost({ provider }: ProviderConnection): void {
    if (!provider) return;
    provider.send = () => {};
    this.#notify((service) => service.left?.(provider, 'lost'));
    for (const binding of provider.bindings.values()) {
      binding.isAway = true;
      binding.session.changed(provider.name);
    }
    this.#identities.away(provider);
  }

  /** A session has ended: unbinds its providers. One that was bound only there is then bound to nothing. */
  unbindAll(session: GatewaySession): void {
    for (const binding of [...session.bindings]) this.#dismiss(binding);
  }

  /** Removes a provider from a session that it may not be in, and tells it why. Its other sessions stay. */
  evict(binding: Binding, why: string): void {
    const { provider, sessionId } = binding;
    const { providerId } = provider;
    provider.send({ type: 'error', code: GatewayErrorCode.Unauthorized, message: why, providerId, sessionId });
    this.#dismiss(binding);
  }

  #dismiss(binding: Binding): void {
    this.#unbind(binding);
    const { provider } = binding;
    if (provider.isEverywhere || provider.bindings.size > 0) return;
    const connection = this.#identities.connectionOf(provider);
    this.#leave(provider, 'left');
    if (connection?.provider !== provider) return;
    connection.provider = undefined;
    connection.enter('Unbound');
  }

  #leave(provider: Provider, how: DepartureReason): void {
    provider.send = () => {};
    this.#notify((service) => service.left?.(provider, how));
    this.#removeProvider(provider);
    this.#identities.release(provider);
  }

  #removeProvider(provider: Provider): void {
    for (const binding of [...provider.bindings.values()]) this.#unbind(binding);
  }

  #unbind(binding: Binding): void {
    binding.provider.bindings.delete(binding.sessionId);
    binding.session.remove(binding);
    this.#notify((service) => service.unbound?.(binding));
  }

  #notify(what: (service: GatewayService) => void): void {
    for (const service of this.#options.services) what(service);
  }
}

/** Limits how often a provider binds, because each binding changes its session for every client and is stored. */
class HelloRates {
  readonly #hellos: RateLimit;
  readonly #rebinds: RateLimit;

  constructor(clock: Clock) {
    this.#hellos = new RateLimit(clock, HELLOS_PER_MINUTE_MAX, MINUTE_MS);
    this.#rebinds = new RateLimit(clock, REBINDS_PER_MINUTE_MAX, MINUTE_MS);
  }

  /** Throws when the provider binds too often. Providers in this process have no token and no such limit. */
  count(connection: ProviderConnection): void {
    if (connection.provider && !this.#rebinds.take(connection)) throw tooOften(REBINDS_PER_MINUTE_MAX, 'rebinds');
    const token = connection.access?.token;
    if (token && !this.#hellos.take(token.id)) throw tooOften(HELLOS_PER_MINUTE_MAX, 'hellos with one token');
  }
}

function tooOften(max: number, what: string): GatewayError {
  return new GatewayError(GatewayErrorCode.RateLimited, `at most ${max} ${what} a minute: wait, then try again`);
}

/**
 * Holds messages to a provider back until its `hello` is stored. Everything in it is in force already, so a call may
 * come at once; but the provider must first hear that it is bound. The returned function sends the held messages,
 * unless the provider has gone meanwhile.
 */
function holdBack(provider: Provider, connection: ProviderConnection): () => void {
  const held: ToProviderMessage[] = [];
  const keep = (message: ToProviderMessage) => void held.push(message);
  provider.send = keep;
  return () => {
    if (provider.send !== keep) return;
    provider.send = (message) => connection.send(message);
    for (const message of held) connection.send(message);
  };
}
