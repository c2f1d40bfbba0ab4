/** The view of what differs from the last commit, whether people or agents changed it, and what Git can do with it. */

import { readlink } from 'node:fs/promises';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Work } from '@atrium/core/contracts/work.js';
import { looksBinary } from '@atrium/core/util/text.js';
import {
  type ChangesetOperation,
  type ContentRef,
  ErrorCode,
  type FileEditDiff,
  type FileEditSide,
} from '@atrium/protocol/ahp-1';
import { asText, type BytePath, fileUri, onDisk, percentEncoded } from '../git/byte-path.js';
import { findRepository, type Repository } from '../git/repository.js';
import {
  isConflict,
  isStaged,
  isSubmodule,
  lineCounts,
  type Status,
  type StatusEntry,
  statusOf,
  type Tracked,
} from '../git/repository-status.js';
import { plainContent } from '../tools/plain-content.js';
import { statsOf } from './capture.js';
import type { ChangeLog } from './change-log.js';
import { incomplete, type OperationTarget, type Shown, type ShownFile, type ViewSource } from './changeset-views.js';
import { type CommitScope, whatToCommit } from './commit.js';
import type { SnapshotFolderOptions } from './folder-snapshots.js';
import { discard, restore, stage, unstage } from './git-operations.js';
import { COUNTS_KEPT, DIFF_MAX_BYTES, VIEW_MAX_FILES } from './limits.js';
import { linesIn, textContent } from './recorded-source.js';
import { CONTENT_SCHEME } from './uri.js';

export interface UncommittedOptions {
  readonly view: string;
  readonly blobs: BlobStore;
  readonly files: UncommittedFiles;
  changeLog(): Promise<ChangeLog>;
  /** The first folder of the session. */
  root(): Promise<string>;
  /** The view's folder, if that is not the session's first. */
  readonly further: string | undefined;
  folder(): Promise<SnapshotFolderOptions>;
  isTrusted(folder: string): Promise<boolean>;
  quietly<T>(work: () => Promise<T>): Promise<T>;
  /** Asks for a message and commits; returns what it asks. */
  commit(repository: Repository, what: CommitScope): string;
}

/** The error type of a view that has nothing to compare with. */
export const NO_REPOSITORY = 'no-repository';

export class UncommittedSource implements ViewSource {
  readonly isOpenToAll = true;

  constructor(private readonly options: UncommittedOptions) {}

  async show(): Promise<Shown> {
    const { root, isOurs } = await this.options.folder();
    const repository = await findRepository(root);
    if (!repository) {
      const message = 'The folder is not in a usable Git repository, so nothing is uncommitted here.';
      return { files: [], operations: [], problem: { errorType: NO_REPOSITORY, message } };
    }
    const { status, files, isCut } = await this.options.files.list(repository, isOurs, this.options.further);
    const isUndone = (await this.options.changeLog()).lastUndone(this.options.view) !== undefined;
    const cut = incomplete(`only ${VIEW_MAX_FILES} of ${status.entries.length} files are shown`);
    return { files, operations: operationsFor(status.entries, isUndone), ...(isCut && { problem: cut }) };
  }

  async run(operationId: string, target: OperationTarget | undefined, work: Work): Promise<string> {
    const { root, isOurs } = await this.options.folder();
    const repository = await findRepository(root);
    if (!repository) throw new RequestError(ErrorCode.Conflict, 'the folder is no longer in a Git repository');
    const { blobs, view, further } = this.options;
    if (operationId === 'stage') return stage(repository, target?.paths, await this.options.isTrusted(root));
    if (operationId === 'unstage') return unstage(repository, target?.paths);
    if (operationId === 'commit') return this.options.commit(repository, await whatToCommit(repository));
    const [first, changeLog] = [await this.options.root(), await this.options.changeLog()];
    const options = {
      root: first,
      further: further === undefined ? [] : [further],
      blobs,
      view,
      repository,
      isOurs,
      changeLog,
      work,
    };
    return this.options.quietly(() => (operationId === 'restore' ? restore(options) : discard(options, target?.paths)));
  }
}

function operationsFor(entries: readonly StatusEntry[], isUndone: boolean): ChangesetOperation[] {
  const isAnyStaged = entries.some(isStaged);
  const isAnyConflict = entries.some(isConflict);
  return [
    ...(entries.some(({ letters }) => letters[1] !== '.') ? [STAGE] : []),
    ...(isAnyStaged || isAnyConflict ? [UNSTAGE] : []),
    ...(entries.length > 0 ? [DISCARD] : []),
    // Conflict markers must not be committed by accident.
    ...(entries.length > 0 && !isAnyConflict ? [isAnyStaged ? COMMIT_STAGED : COMMIT_ALL] : []),
    ...(isUndone ? [RESTORE] : []),
  ];
}

const STAGE: ChangesetOperation = {
  id: 'stage',
  label: 'Stage',
  scopes: ['changeset', 'resource'],
  icon: 'add',
  status: 'idle',
};
const UNSTAGE: ChangesetOperation = {
  id: 'unstage',
  label: 'Unstage',
  scopes: ['changeset', 'resource'],
  icon: 'remove',
  status: 'idle',
};
const DISCARD: ChangesetOperation = {
  id: 'discard',
  label: 'Discard',
  description: 'Resets files to the last commit, and deletes those that are not in it.',
  scopes: ['changeset', 'resource'],
  confirmation: 'Discard these changes, no matter who made them? They can be restored in this session.',
  icon: 'discard',
  status: 'idle',
};
const COMMIT_STAGED: ChangesetOperation = {
  id: 'commit',
  label: 'Commit',
  description: 'Commits what is staged. The session asks for the message.',
  scopes: ['changeset'],
  icon: 'check',
  status: 'idle',
};
const COMMIT_ALL: ChangesetOperation = {
  ...COMMIT_STAGED,
  description: 'Commits everything here, because nothing is staged. The session asks for the message.',
};
const RESTORE: ChangesetOperation = {
  id: 'restore',
  label: 'Restore',
  description: 'Puts back what was discarded last.',
  scopes: ['changeset'],
  icon: 'redo',
  status: 'idle',
};

interface Uncommitted {
  readonly status: Status;
  readonly files: readonly ShownFile[];
  readonly isCut: boolean;
}

type Stats = NonNullable<Awaited<ReturnType<typeof statsOf>>>;

/** The differing files as clients see them: staged, unstaged and untracked ones in one list. */
export class UncommittedFiles {
  /** Line counts of untracked files, which Git does not count. */
  readonly #lines = new Map<string, number | undefined>();

  constructor(private readonly key: string) {}

  /** `further` is the view's folder, if that is not the session's first. */
  async list(
    repository: Repository,
    isOurs: (path: BytePath) => boolean,
    further: string | undefined,
  ): Promise<Uncommitted> {
    const names = contentNames(this.key, further);
    const status = await statusOf(repository, { renames: true });
    const counts = await lineCounts(repository, status.head);
    const entries = status.entries.filter(({ path }) => !isOurs(path));
    const files: ShownFile[] = [];
    for (const entry of entries.slice(0, VIEW_MAX_FILES))
      files.push(await this.#shown(repository, entry, { counts, names }));
    return { status: { ...status, entries }, files, isCut: entries.length > VIEW_MAX_FILES };
  }

  async #shown(
    { folder }: Repository,
    entry: StatusEntry,
    { counts, names }: { counts: ReadonlyMap<BytePath, FileEditDiff>; names: ContentNames },
  ): Promise<ShownFile> {
    const { path, from = path, letters, head, staged } = entry;
    const stats = await statsOf(folder, path);
    // A file that was staged and then deleted is in no commit, and yet discarding loses its staged content.
    const old = head ?? (stats ? undefined : staged);
    const before = old && tracked(fileUri(folder, from), old, names.ofCommit(old.oid, from));
    const isThere = stats && (stats.isFile() || stats.isSymbolicLink() || isSubmodule(entry));
    const after = isThere ? await onDiskNow(folder, path, { stats, own: names.inFolder(path) }) : undefined;
    const diff = letters === '??' && stats ? await this.#untracked(folder, path, stats) : counts.get(path);
    const edit = { ...(before && { before }), ...(after && { after }), ...(diff && { diff }) };
    const meta = { index: letters[0], folder: letters[1], ...(isSubmodule(entry) && { submodule: true }) };
    const id = after?.uri ?? before?.uri ?? fileUri(folder, path);
    const stamp = stats && `${stats.size}:${stats.mtimeNs}`;
    return { file: { id, edit, _meta: { git: meta } }, paths: [...new Set([from, path])], ...(stamp && { stamp }) };
  }

  async #untracked(folder: string, path: BytePath, stats: Stats): Promise<FileEditDiff | undefined> {
    if (!stats.isFile() || stats.size > DIFF_MAX_BYTES) return undefined;
    const stamp = `${folder}:${path}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
    if (!this.#lines.has(stamp)) {
      if (this.#lines.size >= COUNTS_KEPT) this.#lines.clear();
      this.#lines.set(stamp, await linesOnDisk(folder, path));
    }
    const added = this.#lines.get(stamp);
    return added === undefined ? undefined : { added, removed: 0 };
  }
}

async function linesOnDisk(folder: string, path: BytePath): Promise<number | undefined> {
  const bytes = await plainContent(onDisk(folder, path), DIFF_MAX_BYTES).catch(() => undefined);
  return bytes && !looksBinary(bytes) ? linesIn(bytes.toString('latin1')) : undefined;
}

/** The number of lines of an untracked file; 0 if it is not text, or too long to be shown. */
export async function linesOfNew(folder: string, path: BytePath): Promise<number> {
  const stats = await statsOf(folder, path);
  if (!stats?.isFile() || stats.size > DIFF_MAX_BYTES) return 0;
  return (await linesOnDisk(folder, path)) ?? 0;
}

/** URIs of contents that only the host can read. */
interface ContentNames {
  ofCommit(oid: string, path: BytePath): string;
  inFolder(path: BytePath): string;
}

function contentNames(key: string, further: string | undefined): ContentNames {
  const base = `${CONTENT_SCHEME}/${key}`;
  const [git, folder] =
    further === undefined
      ? [`${base}/git`, `${base}/folder`]
      : [`${base}/git-in/${encodeURIComponent(further)}`, `${base}/folder-in/${encodeURIComponent(further)}`];
  return {
    ofCommit: (oid, path) => `${git}/${oid}/${percentEncoded(path)}`,
    inFolder: (path) => `${folder}/${percentEncoded(path)}`,
  };
}

function tracked(uri: string, { oid, mode }: Tracked, own: string): FileEditSide {
  if (mode === '160000') return { uri, content: textContent(`Subproject commit ${oid}\n`) };
  return { uri, content: { uri: own } };
}

async function onDiskNow(
  folder: string,
  path: BytePath,
  { stats, own }: { readonly stats: Stats; readonly own: string },
): Promise<FileEditSide> {
  const uri = fileUri(folder, path);
  if (stats.isDirectory()) return { uri, content: textContent('(a repository of its own)\n') };
  if (stats.isSymbolicLink()) {
    const target = await readlink(onDisk(folder, path), { encoding: 'buffer' }).catch(() => Buffer.alloc(0));
    return { uri, content: textContent(target) };
  }
  // A name that is not valid text has no path that clients could use.
  const content: ContentRef = { uri: asText(path) === undefined ? own : uri, sizeHint: Number(stats.size) };
  return { uri, content };
}
