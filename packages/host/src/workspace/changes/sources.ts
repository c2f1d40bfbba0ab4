/** Makes the source of each view of a session, and counts for the catalogue. */

import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { isInside } from '@atrium/core/util/paths.js';
import { ErrorCode, type ErrorInfo } from '@atrium/protocol/ahp-1';
import { findRepository, type Repository } from '../git/repository.js';
import type { ChangeLog } from './change-log.js';
import type { Counted, CountedFolder } from './changeset-catalogue.js';
import type { Shown, ViewSource } from './changeset-views.js';
import { CommitQuestion, type CommitScope, commit } from './commit.js';
import type { SnapshotFolderOptions } from './folder-snapshots.js';
import { RecordedFiles, RecordedSource } from './recorded-source.js';
import type { Recorder } from './recorder.js';
import { countsWholeTurns } from './recording.js';
import { RewindFiles } from './rewind-files.js';
import { NO_REPOSITORY, UncommittedFiles, UncommittedSource } from './uncommitted-source.js';
import { keyOf, type ViewName, viewUri } from './uri.js';

export interface SourcesOptions {
  readonly session: Session;
  readonly blobs: BlobStore;
  readonly recorder: Recorder;
  changeLog(): Promise<ChangeLog>;
  /** The folders of the session, the first one first; empty if the first does not exist. */
  folders(): Promise<readonly SnapshotFolderOptions[]>;
  /** All folders of the session, including those inside others. */
  places(): Promise<readonly SnapshotFolderOptions[]>;
  isTrusted(folder: string): Promise<boolean>;
  /** A commit that a person requested in a view has failed; undefined clears the failure. */
  failed(uri: string, failure: ErrorInfo | undefined): void;
  changed(): void;
}

export class Sources {
  readonly #options: SourcesOptions;
  readonly #recorded: RecordedFiles;
  readonly #uncommitted: UncommittedFiles;
  readonly #abort = new AbortController();
  /** By the folder to be committed. */
  readonly #questions = new Map<string, CommitQuestion>();

  constructor(options: SourcesOptions) {
    this.#options = options;
    const key = keyOf(options.session.uri);
    this.#recorded = new RecordedFiles(key, options.blobs);
    this.#uncommitted = new UncommittedFiles(key);
  }

  /** Undefined when the session has no such turn, or no folder. */
  async source(uri: string, name: ViewName): Promise<ViewSource | undefined> {
    const [first, ...further] = await this.#options.places();
    if (!first) return undefined;
    if (name.kind === 'uncommitted') {
      const isThere = name.folder === undefined || further.some(({ root }) => root === name.folder);
      return isThere ? this.#uncommittedSource(uri, name.folder) : undefined;
    }
    if (name.kind === 'session') return this.#recordedSource(uri, (changeLog) => changeLog.turns);
    if (name.kind === 'turn') {
      const { turnId } = name;
      return (await this.#isTurn(turnId)) ? this.#recordedSource(uri, () => [turnId]) : undefined;
    }
    const { original, modified } = name;
    const areTurns = (await this.#isTurn(original)) && (await this.#isTurn(modified));
    return areTurns ? this.#recordedSource(uri, ({ turns }) => between(turns, original, modified)) : undefined;
  }

  /** The part of the session that a rewind uses. */
  rewindFiles(): RewindFiles {
    const { blobs, recorder } = this.#options;
    return new RewindFiles({
      blobs,
      files: this.#recorded,
      changeLog: () => this.#options.changeLog(),
      roots: async () => (await this.#options.folders()).map(({ root }) => root),
      inProgress: () => recorder.inProgress,
      quietly: (work) => recorder.quietly(work),
    });
  }

  /** Counts for the catalogue; takes the content of an open view as it is. */
  async counted(shown: (uri: string) => Shown | undefined): Promise<Counted | undefined> {
    const places = await this.#options.places();
    if (places.length === 0) return undefined;
    const session = viewUri(this.#options.session.uri, { kind: 'session' });
    const ofSession = await this.#recordedSource(session, (changeLog) => changeLog.turns).show();
    const folders = await inRepositories(places.map(({ root }) => root));
    const counts = folders.map(async (root): Promise<CountedFolder[]> => {
      const folder = root === places[0]?.root ? undefined : root;
      const uri = viewUri(this.#options.session.uri, { kind: 'uncommitted', ...(folder !== undefined && { folder }) });
      const found = shown(uri) ?? (await this.#uncommittedSource(uri, folder).show());
      return found.problem?.errorType === NO_REPOSITORY ? [] : [{ uri, folder, shown: found }];
    });
    return { session: ofSession, uncommitted: (await Promise.all(counts)).flat() };
  }

  async #isTurn(turnId: string): Promise<boolean> {
    const { session } = this.#options;
    return (await this.#options.changeLog()).has(turnId) || hasTurn(session, turnId);
  }

  #recordedSource(view: string, turns: (changeLog: ChangeLog) => readonly string[]): RecordedSource {
    const { blobs, recorder, session } = this.#options;
    return new RecordedSource({
      view,
      countsWholeTurns: countsWholeTurns(session.abilities),
      blobs,
      turns,
      files: this.#recorded,
      changeLog: () => this.#options.changeLog(),
      inProgress: () => recorder.inProgress,
      root: () => this.#root(),
      further: async () => (await this.#options.folders()).slice(1).map(({ root }) => root),
      quietly: (work) => recorder.quietly(work),
    });
  }

  /** `further` is the view's folder, if that is not the session's first. */
  #uncommittedSource(view: string, further: string | undefined): UncommittedSource {
    const { blobs, recorder, isTrusted } = this.#options;
    return new UncommittedSource({
      view,
      blobs,
      files: this.#uncommitted,
      changeLog: () => this.#options.changeLog(),
      root: () => this.#root(),
      further,
      folder: () => this.#folder(further),
      isTrusted,
      quietly: (work) => recorder.quietly(work),
      commit: (repository, what) => this.#askAndCommit(view, repository, what),
    });
  }

  #askAndCommit(view: string, repository: Repository, what: CommitScope): string {
    const { isTrusted, failed, changed } = this.#options;
    const { folder, top } = repository;
    const question = this.#questions.get(folder) ?? new CommitQuestion(this.#options.session);
    this.#questions.set(folder, question);
    const all = what === 'staged' ? `What is staged in ${top}` : `Everything that changed in ${folder}`;
    question.ask(`${all} will be committed. What does the commit do?`, (message) => {
      const trusted = isTrusted(repository.folder);
      const { signal } = this.#abort;
      trusted
        .then((isIt) => commit({ repository, message, what, isTrusted: isIt, signal }))
        .catch((error) => failed(view, { errorType: 'commit-failed', message: String(error.message ?? error) }))
        .finally(changed);
    });
    return 'The session asks for the commit message.';
  }

  async #folder(further?: string): Promise<SnapshotFolderOptions> {
    const places = await this.#options.places();
    const folder = further === undefined ? places[0] : places.find(({ root }) => root === further);
    if (!folder)
      throw new RequestError(ErrorCode.NotFound, 'the folder does not exist, or no longer belongs to the session');
    return folder;
  }

  async #root(): Promise<string> {
    return (await this.#folder()).root;
  }

  /** Whether people are being asked for the message of a commit. */
  get isAsking(): boolean {
    return [...this.#questions.values()].some(({ isOpen }) => isOpen);
  }

  close(): void {
    for (const question of this.#questions.values()) question.close();
    this.#abort.abort();
  }
}

async function hasTurn({ chats }: Session, turnId: string): Promise<boolean> {
  return (await Promise.all(chats.map((chat) => chat.hasTurn(turnId)))).includes(true);
}

/**
 * The folders that get a view of uncommitted changes; a folder inside an earlier one, in the same repository, gets
 * none.
 */
async function inRepositories(roots: readonly string[]): Promise<string[]> {
  const tops = await Promise.all(roots.map(async (root) => (await findRepository(root))?.top));
  const isPart = (index: number) =>
    roots.slice(0, index).some((earlier, at) => isInside(earlier, roots[index] ?? '') && tops[at] === tops[index]);
  return roots.filter((_root, index) => tops[index] !== undefined && !isPart(index));
}

/** The turns after the first, up to and including the second. */
function between(turns: readonly string[], original: string, modified: string): string[] {
  return turns.slice(turns.indexOf(original) + 1, turns.indexOf(modified) + 1);
}
