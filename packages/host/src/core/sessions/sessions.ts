/** All sessions, open or not: the one door to them for everybody else. */
import type { CreateSessionParams, SessionSummary } from '@atrium/protocol';
import type { Choices } from './choices.js';
import { Creation, type Creator } from './creation.js';
import type { ImportPage } from './imported.js';
import { ListNews } from './list-news.js';
import { afterCrash } from './mending.js';
import { Removal } from './removal.js';
import { Reserved } from './reserved.js';
import { InterruptedCommands } from './running-commands.js';
import type { Session } from './session.js';
import { type MemoryParts, SessionsInMemory } from './sessions-in-memory.js';

export interface SessionsParts extends MemoryParts {
  readonly choices: Choices;
}

/** A session that is off the list, and when that happened, in milliseconds since the epoch. */
export interface DisposedSession {
  readonly summary: SessionSummary;
  readonly disposedAt: number;
}

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #memory: SessionsInMemory;
  readonly #creation: Creation;
  readonly #removal: Removal;

  constructor({ choices, ...shared }: SessionsParts) {
    this.#parts = { choices, ...shared };
    this.#memory = new SessionsInMemory(shared);
    const { core, catalogue } = shared;
    const common = { ...shared, memory: this.#memory, news: new ListNews(core, catalogue), reserved: new Reserved() };
    this.#creation = new Creation({ ...common, choices });
    this.#removal = new Removal(common);
  }

  /** The sessions that are in memory. */
  get inMemory(): ReadonlyMap<string, Session> {
    return this.#memory.all;
  }

  get choices(): Choices {
    return this.#parts.choices;
  }

  /** The summaries of all sessions that are not disposed, as one JSON array. */
  listText(): string {
    return this.#parts.catalogue.listText();
  }

  /** Whether there is such a session, in memory or not, that is not disposed. */
  has(uri: string): boolean {
    return this.#parts.catalogue.isListed(uri);
  }

  /** Whether anything is stored of it: disposed sessions are kept for a while. */
  isKept(uri: string): boolean {
    return this.#parts.catalogue.find(uri) !== undefined;
  }

  /** Where the sessions that are not disposed work. The same object as long as that is the same. */
  workingFolders(): ReadonlySet<string> {
    return this.#parts.catalogue.workingFolders();
  }

  /** All that are stored, disposed ones too. */
  stored(): readonly string[] {
    return this.#parts.catalogue.stored();
  }

  /** Those that were disposed and can be restored. */
  disposed(): DisposedSession[] {
    const { catalogue } = this.#parts;
    return catalogue.disposed().flatMap(({ uri, at: disposedAt }) => {
      const { summary } = catalogue.find(uri) ?? {};
      return summary ? [{ summary, disposedAt }] : [];
    });
  }

  /** The session with this URI, brought into memory; undefined when there is none, or it was disposed. */
  open(uri: string): Promise<Session | undefined> {
    return this.#memory.open(uri);
  }

  create(params: CreateSessionParams, creator: Creator): Promise<void> {
    return this.#creation.create(params, creator);
  }

  import(page: ImportPage, creator: Creator): Promise<void> {
    return this.#creation.import(page, creator);
  }

  dispose(uri: string): Promise<void> {
    return this.#removal.dispose(uri);
  }

  restore(uri: string): Promise<void> {
    return this.#removal.restore(uri);
  }

  /** Forgets what need not be kept any longer. */
  purge(): Promise<void> {
    return this.#removal.purge();
  }

  /** After a start: turns that a crash cut off end as errors that say so; sessions being created go on. */
  async recover(): Promise<void> {
    const { notes, log, core } = this.#parts;
    const commands = new InterruptedCommands();
    await commands.load(log, core.clock);
    for (const uri of await notes.interrupted()) {
      await this.#recover(uri, commands).catch((error) =>
        core.logger.log('error', 'a session cannot be opened', { session: uri, error: String(error) }),
      );
    }
    commands.forget(core.writer);
  }

  async #recover(uri: string, commands: InterruptedCommands): Promise<void> {
    const { notes } = this.#parts;
    const held = await notes.held(uri);
    const session = await this.open(uri);
    if (!session) return notes.setActive(uri, false);
    session.restoreHeld(held);
    afterCrash(session, commands);
  }

  /** Stores a session as it is now; false when there is none. */
  async archive(uri: string): Promise<boolean> {
    const session = await this.open(uri);
    if (session) await this.#memory.archive(session);
    return session !== undefined;
  }

  /** Lets a session leave memory, if nothing speaks against it. */
  putAway(uri: string): Promise<void> {
    return this.#memory.putAway(uri);
  }

  close(): Promise<void> {
    return this.#memory.close();
  }
}
