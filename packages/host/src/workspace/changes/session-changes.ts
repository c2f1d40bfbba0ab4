/**
 * The changes of one session: a recorder beside its agent, its part of the change log, open views, and the catalogue.
 */
import path from 'node:path';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver, SessionStep } from '@atrium/core/sessions/session-observer.js';
import { folderOf, foldersOf } from '@atrium/core/util/folders.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { isInside } from '@atrium/core/util/paths.js';
import { type BytePath, fromText } from '../git/byte-path.js';
import { ChangeLog, type ChangeRecords } from './change-log.js';
import type { ChangeStorage } from './change-storage.js';
import { CatalogueKeeper } from './changeset-catalogue.js';
import { OpenViews, type View, type ViewsHost } from './changeset-views.js';
import { realFolder, type SnapshotFolderOptions } from './folder-snapshots.js';
import { takeOverJournal } from './legacy-journal.js';
import { Recorder } from './recorder.js';
import { OwnRecordings, recording } from './recording.js';
import { Reviews } from './reviews.js';
import type { RewindFiles } from './rewind-files.js';
import { Sources } from './sources.js';
import { settle } from './undo.js';
import { type ViewName, viewUri } from './uri.js';

/** What the changes of sessions need from the host. */
export interface ChangesHost extends ViewsHost {
  readonly logger: Logger;
  /** A session was just used: if no client watches it, it is unloaded after a while. */
  released(uri: string): void;
}

export interface SessionChangesOptions {
  readonly host: ChangesHost;
  readonly records: ChangeRecords;
  readonly storage: ChangeStorage;
  isTrusted(folder: string): Promise<boolean>;
}

export class SessionChanges implements SessionObserver {
  readonly blobs: BlobStore;
  readonly #session: Session;
  readonly #options: SessionChangesOptions;
  readonly #recorder: Recorder;
  readonly #sources: Sources;
  readonly #views: OpenViews;
  readonly #catalogue: CatalogueKeeper;
  #changeLog: Promise<ChangeLog> | undefined;
  readonly #own: OwnRecordings;

  constructor(session: Session, options: SessionChangesOptions) {
    const { host, storage, isTrusted } = options;
    this.#session = session;
    this.#options = options;
    const blobs = storage.blobs(session.uri);
    this.blobs = blobs;
    const found = { changeLog: () => this.#opened(), folders: () => this.#folders() };
    const places = () => this.#places();
    const { clock, logger } = host;
    const recorder = new Recorder({ ...found, clock, logger, blobs, changed: () => void this.#views.refresh() });
    const later = { failed: this.#failed, changed: () => void this.refresh() };
    this.#sources = new Sources({ ...found, ...later, places, session, blobs, recorder, isTrusted });
    const count = () => this.#sources.counted((uri) => this.#views.shown(uri));
    this.#catalogue = new CatalogueKeeper({ session, logger, count });
    const refreshed = () => void this.#catalogue.update();
    const reviews = new Reviews(options.records, session.uri);
    this.#views = new OpenViews({ host, reviews, refreshed, released: () => host.released(session.uri) });
    this.#recorder = recorder;
    this.#own = new OwnRecordings(recorder, session.abilities);
  }

  readonly #failed = (uri: string, failure: Parameters<OpenViews['fail']>[1]): void => {
    this.#views.fail(uri, failure);
  };

  get keepsAwake(): boolean {
    return !this.#views.isEmpty || this.#sources.isAsking || this.#recorder.inProgress.size > 0;
  }

  /** The agent is about to open, and can change something from now on. */
  async begin(): Promise<void> {
    if (folderOf(this.#session.state) === undefined) return;
    // First, finish what a crash left half done.
    await this.#opened().catch((error) => this.#warn(error));
    this.#session.extensions.set(recording({ session: this.#session, recorder: this.#recorder, own: this.#own }));
    this.#recorder.prepare();
    void this.#catalogue.update();
  }

  observe(step: SessionStep): void {
    if (!step.chat) {
      if (step.before.workingDirectories !== step.after.workingDirectories) this.#foldersChanged();
      return;
    }
    const [old, fresh] = [step.before.activeTurn?.id, step.after.activeTurn?.id];
    if (old === fresh || folderOf(this.#session.state) === undefined) return;
    // Changes of workers are recorded in the turn that they work for.
    if (step.after.origin?.kind === 'tool') return;
    if (old !== undefined) void this.#turnOver(step.chat.uri).catch((error) => this.#warn(error));
    if (fresh !== undefined) void this.#turnBegun(fresh).catch((error) => this.#warn(error));
  }

  #foldersChanged(): void {
    this.#recorder.prepare();
    void this.refresh();
  }

  async #turnBegun(turnId: string): Promise<void> {
    const changeLog = await this.#opened();
    await changeLog.add({ kind: 'turn', turnId });
  }

  async #turnOver(chat: string): Promise<void> {
    await this.#own.turnEnds(chat);
    await this.refresh();
  }

  /** After a failure the next call tries again. */
  #opened(): Promise<ChangeLog> {
    this.#changeLog ??= this.#open().catch((error) => {
      this.#changeLog = undefined;
      throw error;
    });
    return this.#changeLog;
  }

  async #open(): Promise<ChangeLog> {
    const { uri } = this.#session;
    const { storage, records } = this.#options;
    await takeOverJournal(records, uri, storage.folderOf(uri));
    const [changeLog, root] = [await ChangeLog.open(records, uri), await this.root()];
    if (root !== undefined) await settle({ root, changeLog, blobs: this.blobs });
    return changeLog;
  }

  async root(): Promise<string | undefined> {
    return realFolder(folderOf(this.#session.state));
  }

  async roots(): Promise<readonly string[]> {
    return (await this.#places()).map(({ root }) => root);
  }

  /** The folders in which changes are recorded; each file is in exactly one of them. */
  async #folders(): Promise<readonly SnapshotFolderOptions[]> {
    const places = await this.#places();
    const own = new Set(ownRoots(places.map(({ root }) => root)));
    return places.filter(({ root }) => own.has(root));
  }

  /** The folders of the session, including those inside others; empty if the first does not exist. */
  async #places(): Promise<readonly SnapshotFolderOptions[]> {
    const first = await this.root();
    if (first === undefined) return [];
    const { snapshots: blobs, folder: data } = this.#options.storage;
    const further = await Promise.all(foldersOf(this.#session.state).slice(1).map(realFolder));
    const roots = [...new Set([first, ...further.flatMap((root) => root ?? [])])];
    return roots.map((root, index) => {
      const isOurs = ourFiles(root, data);
      const isOfOther = inFoldersOf(root, roots.slice(0, index));
      return { root, blobs, isOurs: (file) => isOurs(file) || isOfOther(file) };
    });
  }

  /** The view with this name; undefined when the turn does not exist. */
  view(name: ViewName): Promise<View | undefined> {
    const uri = viewUri(this.#session.uri, name);
    return this.#views.open(uri, () => this.#sources.source(uri, name));
  }

  get rewindFiles(): RewindFiles {
    return this.#sources.rewindFiles();
  }

  /** Probably no client watches the view any more. */
  release(uri: string): void {
    this.#views.release(uri);
  }

  async refresh(): Promise<void> {
    await this.#views.refresh();
    await this.#catalogue.update();
  }

  /** Something could not be stored, perhaps the catalogue. */
  lost(): void {
    void this.#catalogue.update();
  }

  async close(): Promise<void> {
    await this.#own.close().catch((error) => this.#warn(error));
    await this.#recorder.close();
    await this.#catalogue.close();
    await this.#changeLog?.catch(() => {});
    this.#sources.close();
    this.#views.close(this.#session.isDisposed);
  }

  #warn(error: unknown): void {
    this.#options.host.logger.log('warn', 'changes could not be recorded', {
      session: this.#session.uri,
      error: String(error),
    });
  }
}

/**
 * A file belongs to the first listed folder that contains it, so a folder inside an earlier one has no files of its
 * own.
 */
function ownRoots(roots: readonly string[]): string[] {
  return roots.filter((root, index) => !roots.slice(0, index).some((earlier) => isInside(earlier, root)));
}

/** Returns a test for files of a folder that lie in one of the others. */
function inFoldersOf(root: string, others: readonly string[]): (file: BytePath) => boolean {
  const inside = others.filter((other) => isInside(root, other)).map((other) => fromText(pathIn(root, other)));
  return (file) => inside.some((folder) => file === folder || file.startsWith(`${folder}/`));
}

function pathIn(root: string, folder: string): string {
  return path.relative(root, folder).split(path.sep).join('/');
}

/** A content before it is moved to its place. */
const DRAFT = /(^|\/)\.atrium-[0-9a-f-]{36}\.tmp$/;

/**
 * Returns a test for files in a session's folder that the host itself writes. `data` is a folder in the host's data
 * folder.
 */
export function ourFiles(root: string, data: string): (file: BytePath) => boolean {
  const own = fromText(pathIn(root, path.dirname(data)));
  const isInside = own !== '' && !own.startsWith('..') && !path.isAbsolute(own);
  return (file) => DRAFT.test(file) || (isInside && (file === own || file.startsWith(`${own}/`)));
}
