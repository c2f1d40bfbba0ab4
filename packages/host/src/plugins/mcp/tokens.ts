/** What one server is shown and nobody else: the token that a person got for it, which lives in memory only. */
import { MCP_TOKEN_MAX_CHARACTERS } from './limits.js';

/** What can stand in a header. Anything else would break the request, and perhaps show up in an error about it. */
const FIT_FOR_HEADER = /^[\x21-\x7e]+$/;

export class Tokens {
  #token: string | undefined;
  #came: () => void = () => {};

  /** `secrets`: what else its declaration holds that must not be shown. */
  constructor(private readonly secrets: readonly string[] = []) {}

  get current(): string | undefined {
    return this.#token;
  }

  /** False when it cannot be a token. */
  set(token: string): boolean {
    if (token.length > MCP_TOKEN_MAX_CHARACTERS || !FIT_FOR_HEADER.test(token)) return false;
    this.#token = token;
    this.#came();
    return true;
  }

  /** Resolves when there is a token, or when the signal fires. */
  async arrival(signal: AbortSignal): Promise<void> {
    if (this.#token !== undefined || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#came = end;
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** The server does not take it; one that came in the meantime stays. */
  drop(refused: string): void {
    if (this.#token === refused) this.#token = undefined;
  }

  /** Words of others, which may repeat what they were sent. */
  hide(text: string): string {
    const hidden = this.#token === undefined ? this.secrets : [this.#token, ...this.secrets];
    return hidden.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
  }
}
