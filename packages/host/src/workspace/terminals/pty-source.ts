/** Where pseudo terminals come from: loaded when the first one is wanted, and tried again after a failure. */
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../../core/contracts/request-error.js';
import { loadPty, PtyMissingError, type SpawnPty } from './pty.js';

export class PtySource {
  readonly #load: () => Promise<SpawnPty>;
  #spawn: Promise<SpawnPty> | undefined;

  constructor(load: () => Promise<SpawnPty> = () => loadPty()) {
    this.#load = load;
  }

  async spawn(): Promise<SpawnPty> {
    this.#spawn ??= this.#load();
    try {
      return await this.#spawn;
    } catch (error) {
      // Somebody may install it meanwhile.
      this.#spawn = undefined;
      const message = error instanceof PtyMissingError ? error.message : `no terminal can be opened: ${String(error)}`;
      throw new RequestError(ErrorCode.InternalError, message);
    }
  }
}
