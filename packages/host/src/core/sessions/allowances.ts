/** The tools that a person allowed for the rest of a session. They stay allowed when it leaves memory, and over restarts. */
import type { SessionNotes } from './session-notes.js';

export interface AllowedTool {
  /** The extension whose tool it is; absent for the host's own. What was allowed to one counts for no other. */
  readonly owner?: string | undefined;
  /** Who that was, where it may be one after the other. */
  readonly identity?: string | undefined;
  readonly name: string;
}

export class Allowances {
  readonly #notes: SessionNotes;
  readonly #uri: string;
  readonly #keys = new Set<string>();

  constructor(notes: SessionNotes, uri: string) {
    this.#notes = notes;
    this.#uri = uri;
  }

  /** What was allowed before the session last left memory. */
  async load(): Promise<void> {
    for (const key of await this.#notes.allowed(this.#uri)) this.#keys.add(key);
  }

  has(tool: AllowedTool): boolean {
    return this.#keys.has(keyOf(tool));
  }

  add(tool: AllowedTool): void {
    if (this.has(tool)) return;
    this.#keys.add(keyOf(tool));
    this.#notes.setAllowed(this.#uri, [...this.#keys]);
  }
}

/** Names may contain anything, so the two are not just joined. */
function keyOf({ owner = '', name, identity }: AllowedTool): string {
  return JSON.stringify(identity === undefined ? [owner, name] : [owner, name, identity]);
}
