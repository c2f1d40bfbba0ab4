/** The first step on a connection: the provider shows a token or pairs. The second step is in `hello.ts`. */
import { asError } from '@atrium/link';
import {
  GatewayErrorCode,
  type ProviderErrorMessage,
  type ToGatewayMessage,
  type ToProviderMessage,
} from '@atrium/protocol/provider';
import { LocalErrorCode, ProviderError } from './errors.js';
import type { Pairing, ProviderState, Settings } from './options.js';

interface AuthenticationOptions {
  readonly credentials: Credentials;
  readonly pairing: PairingDialog;
  readonly name: string;
  send(message: ToGatewayMessage): void;
  show(state: ProviderState): void;
  /** The gateway is about to close this connection. */
  hangUp(): void;
  /** Gives this connection up; another one may succeed. */
  tryAgain(error: Error, when: 'now' | 'later'): void;
  /** Ends the provider: no connection can succeed. */
  giveUp(error: Error): void;
}

/** Too many pairings, or no session that could show a code: retrying later helps. */
const TRANSIENT: ReadonlySet<string> = new Set([GatewayErrorCode.InvalidSession, GatewayErrorCode.RateLimited]);

export class Authentication {
  readonly #options: AuthenticationOptions;
  #at: 'away' | 'authenticating' | 'pairing' | 'inside' = 'away';
  /** Tokens that were refused in a row. */
  #refusals = 0;
  /** The token shown on this connection. */
  #shown: string | undefined;

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /** A connection is open. In this process the gateway speaks first. */
  opened(): void {
    const { credentials, name, send } = this.#options;
    this.#at = 'authenticating';
    this.#run(async () => {
      const credential = await credentials.next();
      if (this.#at !== 'authenticating') return;
      if (credential.by === 'token') this.#showToken(credential.token);
      if (credential.by === 'pairing') send({ type: 'auth', mode: 'pair', name });
    });
  }

  lost(): void {
    this.#at = 'away';
    this.#shown = undefined;
    this.#options.pairing.cancel();
  }

  /**
   * Shows the same token once more, only to get an answer. Gateways do not count this as activity of the provider,
   * which would matter where several instances share a tool. False when there is no token to show.
   */
  showTokenAgain(): boolean {
    if (this.#shown === undefined) return false;
    this.#showToken(this.#shown);
    return true;
  }

  #showToken(token: string): void {
    this.#shown = token;
    this.#options.send({ type: 'auth', token });
  }

  take(message: ToProviderMessage): void {
    if (message.type === 'auth.pairing') this.#pair(message.prompt);
    if (message.type === 'sessions') this.#letIn(message.token);
    if (message.type === 'error') this.#failed(message);
  }

  #pair(prompt: string): void {
    const { pairing, send, show } = this.#options;
    this.#at = 'pairing';
    show({ at: 'pairing', prompt });
    this.#run(async () => {
      const code = await pairing.ask(prompt);
      if (code !== undefined && this.#at === 'pairing') send({ type: 'auth.confirm', code });
    });
  }

  #letIn(token: string | undefined): void {
    const { credentials, pairing } = this.#options;
    this.#at = 'inside';
    this.#refusals = 0;
    pairing.succeeded();
    if (token === undefined) return;
    this.#shown = token;
    this.#run(() => credentials.issued(token));
  }

  #failed({ code, message, replyTo }: ProviderErrorMessage): void {
    const error = new ProviderError(code, message, { replyTo });
    if (this.#at === 'authenticating') this.#refused(error);
    if (this.#at === 'pairing') this.#notPaired(error);
  }

  #refused(error: ProviderError): void {
    const { credentials, hangUp, tryAgain, giveUp, show } = this.#options;
    if (TRANSIENT.has(error.code)) {
      tryAgain(error, 'later');
      if (error.code === GatewayErrorCode.InvalidSession) show({ at: 'waiting-for-session' });
      return;
    }
    if (error.code !== GatewayErrorCode.AuthFailed) return giveUp(error);
    hangUp();
    this.#refusals += 1;
    // A source may return bad tokens for ever: only the first refusal is retried immediately.
    const when = this.#refusals > 1 ? 'later' : 'now';
    this.#run(async () => {
      await credentials.refused();
      if (credentials.canPair) tryAgain(error, when);
      else giveUp(error);
    });
  }

  /** A wrong code allows another try; a person who declined is not asked again. */
  #notPaired(error: ProviderError): void {
    const { tryAgain, giveUp } = this.#options;
    if (error.replyTo === 'auth.confirm') tryAgain(error, 'now');
    else giveUp(refused(error.message));
  }

  /** The author's token source, store or prompt may throw; the provider then gives up. */
  #run(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#options.giveUp(asError(error)));
  }
}

type Credential =
  | { readonly by: 'token'; readonly token: string }
  | { readonly by: 'pairing' }
  /** The gateway is in this process. */
  | { readonly by: 'trust' };

/** Tokens that were refused are remembered, so that none is shown twice; the list is cleared beyond this many. */
const REFUSED_MAX = 20;

/** Picks the credential for the next connection: a given token, one from an earlier pairing, or a new pairing. */
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

  /** The gateway refused the token. */
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

/**
 * Codes expire while the person is away. After this many in a row the provider stops asking the session for new ones.
 */
export const PAIRING_ROUNDS_MAX = 5;

/** Asks the person for the pairing code. */
export class PairingDialog {
  readonly #pairing: Pairing | undefined;
  #asking: AbortController | undefined;
  #rounds = 0;

  constructor(pairing: Pairing | undefined) {
    this.#pairing = pairing;
  }

  /** The code that the person typed; undefined when it has expired. Throws when the person declines. */
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

  /** The code has expired, or is no longer needed. */
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
