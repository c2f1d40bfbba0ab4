/** Asks the people in a session, once, whether what their folder declares may start. */
import { folderOf } from '../sessions/agent-opener.js';
import type { Session } from '../sessions/session.js';
import type { FolderTrust } from './trust.js';

/** Of what waits, the first are named: the list is the folder's own. */
const NAMED_MAX = 10;
const LINE_MAX_CHARACTERS = 200;

interface Waiting {
  readonly what: string;
  readonly start: () => void;
}

export class SessionTrust {
  readonly #waiting: Waiting[] = [];
  #withdraw: (() => void) | undefined;
  #isDeclined = false;

  constructor(
    private readonly session: Session,
    private readonly trust: FolderTrust,
  ) {}

  /**
   * Calls `start` as soon as the session's folder is trusted: now, after somebody said yes, or never. `what` is shown
   * to them: "provider ci: node ci.js".
   */
  async whenTrusted(what: string, start: () => void): Promise<void> {
    const folder = folderOf(this.session.state);
    if (folder === undefined || this.session.isClosed) return;
    if (await this.trust.isTrusted(folder)) return start();
    this.#waiting.push({ what, start });
    if (!this.#isDeclined) this.#ask(folder);
  }

  /** What does not run, and would if the folder were trusted. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ what }) => what);
  }

  /** All that waits stands in one question; when more comes, the question is put anew. */
  #ask(folder: string): void {
    this.#withdraw?.();
    const request = { id: `trust-${crypto.randomUUID()}`, message: this.#message(folder), questions: [] };
    this.#withdraw = this.session.standing.ask(request, (response) => {
      this.#withdraw = undefined;
      if (response === 'accept') void this.#accepted(folder);
      else if (response === 'decline') this.#isDeclined = true;
    });
  }

  #message(folder: string): string {
    const named = this.#waiting.slice(0, NAMED_MAX).map(({ what }) => `- ${what.slice(0, LINE_MAX_CHARACTERS)}`);
    const more = this.#waiting.length - named.length;
    const rest = more > 0 ? [`- and ${more} more`] : [];
    return [
      `Do you trust the folder ${folder}? It wants to start programs on this machine:`,
      ...named,
      ...rest,
      'Nothing of this runs until you accept. Your answer is remembered for this folder.',
    ].join('\n');
  }

  async #accepted(folder: string): Promise<void> {
    await this.trust.trust(folder);
    for (const { start } of this.#waiting.splice(0)) start();
  }
}
