/** What one session needs for its changes: a recorder beside its agent, a journal, views, and its catalogue. */
import type { SessionState } from '@atrium/protocol';
import type { Step } from '../../core/channels/channel.js';
import type { HostCore } from '../../core/contracts/host-core.js';
import type { Session } from '../../core/sessions/session.js';
import { folderOf } from '../../core/sessions/session-agent.js';
import type { SessionObserver } from '../../core/sessions/session-observer.js';
import { CatalogueKeeper } from './catalogue.js';
import { Journal } from './change-log.js';
import { CommitQuestion } from './commit.js';
import type { ContentStore } from './content-store.js';
import { type FolderParts, realFolder } from './folder-snapshots.js';
import { ourFiles } from './our-files.js';
import type { ChangePlaces } from './places.js';
import { Recorder } from './recorder.js';
import { OwnRecordings, recording } from './recording.js';
import { Sources } from './sources.js';
import { settle } from './undo.js';
import { type ViewName, viewUri } from './uri.js';
import { OpenViews, type View } from './views.js';

export interface SessionChangesParts {
  readonly core: HostCore;
  readonly places: ChangePlaces;
  isTrusted(folder: string): Promise<boolean>;
}

export class SessionChanges implements SessionObserver {
  readonly store: ContentStore;
  readonly #session: Session;
  readonly #parts: SessionChangesParts;
  readonly #recorder: Recorder;
  readonly #question: CommitQuestion;
  readonly #sources: Sources;
  readonly #views: OpenViews;
  readonly #catalogue: CatalogueKeeper;
  #journal: Promise<Journal> | undefined;
  readonly #own: OwnRecordings;

  constructor(session: Session, parts: SessionChangesParts) {
    const { core, places, isTrusted } = parts;
    this.#session = session;
    this.#parts = parts;
    const store = places.contents(session.uri);
    this.store = store;
    const found = { journal: () => this.#opened(), folder: () => this.#folder() };
    const { clock, logger } = core;
    const recorder = new Recorder({ ...found, clock, logger, kept: store, changed: () => void this.#views.refresh() });
    const question = new CommitQuestion(session);
    const later = { failed: this.#failed, changed: () => void this.refresh() };
    this.#sources = new Sources({ ...found, ...later, session, store, recorder, question, isTrusted });
    const count = () => this.#sources.counted((uri) => this.#views.shown(uri));
    this.#catalogue = new CatalogueKeeper({ session, count });
    const refreshed = () => void this.#catalogue.update();
    this.#views = new OpenViews({ core, refreshed, released: () => core.mayRest(session.uri) });
    this.#recorder = recorder;
    this.#own = new OwnRecordings(recorder, session.parts.backend?.abilities);
    this.#question = question;
  }

  readonly #failed = (uri: string, failure: Parameters<OpenViews['fail']>[1]): void => {
    this.#views.fail(uri, failure);
  };

  get keepsAwake(): boolean {
    return !this.#views.isEmpty || this.#question.isOpen || this.#recorder.underWay.size > 0;
  }

  /** The agent is about to open: from now on it can change something. */
  async begin(): Promise<void> {
    if (folderOf(this.#session.state) === undefined) return;
    // What a crash left half done is settled before anything new happens.
    await this.#opened().catch((error) => this.#warn(error));
    this.#session.extensions.set(recording({ session: this.#session, recorder: this.#recorder, own: this.#own }));
    this.#recorder.prepare();
    void this.#catalogue.update();
  }

  observe(step: Step<SessionState>): void {
    this.#question.observe(step);
    const [old, fresh] = [step.before.activeTurn?.id, step.after.activeTurn?.id];
    if (old === fresh || folderOf(step.after) === undefined) return;
    if (old !== undefined) void this.#turnOver().catch((error) => this.#warn(error));
    if (fresh !== undefined) void this.#turnBegun(fresh).catch((error) => this.#warn(error));
  }

  async #turnBegun(turnId: string): Promise<void> {
    const journal = await this.#opened();
    await journal.add({ kind: 'turn', turnId });
  }

  async #turnOver(): Promise<void> {
    await this.#own.turnEnds();
    await this.refresh();
  }

  /** A failure is not kept: the next call tries again. */
  #opened(): Promise<Journal> {
    this.#journal ??= this.#open().catch((error) => {
      this.#journal = undefined;
      throw error;
    });
    return this.#journal;
  }

  async #open(): Promise<Journal> {
    const { uri } = this.#session;
    const [journal, root] = [await Journal.open(this.#parts.places.journal(uri), uri), await this.root()];
    if (root !== undefined) await settle({ root, journal, store: this.store });
    return journal;
  }

  async root(): Promise<string | undefined> {
    return realFolder(folderOf(this.#session.state));
  }

  async #folder(): Promise<FolderParts | undefined> {
    const root = await this.root();
    const { lookedAt: store, folder } = this.#parts.places;
    return root === undefined ? undefined : { root, store, isOurs: ourFiles(root, folder) };
  }

  /** The view with this name; undefined when there is no such turn. */
  view(name: ViewName): Promise<View | undefined> {
    const uri = viewUri(this.#session.uri, name);
    return this.#views.open(uri, () => this.#sources.source(uri, name));
  }

  /** Nobody watches it any more, as it seems. */
  release(uri: string): void {
    this.#views.release(uri);
  }

  async refresh(): Promise<void> {
    await this.#views.refresh();
    await this.#catalogue.update();
  }

  /** The catalogue may have been among what could not be stored. */
  lost(): void {
    void this.#catalogue.update();
  }

  async close(): Promise<void> {
    await this.#own.turnEnds().catch((error) => this.#warn(error));
    await this.#recorder.close();
    await this.#catalogue.close();
    await this.#journal?.catch(() => {});
    this.#question.close();
    this.#sources.close();
    const { catalogue } = this.#session.parts;
    this.#views.close(catalogue.find(this.#session.uri)?.disposedAt !== undefined);
  }

  #warn(error: unknown): void {
    const { logger } = this.#parts.core;
    logger.log('warn', 'changes could not be recorded', { session: this.#session.uri, error: String(error) });
  }
}
