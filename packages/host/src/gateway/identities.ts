/**
 * Who is who. A name with an instance is taken as long as its connection lives; when that is lost, its reconnect token
 * brings it back for a while, and without the token anybody with access may take the name afresh.
 */
import { randomBytes } from 'node:crypto';
import { GatewayErrorCode, RECONNECT_WINDOW_MS } from '@atrium/protocol/provider';
import type { Clock } from '../clock.js';
import { digestOf, matchesToken, type TokenDigest } from '../security/token.js';
import { GatewayError } from './gateway-error.js';
import type { Identity, Provider } from './provider.js';

interface Holder {
  provider: Provider;
  reconnectDigest: TokenDigest;
  /** Closes its connection, when another one takes over. Absent while it is away. */
  close: (() => void) | undefined;
  cancelWindow: () => void;
}

export class Identities {
  readonly #holders = new Map<string, Holder>();

  constructor(
    private readonly clock: Clock,
    /** Its time to come back is over: nothing of it is kept. */
    private readonly forget: (provider: Provider) => void,
  ) {}

  /**
   * Whom a `hello` comes back as: the provider that showed its token, or undefined for somebody new. Throws when the
   * name is taken by a connection that lives.
   */
  claim(identity: Identity, token: string | undefined): Provider | undefined {
    const holder = this.#holders.get(keyOf(identity));
    if (!holder) return undefined;
    if (token !== undefined && matchesToken(token, holder.reconnectDigest)) return holder.provider;
    if (holder.close) {
      const name = keyOf(identity);
      throw new GatewayError(GatewayErrorCode.DuplicateInstance, `${name} is connected already: use another instance`);
    }
    this.#drop(holder);
    return undefined;
  }

  /** The provider is bound on this connection. Gives its next reconnect token; every earlier one is void. */
  hold(provider: Provider, close: () => void): string {
    const before = this.#holders.get(keyOf(provider));
    before?.cancelWindow();
    const token = `tok-${randomBytes(24).toString('hex')}`;
    const reconnectDigest = digestOf(token);
    this.#holders.set(keyOf(provider), { provider, reconnectDigest, close, cancelWindow: () => {} });
    before?.close?.();
    return token;
  }

  /** Its connection is lost: it may come back within the window. */
  away(provider: Provider): void {
    const holder = this.#holders.get(keyOf(provider));
    if (holder?.provider !== provider) return;
    holder.close = undefined;
    holder.cancelWindow = this.clock.after(RECONNECT_WINDOW_MS, () => this.#drop(holder));
  }

  /** It left for good, or binds as somebody else. */
  release(provider: Provider): void {
    const holder = this.#holders.get(keyOf(provider));
    if (holder?.provider !== provider) return;
    holder.cancelWindow();
    this.#holders.delete(keyOf(provider));
  }

  #drop(holder: Holder): void {
    this.release(holder.provider);
    this.forget(holder.provider);
  }
}

function keyOf({ name, instance }: Identity): string {
  return instance === undefined ? name : `${name}/${instance}`;
}
