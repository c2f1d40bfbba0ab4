/** How often a provider may bind. Each time changes its session for everybody, and is stored. */

import {
  GatewayErrorCode,
  type ProviderHelloMessage,
  REBINDS_PER_MINUTE_MAX,
  type ToProviderMessage,
} from '@atrium/protocol/provider';
import type { Clock } from '../core/util/clock.js';
import { Rate, Rates } from '../core/util/rate-limit.js';
import { CloseCode } from '../core/wire/transport.js';
import type { ProviderConnection } from './connection.js';
import { GatewayError, invalidSession } from './errors.js';
import { asOneChange, type Room } from './gateway-session.js';
import { type Arrival, type ArrivalParts, checkEntry, helloAck, judgeArrival, renew } from './hello.js';
import { Identities, type Predecessor } from './identities.js';
import { Binding, type Provider } from './provider.js';
import type { GatewayCore, GatewayService, Leaving } from './service.js';

/**
 * With one token, over all its connections: whoever drops the line and comes back has not waited. All tabs of a pairing
 * may come back at once, several times a minute.
 */
export const HELLOS_PER_MINUTE_MAX = 120;
const MINUTE_MS = 60_000;

export class HelloRates {
  readonly #clock: Clock;
  readonly #hellos: Rates;
  readonly #rebinds = new WeakMap<ProviderConnection, Rate>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#hellos = new Rates(clock, HELLOS_PER_MINUTE_MAX, MINUTE_MS);
  }

  /** Throws when it was too often. Those in this process are part of the host, and know what they do. */
  count(connection: ProviderConnection): void {
    if (connection.provider && !this.#rebindsOf(connection).take()) throw tooOften(REBINDS_PER_MINUTE_MAX, 'rebinds');
    const token = connection.access?.token;
    if (token && !this.#hellos.take(token.id)) throw tooOften(HELLOS_PER_MINUTE_MAX, 'hellos with one token');
  }

  #rebindsOf(connection: ProviderConnection): Rate {
    const rate = this.#rebinds.get(connection) ?? new Rate(this.#clock, REBINDS_PER_MINUTE_MAX, MINUTE_MS);
    this.#rebinds.set(connection, rate);
    return rate;
  }
}

function tooOften(max: number, what: string): GatewayError {
  return new GatewayError(GatewayErrorCode.RateLimited, `at most ${max} ${what} a minute: wait, then try again`);
}

/**
 * What there is to tell a provider while its `hello` is being stored. Everything that it brought is in force already, so
 * a call or a question may come at once; but first of all it hears that it is bound.
 */

/** The returned function lets everything through. Whoever is lost or leaves meanwhile is told nothing. */
export function holdBack(provider: Provider, connection: ProviderConnection): () => void {
  const held: ToProviderMessage[] = [];
  const keep = (message: ToProviderMessage) => void held.push(message);
  provider.send = keep;
  return () => {
    if (provider.send !== keep) return;
    provider.send = (message) => connection.send(message);
    for (const message of held) connection.send(message);
  };
}

/** Puts providers into sessions and takes them out again: first binding, rebind, reconnect, loss, farewell. */

export interface BinderParts extends ArrivalParts {
  readonly core: GatewayCore;
  readonly services: readonly GatewayService[];
  /** A folder of the provider's own, for results by file. */
  persistDir(provider: Provider): string | undefined;
}

export class Binder {
  readonly #parts: BinderParts;
  readonly #identities: Identities;
  readonly #rates: HelloRates;

  constructor(parts: BinderParts) {
    this.#parts = parts;
    this.#identities = new Identities(parts.core.clock, (provider) => this.#takeOut(provider));
    this.#rates = new HelloRates(parts.core.clock);
  }

  /** A `hello`. The acknowledgement goes out when everything it brought is in force. */
  async hello(connection: ProviderConnection, hello: ProviderHelloMessage): Promise<void> {
    this.#rates.count(connection);
    const left = [...(connection.provider?.bindings.values() ?? [])].map(({ room }) => room);
    // Whoever watches such a session sees the old tools become the new ones; there is no moment without any.
    const { provider, place, isBack, letThrough } = asOneChange(left, () => {
      this.#leaveBefore(connection);
      return this.#arrive(connection, hello);
    });
    const reconnectToken = this.#identities.hold(provider, connection);
    await this.#parts.core.settled();
    if (connection.state === 'Disconnected') return;
    if (connection.provider !== provider) throw invalidSession('the session has ended: choose another');
    connection.enter('Bound');
    const degraded = [...new Set(place.rooms.flatMap((room) => this.#parts.degraded(provider, room)))];
    const persistDir = this.#parts.persistDir(provider);
    const { providerId, trust } = provider;
    connection.send(helloAck({ providerId, trust, reconnectToken, place, persistDir, degraded }));
    letThrough();
    for (const binding of provider.bindings.values()) this.#tell((service) => service.bound?.(binding, isBack));
  }

  /** The old binding is gone before the new one is looked at: nothing of it is used any more, whatever comes. */
  #leaveBefore(connection: ProviderConnection): void {
    const { provider } = connection;
    connection.provider = undefined;
    if (provider) this.#leave(provider, 'rebound');
  }

  /** Throws before anything has changed. */
  #arrive(connection: ProviderConnection, hello: ProviderHelloMessage) {
    const { access } = connection;
    const rooms = this.#parts.core.rooms();
    if (!access) throw new GatewayError(GatewayErrorCode.AuthFailed, 'not authenticated');
    const identity = { name: hello.name, instance: hello.instance };
    const claim = (token: string | undefined) => this.#identities.claim(identity, access, token);
    const arrival = judgeArrival(this.#parts, { hello, access, rooms, claim });
    const { place, predecessor } = arrival;
    const isBack = predecessor?.isBack ?? false;
    if (predecessor) this.#makeRoom(predecessor);
    const provider = isBack && predecessor ? this.#comeBack(predecessor.provider, hello, arrival) : arrival.provider;
    for (const room of place.rooms) if (!provider.bindings.has(room.id)) this.#bind(provider, room);
    connection.provider = provider;
    if (access.token) access.token.name = provider.name;
    return { provider, place, isBack, letThrough: holdBack(provider, connection) };
  }

  /** Calls that were under way fail, and are not repeated. An older connection that is still open is closed. */
  #makeRoom({ provider, connection, isBack }: Predecessor): void {
    this.#tell((service) => service.left?.(provider, 'lost'));
    if (connection) {
      connection.provider = undefined;
      connection.close(CloseCode.Replaced, 'the provider has connected again');
    }
    if (isBack) return;
    this.#takeOut(provider);
    this.#identities.release(provider);
  }

  /** It is the one it was: what it does not bring anew is as it left it, in every session where it still is. */
  #comeBack(provider: Provider, hello: ProviderHelloMessage, { place, provider: now }: Arrival): Provider {
    provider.registration = now.registration;
    provider.admission = now.admission;
    provider.isEverywhere = place.isEverywhere;
    for (const binding of [...provider.bindings.values()]) {
      if (!place.rooms.includes(binding.room)) this.#unbind(binding);
      else {
        renew(binding, hello);
        binding.room.changed(provider.name);
      }
    }
    return provider;
  }

  /** A session came later, and an everywhere-bound provider is ready for it. Ready twice is ready once. */
  ready(provider: Provider, room: Room): void {
    if (provider.bindings.has(room.id)) return;
    checkEntry(this.#parts, { provider, room });
    const binding = this.#bind(provider, room);
    this.#tell((service) => service.bound?.(binding, false));
  }

  #bind(provider: Provider, room: Room): Binding {
    const binding = new Binding(provider, room);
    provider.bindings.set(room.id, binding);
    room.add(binding);
    return binding;
  }

  /** `goodbye`: nothing of it stays. */
  goodbye(connection: ProviderConnection): void {
    const { provider } = connection;
    connection.provider = undefined;
    if (provider) this.#leave(provider, 'left');
    connection.close(CloseCode.Normal, 'goodbye');
  }

  /** The connection is gone without a word: for a while it may come back, and what it guarded stays guarded. */
  lost({ provider }: ProviderConnection): void {
    if (!provider) return;
    provider.send = () => {};
    this.#tell((service) => service.left?.(provider, 'lost'));
    for (const binding of provider.bindings.values()) {
      binding.isAway = true;
      binding.room.changed(provider.name);
    }
    this.#identities.away(provider);
  }

  /** A session has ended: whoever was bound to it alone is bound to nothing now. */
  unbindRoom(room: Room, connectionOf: (provider: Provider) => ProviderConnection | undefined): void {
    for (const binding of [...room.bindings]) this.#dismiss(binding, connectionOf(binding.provider));
  }

  /** It may not be in this session. Where else it is, it stays. */
  evict(binding: Binding, { why, connection }: { why: string; connection: ProviderConnection | undefined }): void {
    const { provider, sessionId } = binding;
    const { providerId } = provider;
    provider.send({ type: 'error', code: GatewayErrorCode.Unauthorized, message: why, providerId, sessionId });
    this.#dismiss(binding, connection);
  }

  #dismiss(binding: Binding, connection: ProviderConnection | undefined): void {
    this.#unbind(binding);
    const { provider } = binding;
    if (provider.isEverywhere || provider.bindings.size > 0) return;
    this.#leave(provider, 'left');
    if (!connection) return;
    connection.provider = undefined;
    connection.enter('Unbound');
  }

  #leave(provider: Provider, how: Leaving): void {
    provider.send = () => {};
    this.#tell((service) => service.left?.(provider, how));
    this.#takeOut(provider);
    this.#identities.release(provider);
  }

  #takeOut(provider: Provider): void {
    for (const binding of [...provider.bindings.values()]) this.#unbind(binding);
  }

  #unbind(binding: Binding): void {
    binding.provider.bindings.delete(binding.sessionId);
    binding.room.remove(binding);
    this.#tell((service) => service.unbound?.(binding));
  }

  #tell(what: (service: GatewayService) => void): void {
    for (const service of this.#parts.services) what(service);
  }
}
