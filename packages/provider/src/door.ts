/** The first half of the way in: show a token, or pair. Begins anew with every connection. */
import {
  GatewayErrorCode,
  type ProviderErrorMessage,
  type ToGatewayMessage,
  type ToProviderMessage,
} from '@atrium/protocol/provider';
import type { Credentials } from './credentials.js';
import { asError, ProviderError } from './errors.js';
import { type PairingDesk, refused } from './pairing-desk.js';
import type { ProviderState } from './state.js';

export interface DoorParts {
  readonly credentials: Credentials;
  readonly pairing: PairingDesk;
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

export class Door {
  readonly #parts: DoorParts;
  #at: 'away' | 'authenticating' | 'pairing' | 'inside' = 'away';
  /** Tokens that were refused in a row. */
  #refusals = 0;
  /** What the gateway has seen on this connection. */
  #shown: string | undefined;

  constructor(parts: DoorParts) {
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
