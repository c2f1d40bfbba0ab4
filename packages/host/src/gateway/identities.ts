/**
 * Which provider holds which name. A name with an instance is taken while its connection lives. After the connection is
 * lost, its reconnect token brings the provider back for a while; without the token, only a provider with the same
 * trust may take the name.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '@atrium/core/util/clock.js';
import { digestOf, matchesToken, type TokenDigest } from '@atrium/core/util/secrets.js';
import { GatewayErrorCode, RECONNECT_WINDOW_MS } from '@atrium/protocol/provider';
import { GatewayError } from './gateway-errors.js';
import type { Identity, Provider } from './provider.js';
import type { Access } from './provider-auth.js';
import type { ProviderConnection } from './provider-connection.js';

const RECONNECT_TOKEN_BYTES = 24;
/**
 * Instances of one provider that may be away at the same time; with one more, the gateway forgets the oldest. That
 * costs no other provider its place: what others guard while they are away stays guarded.
 */
export const AWAY_INSTANCES_MAX = 20;

interface Holder {
  readonly provider: Provider;
  readonly reconnectDigest: TokenDigest;
  /** Undefined while the provider is away. */
  connection: ProviderConnection | undefined;
  cancelWindow: () => void;
}

/** The provider that a `hello` replaces. */
export interface Predecessor {
  readonly provider: Provider;
  /** The older of two connections that claim to be the same provider; undefined if it is closed. */
  readonly connection: ProviderConnection | undefined;
  /** Whether the same provider comes back. If not, a new one takes the name of one that is gone. */
  readonly isBack: boolean;
}

export class Identities {
  readonly #holders = new Map<string, Holder>();

  constructor(
    private readonly clock: Clock,
    /** Called when a provider can no longer come back. */
    private readonly forget: (provider: Provider) => void,
  ) {}

  /** The provider that this one replaces, if any. Throws when the name is taken. Changes nothing. */
  claim(identity: Identity, access: Access, token: string | undefined): Predecessor | undefined {
    const holder = this.#holders.get(keyOf({ ...identity, scope: access.sessionId }));
    if (!holder) return undefined;
    const { provider, connection } = holder;
    const isSameTrust = provider.trust === access.trust;
    const isBack = isSameTrust && token !== undefined && matchesToken(token, holder.reconnectDigest);
    if (isBack || (isSameTrust && !connection)) return { provider, connection, isBack };
    throw duplicate(identity);
  }

  /**
   * Records that the provider is bound on this connection. Returns its next reconnect token and voids all earlier ones.
   */
  hold(provider: Provider, connection: ProviderConnection): string {
    const key = keyOf(provider);
    this.#holders.get(key)?.cancelWindow();
    const token = `tok-${randomBytes(RECONNECT_TOKEN_BYTES).toString('hex')}`;
    // Moves it to the end of the map, because the first provider is forgotten first.
    this.#holders.delete(key);
    this.#holders.set(key, { provider, reconnectDigest: digestOf(token), connection, cancelWindow: () => {} });
    return token;
  }

  connectionOf(provider: Provider): ProviderConnection | undefined {
    const holder = this.#holders.get(keyOf(provider));
    return holder?.provider === provider ? holder.connection : undefined;
  }

  /** The provider's connection is lost; it may come back within `RECONNECT_WINDOW_MS`. */
  away(provider: Provider): void {
    const holder = this.#holders.get(keyOf(provider));
    if (holder?.provider !== provider) return;
    holder.connection = undefined;
    holder.cancelWindow = this.clock.after(RECONNECT_WINDOW_MS, () => this.#giveUp(provider));
    const kin = [...this.#holders.values()].filter(
      ({ connection, provider: { name, scope } }) => !connection && name === provider.name && scope === provider.scope,
    );
    if (kin[0] && kin.length > AWAY_INSTANCES_MAX) this.#giveUp(kin[0].provider);
  }

  #giveUp(provider: Provider): void {
    this.release(provider);
    this.forget(provider);
  }

  /** The provider said goodbye, or binds under another name. */
  release(provider: Provider): void {
    const holder = this.#holders.get(keyOf(provider));
    if (holder?.provider !== provider) return;
    holder.cancelWindow();
    this.#holders.delete(keyOf(provider));
  }
}

export function duplicate({ name, instance }: Identity): GatewayError {
  const who = instance === undefined ? name : `${name} (${instance})`;
  return new GatewayError(GatewayErrorCode.DuplicateInstance, `${who} is here already: use another instance`);
}

/** A provider that may enter only one session holds its name only there: each session may have its own `ci`. */
function keyOf({ scope, name, instance }: Identity & Pick<Provider, 'scope'>): string {
  return JSON.stringify([scope ?? null, name, instance ?? null]);
}
