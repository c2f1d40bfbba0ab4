/** The tools of one connection, read anew whenever the server says that they changed, never twice at once. */
import type { Clock } from '../../core/util/clock.js';
import { pause, within } from '../../core/util/waiting.js';
import type { Connection } from './connection.js';
import { MCP_TOOLS_REFRESH_EVERY_MS, MCP_TOOLS_TIMEOUT_MS } from './limits.js';
import { readToolList, type ToolListing } from './tool-list.js';

export interface ToolSetOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Fires when the connection is no longer of use. */
  readonly signal: AbortSignal;
  read(listing: ToolListing): void;
  /** The tools could not be read again; those known so far stay. */
  failed(error: unknown): void;
}

export class ToolSet {
  readonly #options: ToolSetOptions;
  #isStale = false;
  #isReading = false;

  constructor(options: ToolSetOptions) {
    this.#options = options;
  }

  /** Reads them for the first time. */
  async open(): Promise<void> {
    const { connection } = this.#options;
    this.#isReading = true;
    if (connection.hasTools) this.#options.read(await this.#list());
    this.#isReading = false;
    if (this.#isStale) void this.#refresh();
  }

  changed(): void {
    this.#isStale = true;
    if (!this.#isReading) void this.#refresh();
  }

  async #refresh(): Promise<void> {
    const { clock, signal, read, failed } = this.#options;
    this.#isReading = true;
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false;
      try {
        const listing = await within(clock, MCP_TOOLS_TIMEOUT_MS, this.#list(), tooSlow);
        if (!signal.aborted) read(listing);
      } catch (error) {
        failed(error);
      }
      await pause(clock, MCP_TOOLS_REFRESH_EVERY_MS, signal);
    }
    this.#isReading = false;
  }

  #list(): Promise<ToolListing> {
    const { connection } = this.#options;
    return readToolList((params) => connection.request('tools/list', params));
  }
}

function tooSlow(): never {
  throw new Error(`The server did not list its tools within ${MCP_TOOLS_TIMEOUT_MS / 1_000} s.`);
}
