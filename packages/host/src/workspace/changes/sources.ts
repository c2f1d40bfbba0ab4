/** Makes the source of each view of a session, and counts for the catalogue. */

import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { ErrorCode, type ErrorInfo } from '@atrium/protocol/ahp-1';
import type { Repository } from '../git/repository.js';
import type { ChangeLog } from './change-log.js';
import type { Counted } from './changeset-catalogue.js';
import type { Shown, ViewSource } from './changeset-views.js';
import { type CommitQuestion, type CommitScope, commit } from './commit.js';
import type { SnapshotFolderOptions } from './folder-snapshots.js';
import { RecordedFiles, RecordedSource } from './recorded-source.js';
import type { Recorder } from './recorder.js';
import { countsWholeTurns } from './recording.js';
import { NO_REPOSITORY, UncommittedFiles, UncommittedSource } from './uncommitted-source.js';
import { keyOf, type ViewName, viewUri } from './uri.js';

export interface SourcesOptions {
  readonly session: Session;
  readonly blobs: BlobStore;
  readonly recorder: Recorder;
  readonly question: CommitQuestion;
  changeLog(): Promise<ChangeLog>;
  /** The folders of the session, the first one first; none when that is not there. */
  folders(): Promise<readonly SnapshotFolderOptions[]>;
  isTrusted(folder: string): Promise<boolean>;
  /** A commit that a person asked for in a view has failed; undefined takes that back. */
  failed(uri: string, failure: ErrorInfo | undefined): void;
  changed(): void;
}

export class Sources {
  readonly #options: SourcesOptions;
  readonly #recorded: RecordedFiles;
  readonly #uncommitted: UncommittedFiles;
  readonly #abort = new AbortController();

  constructor(options: SourcesOptions) {
    this.#options = options;
    const key = keyOf(options.session.uri);
    this.#recorded = new RecordedFiles(key, options.blobs);
    this.#uncommitted = new UncommittedFiles(key);
  }

  /** Undefined when the session has no such turn, or no folder. */
  async source(uri: string, name: ViewName): Promise<ViewSource | undefined> {
    if ((await this.#options.folders()).length === 0) return undefined;
    if (name.kind === 'uncommitted') return this.#uncommittedSource(uri);
    if (name.kind === 'session') return this.#recordedSource(uri, (changeLog) => changeLog.turns);
    if (name.kind === 'turn') {
      const { turnId } = name;
      return (await this.#isTurn(turnId)) ? this.#recordedSource(uri, () => [turnId]) : undefined;
    }
    const { original, modified } = name;
    const areTurns = (await this.#isTurn(original)) && (await this.#isTurn(modified));
    return areTurns ? this.#recordedSource(uri, ({ turns }) => between(turns, original, modified)) : undefined;
  }

  /** Takes an open view as it is. */
  async counted(shown: (uri: string) => Shown | undefined): Promise<Counted | undefined> {
    if ((await this.#options.folders()).length === 0) return undefined;
    const { uri } = this.#options.session;
    const [session, uncommitted] = [viewUri(uri, { kind: 'session' }), viewUri(uri, { kind: 'uncommitted' })];
    const ofSession = await this.#recordedSource(session, (changeLog) => changeLog.turns).show();
    const ofFolder = shown(uncommitted) ?? (await this.#uncommittedSource(uncommitted).show());
    const hasGit = ofFolder.problem?.errorType !== NO_REPOSITORY;
    return { session: ofSession, ...(hasGit && { uncommitted: ofFolder }) };
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
      underWay: () => recorder.underWay,
      root: () => this.#root(),
      further: async () => (await this.#options.folders()).slice(1).map(({ root }) => root),
      quietly: (work) => recorder.quietly(work),
    });
  }

  #uncommittedSource(view: string): UncommittedSource {
    const { blobs, recorder, isTrusted } = this.#options;
    return new UncommittedSource({
      view,
      blobs,
      files: this.#uncommitted,
      changeLog: () => this.#options.changeLog(),
      folder: () => this.#folder(),
      isTrusted,
      quietly: (work) => recorder.quietly(work),
      commit: (repository, what) => this.#askAndCommit(view, repository, what),
    });
  }

  #askAndCommit(view: string, repository: Repository, what: CommitScope): string {
    const { question, isTrusted, failed, changed } = this.#options;
    const { folder, top } = repository;
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

  async #folder(): Promise<SnapshotFolderOptions> {
    const [folder] = await this.#options.folders();
    if (!folder) throw new RequestError(ErrorCode.NotFound, 'the folder of the session is not there any more');
    return folder;
  }

  async #root(): Promise<string> {
    return (await this.#folder()).root;
  }

  close(): void {
    this.#abort.abort();
  }
}

async function hasTurn({ chats }: Session, turnId: string): Promise<boolean> {
  return (await Promise.all(chats.map((chat) => chat.hasTurn(turnId)))).includes(true);
}

/** The turns behind the first, up to and with the second. */
function between(turns: readonly string[], original: string, modified: string): string[] {
  return turns.slice(turns.indexOf(original) + 1, turns.indexOf(modified) + 1);
}
