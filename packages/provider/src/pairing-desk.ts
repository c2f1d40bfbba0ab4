/** Asks the person for the pairing code, and gives up when nobody answers. */
import { asError, LocalErrorCode, ProviderError } from './errors.js';
import type { Pairing } from './options.js';

/** Codes run out while nobody types them. After this many in a row the session should not be bothered any more. */
export const PAIRING_ROUNDS_MAX = 5;

export class PairingDesk {
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
