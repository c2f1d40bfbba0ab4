/** What the provider shows at the door: a token it was given, one from an earlier pairing, or the wish to pair. */
import { LocalErrorCode, ProviderError } from './errors.js';
import type { Settings } from './options.js';

export type Credential =
  | { readonly by: 'token'; readonly token: string }
  | { readonly by: 'pairing' }
  /** The gateway is in this process. */
  | { readonly by: 'trust' };

/** Tokens that were refused are remembered, so that a returning one is not shown twice; more than this are forgotten. */
const REFUSED_MAX = 20;

export class Credentials {
  readonly #settings: Settings;
  readonly #refused = new Set<string>();
  #issued: string | undefined;
  #shown: string | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  get canPair(): boolean {
    return this.#settings.pairing !== undefined;
  }

  async next(): Promise<Credential> {
    if (this.#settings.isTrusted) return { by: 'trust' };
    const token = await this.#token();
    this.#shown = token;
    if (token !== undefined) return { by: 'token', token };
    if (this.canPair) return { by: 'pairing' };
    throw new ProviderError(LocalErrorCode.NoToken, 'the token is refused, or there is none');
  }

  /** The gateway did not take the token. */
  async refused(): Promise<void> {
    if (this.#shown === undefined) return;
    if (this.#refused.size >= REFUSED_MAX) this.#refused.clear();
    this.#refused.add(this.#shown);
    if (this.#shown === this.#issued) this.#issued = undefined;
    await this.#settings.pairing?.store?.save(undefined);
  }

  /** A pairing has worked. */
  async issued(token: string): Promise<void> {
    this.#issued = token;
    await this.#settings.pairing?.store?.save(token);
  }

  async #token(): Promise<string | undefined> {
    const { token, pairing } = this.#settings;
    const given = typeof token === 'function' ? await token() : token;
    const candidates = [given, this.#issued, (await pairing?.store?.load()) ?? undefined];
    return candidates.find((candidate) => candidate && !this.#refused.has(candidate));
  }
}
