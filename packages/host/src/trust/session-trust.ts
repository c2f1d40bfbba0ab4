/** Asks the people in a session, once, whether what their folder declares may start. */
import { folderOf } from '../sessions/agent-opener.js';
import type { Session } from '../sessions/session.js';
import { shorten } from '../tools/text.js';
import type { FolderTrust } from './trust.js';

/** Of what waits, the first are named, each on one line: the list is the folder's own, and must not look like ours. */
const NAMED_MAX = 10;
const LINE_MAX_CHARACTERS = 200;

interface Waiting {
  readonly what: string;
  readonly start: () => void;
  readonly refused: () => void;
}

export class SessionTrust {
  readonly #id = `trust-${crypto.randomUUID()}`;
  readonly #waiting: Waiting[] = [];
  #withdraw = () => {};
  #unwatch = () => {};
  #isAskingSoon = false;
  #isRefused = false;
  #isOver = false;

  constructor(
    private readonly session: Session,
    private readonly trust: FolderTrust,
  ) {}

  /**
   * Calls `start` as soon as the session's folder is trusted: now, after somebody said yes, or never. When they said
   * no, `refused` may tell people what does not run. `what` is shown to them: "provider ci: node ci.js".
   */
  async whenTrusted(what: string, start: () => void, refused: () => void = () => {}): Promise<void> {
    const folder = folderOf(this.session.state);
    if (folder === undefined || this.session.isClosed) return;
    const isTrusted = await this.trust.isTrusted(folder);
    if (this.#isOver) return;
    if (isTrusted) return start();
    this.#waiting.push({ what, start, refused });
    if (this.#isRefused) return refused();
    this.#askSoon(folder);
  }

  /** What does not run, and would if the folder were trusted. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ what }) => what);
  }

  /** The session is over: nothing starts here any more. */
  close(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    this.#withdraw();
    this.#unwatch();
  }

  /** All that waits stands in one question; when more comes, it is the same question with more in it. */
  #askSoon(folder: string): void {
    if (this.#isAskingSoon) return;
    this.#isAskingSoon = true;
    setImmediate(() => {
      this.#isAskingSoon = false;
      if (this.#waiting.length > 0 && !this.#isRefused) this.#ask(folder);
    });
  }

  #ask(folder: string): void {
    this.#unwatch();
    this.#unwatch = this.trust.watch?.(() => void this.#look(folder)) ?? (() => {});
    const message = this.#message(folder);
    const hint = 'This client cannot answer: use a newer one, or name the folder as trusted when you start the host.';
    const answered = (response: string) => (response === 'accept' ? void this.#accepted(folder) : this.#refuse());
    const request = { id: this.#id, message, questions: [] };
    this.#withdraw = this.session.standing.ask(request, answered, `${message}\n${hint}`);
    // Somebody may have said yes just before we began to watch.
    void this.#look(folder);
  }

  #message(folder: string): string {
    const named = this.#waiting.slice(0, NAMED_MAX).map(({ what }) => `- ${shorten(what, LINE_MAX_CHARACTERS)}`);
    const more = this.#waiting.length - named.length;
    const rest = more > 0 ? [`- and ${more} more`] : [];
    return [
      `Do you trust the folder ${folder}? It wants to start programs on this machine:`,
      ...named,
      ...rest,
      'Nothing of this runs until you accept. Your answer is remembered for this folder.',
    ].join('\n');
  }

  /** A person said yes; whether that can be remembered is another matter. */
  async #accepted(folder: string): Promise<void> {
    const { logger } = this.session.parts.core;
    await this.trust
      .trust(folder)
      .catch((error) => logger.log('warn', 'could not remember a trusted folder', { folder, error: String(error) }));
    this.#startAll();
  }

  /** Somebody may have said yes elsewhere: in another session of this folder, or in a terminal. */
  async #look(folder: string): Promise<void> {
    if (!(await this.trust.isTrusted(folder))) return;
    this.#withdraw();
    this.#startAll();
  }

  #startAll(): void {
    this.#unwatch();
    for (const { start } of this.#waiting.splice(0)) start();
  }

  /** Not asked again while the session is in memory. */
  #refuse(): void {
    this.#isRefused = true;
    for (const { refused } of this.#waiting) refused();
  }
}
