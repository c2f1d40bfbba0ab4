/** Puts providers into sessions and takes them out again: first binding, rebind, reconnect, loss, farewell. */
import { randomUUID } from 'node:crypto';
import { GatewayErrorCode, type ProviderHelloMessage, REBINDS_PER_MINUTE_MAX } from '@atrium/protocol/provider';
import { CloseCode } from '../wire/transport.js';
import type { ProviderConnection } from './connection.js';
import { GatewayError } from './gateway-error.js';
import { helloAck, judgeHello, type Place, registrationOf } from './hello.js';
import { Identities } from './identities.js';
import { Binding, type Identity, Provider } from './provider.js';
import { Rate } from './rate.js';
import type { Room } from './room.js';
import type { GatewayCore, GatewayService, Leaving } from './service.js';

const MINUTE_MS = 60_000;

export interface BinderParts {
  readonly core: GatewayCore;
  readonly services: readonly GatewayService[];
  /** Throws when the tools of a new provider cannot stand in a session. */
  checkTools(provider: Provider, room: Room): void;
  /** A folder of the provider's own, for results by file. */
  persistDir(provider: Provider): string | undefined;
  /** What the agent of a session cannot do for this provider. */
  degraded(provider: Provider, room: Room): readonly string[];
}

export class Binder {
  readonly #parts: BinderParts;
  readonly #identities: Identities;
  readonly #rebinds = new WeakMap<ProviderConnection, Rate>();

  constructor(parts: BinderParts) {
    this.#parts = parts;
    this.#identities = new Identities(parts.core.clock, (provider) => this.#takeOut(provider));
  }

  /** A `hello`. The acknowledgement goes out when everything it brought is in force. */
  async hello(connection: ProviderConnection, hello: ProviderHelloMessage): Promise<void> {
    const before = connection.provider;
    if (before) this.#rebind(connection, before);
    const { provider, place, isBack } = this.#admit(connection, hello);
    this.#putIn(provider, place, isBack);
    connection.provider = provider;
    provider.send = (message) => connection.send(message);
    if (connection.access?.token) connection.access.token.name = provider.name;
    const close = () => connection.close(CloseCode.Replaced, 'the provider has connected again');
    const reconnectToken = this.#identities.hold(provider, close);
    await this.#parts.core.settled();
    if (connection.state === 'Disconnected') return;
    connection.enter('Bound');
    connection.send(this.#ack(provider, place, reconnectToken));
    for (const binding of provider.bindings.values()) this.#tell((service) => service.bound?.(binding, isBack));
  }

  #ack(provider: Provider, place: Place, reconnectToken: string) {
    const { providerId, trust } = provider;
    const degraded = [...new Set(place.rooms.flatMap((room) => this.#parts.degraded(provider, room)))];
    const persistDir = this.#parts.persistDir(provider);
    return helloAck({ providerId, trust, reconnectToken, place, persistDir, degraded });
  }

  /** The old binding is gone before the new one is looked at: nothing of it is used any more, whatever comes. */
  #rebind(connection: ProviderConnection, before: Provider): void {
    const rate = this.#rebinds.get(connection) ?? new Rate(this.#parts.core.clock, REBINDS_PER_MINUTE_MAX, MINUTE_MS);
    this.#rebinds.set(connection, rate);
    if (!rate.take())
      throw new GatewayError(GatewayErrorCode.RateLimited, `at most ${REBINDS_PER_MINUTE_MAX} rebinds a minute`);
    connection.provider = undefined;
    connection.enter('Unbound');
    this.#leave(before, 'rebound');
  }

  /** Who it is, and where it may be. Throws before anything has changed. */
  #admit(connection: ProviderConnection, hello: ProviderHelloMessage) {
    const { access } = connection;
    if (!access) throw new GatewayError(GatewayErrorCode.AuthFailed, 'not authenticated');
    const place = judgeHello(hello, access, this.#parts.core.rooms());
    const identity: Identity = { name: hello.name, instance: hello.instance };
    const returning = this.#identities.claim(identity, hello.reconnectToken ?? undefined);
    const isBack = returning?.trust === access.trust;
    const registration = registrationOf(hello, isBack ? returning.registration : undefined);
    const provider = new Provider({
      ...identity,
      trust: access.trust,
      providerId: isBack ? returning.providerId : `p-${randomUUID()}`,
      isEverywhere: place.isEverywhere,
      registration,
    });
    for (const room of place.rooms) this.#parts.checkTools(provider, room);
    if (returning) this.#replace(returning);
    return { provider, place, isBack };
  }

  /** It is here again: what was kept of it makes room. Calls that were under way have failed, and are not repeated. */
  #replace(returning: Provider): void {
    this.#tell((service) => service.left?.(returning, 'lost'));
    this.#takeOut(returning);
  }

  #putIn(provider: Provider, { rooms }: Place, isBack: boolean): void {
    for (const room of rooms) this.bind(provider, room, isBack);
  }

  /** Also for a session that came later, once an everywhere-bound provider is ready for it. */
  bind(provider: Provider, room: Room, isBack = false): Binding {
    const binding = new Binding(provider, room);
    // What the model was told once is not told again.
    if (isBack) binding.startupContext = '';
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
    for (const binding of [...room.bindings]) {
      this.#unbind(binding);
      const { provider } = binding;
      if (provider.isEverywhere || provider.bindings.size > 0) continue;
      const connection = connectionOf(provider);
      this.#leave(provider, 'left');
      if (!connection) continue;
      connection.provider = undefined;
      connection.enter('Unbound');
    }
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
