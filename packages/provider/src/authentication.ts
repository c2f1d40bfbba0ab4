/** What the provider shows at the door: a token it was given, one from an earlier pairing, or the wish to pair. */

import {
  GatewayErrorCode,
  type ProviderErrorMessage,
  type ToGatewayMessage,
  type ToProviderMessage,
} from '@atrium/protocol/provider';
import { asError, LocalErrorCode, ProviderError } from './errors.js';
import type { Pairing, ProviderState, Settings } from './options.js';

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

/** Asks the person for the pairing code, and gives up when nobody answers. */

/** Codes run out while nobody types them. After this many in a row the session should not be bothered any more. */
export const PAIRING_ROUNDS_MAX = 5;

export class PairingDialog {
  readonly #pairing: Pairing | undefined;
  #asking: AbortController | undefined;
  #rounds = 0;

  constructor(pairing: Pairing | undefined) {
    this.#pairing = pairing;
  }

  /** The code that the person typed; undefined when the question is void. Throws when nobody wants to answer it. */
  async ask(prompt: string): Promise<string | undefined> {
    this.cancel();
    this.#rounds += 1;
    if (this.#rounds > PAIRING_ROUNDS_MAX) throw refused(`no right code in ${PAIRING_ROUNDS_MAX} rounds`);
    const asking = new AbortController();
    this.#asking = asking;
    const code = await Promise.resolve(this.#pairing?.code(prompt, asking.signal)).catch((error: unknown) => {
      if (!asking.signal.aborted) throw refused(asError(error).message);
    });
    if (asking.signal.aborted) return undefined;
    const typed = code?.replaceAll(/\s/g, '') ?? '';
    if (typed === '') throw refused('no code was typed');
    return typed;
  }

  /** The code has run out, or is not needed any more. */
  cancel(): void {
    this.#asking?.abort();
    this.#asking = undefined;
  }

  succeeded(): void {
    this.#rounds = 0;
    this.cancel();
  }
}

export function refused(what: string): ProviderError {
  return new ProviderError(LocalErrorCode.PairingRefused, what);
}

/** The first half of the way in: show a token, or pair. Begins anew with every connection. */

export interface AuthenticationParts {
  readonly credentials: Credentials;
  readonly pairing: PairingDialog;
  readonly name: string;
  send(message: ToGatewayMessage): void;
  show(state: ProviderState): void;
  /** The gateway is about to close this connection. */
  hangUp(): void;
  /** This connection is of no use; another one may be. */
  tryAgain(error: Error, when: 'now' | 'later'): void;
  /** No connection will be of any use. */
  giveUp(error: Error): void;
}

/** Too many pairings, or no session that could show a code: both pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([GatewayErrorCode.InvalidSession, GatewayErrorCode.RateLimited]);

export class Authentication {
  readonly #parts: AuthenticationParts;
  #at: 'away' | 'authenticating' | 'pairing' | 'inside' = 'away';
  /** Tokens that were refused in a row. */
  #refusals = 0;
  /** What the gateway has seen on this connection. */
  #shown: string | undefined;

  constructor(parts: AuthenticationParts) {
    this.#parts = parts;
  }

  /** A connection is open. In this process the gateway speaks first. */
  opened(): void {
    const { credentials, name, send } = this.#parts;
    this.#at = 'authenticating';
    this.#attend(async () => {
      const credential = await credentials.next();
      if (this.#at !== 'authenticating') return;
      if (credential.by === 'token') this.#showToken(credential.token);
      if (credential.by === 'pairing') send({ type: 'auth', mode: 'pair', name });
    });
  }

  lost(): void {
    this.#at = 'away';
    this.#shown = undefined;
    this.#parts.pairing.cancel();
  }

  /**
   * Shows the same token once more, for no other reason than to be answered. Gateways do not take this for work of the
   * provider, which would matter where several instances share a tool. Says whether there was anything to show.
   */
  knock(): boolean {
    if (this.#shown === undefined) return false;
    this.#showToken(this.#shown);
    return true;
  }

  #showToken(token: string): void {
    this.#shown = token;
    this.#parts.send({ type: 'auth', token });
  }

  take(message: ToProviderMessage): void {
    if (message.type === 'auth.pairing') this.#pair(message.prompt);
    if (message.type === 'sessions') this.#letIn(message.token);
    if (message.type === 'error') this.#failed(message);
  }

  #pair(prompt: string): void {
    const { pairing, send, show } = this.#parts;
    this.#at = 'pairing';
    show({ at: 'pairing', prompt });
    this.#attend(async () => {
      const code = await pairing.ask(prompt);
      if (code !== undefined && this.#at === 'pairing') send({ type: 'auth.confirm', code });
    });
  }

  #letIn(token: string | undefined): void {
    const { credentials, pairing } = this.#parts;
    this.#at = 'inside';
    this.#refusals = 0;
    pairing.succeeded();
    if (token === undefined) return;
    this.#shown = token;
    this.#attend(() => credentials.issued(token));
  }

  #failed({ code, message, replyTo }: ProviderErrorMessage): void {
    const error = new ProviderError(code, message, { replyTo });
    if (this.#at === 'authenticating') this.#refused(error);
    if (this.#at === 'pairing') this.#notPaired(error);
  }

  #refused(error: ProviderError): void {
    const { credentials, hangUp, tryAgain, giveUp, show } = this.#parts;
    if (PASSING.has(error.code)) {
      tryAgain(error, 'later');
      if (error.code === GatewayErrorCode.InvalidSession) show({ at: 'waiting-for-session' });
      return;
    }
    if (error.code !== GatewayErrorCode.AuthFailed) return giveUp(error);
    hangUp();
    this.#refusals += 1;
    // A source may have ever new tokens, none of them good: only the first refusal is answered at once.
    const when = this.#refusals > 1 ? 'later' : 'now';
    this.#attend(async () => {
      await credentials.refused();
      if (credentials.canPair) tryAgain(error, when);
      else giveUp(error);
    });
  }

  /** A wrong code is another try; a person who declined has decided. */
  #notPaired(error: ProviderError): void {
    const { tryAgain, giveUp } = this.#parts;
    if (error.replyTo === 'auth.confirm') tryAgain(error, 'now');
    else giveUp(refused(error.message));
  }

  /** What an author gave us (a token source, a store, a prompt) may throw; then there is no way in. */
  #attend(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#parts.giveUp(asError(error)));
  }
}
