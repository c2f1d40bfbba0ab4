/** What people do with uncommitted changes: stage, unstage, discard, and restore what they discarded. */

import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { count } from '@atrium/core/util/text.js';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { type BytePath, inFolder, located, shownPath } from '../git/byte-path.js';
import { GIT_WRITE_MAX_MS, GitError, type GitRun, git, gitText } from '../git/git.js';
import { filteredPaths, type Repository } from '../git/repository.js';
import { isConflict, isStaged, isSubmodule, type StatusEntry, statusOf } from '../git/repository-status.js';
import { trackedContents } from '../git/stored-files.js';
import { capture } from './capture.js';
import { type Change, changeOf, type Entry, isSame } from './change.js';
import type { StagedFile } from './change-log.js';
import { KINDS } from './git-folder.js';
import { CONTENT_MAX_BYTES } from './limits.js';
import { asFiles } from './merge.js';
import { nothingDone, outcome, putBack, type UndoOptions, writeFiles } from './undo.js';

const FROM_INPUT = ['--pathspec-from-file=-', '--pathspec-file-nul'];

/** Without paths, stages everything in the folder. */
export async function stage(repository: Repository, paths: readonly BytePath[] | undefined, isTrusted: boolean) {
  const changed = await changedPaths(repository);
  const named = paths && new Set(paths);
  const all = changed.filter((path) => !named || named.has(path));
  if (!isTrusted) await refuseFiltered(repository, all);
  const filters = isTrusted ? [] : repository.noPrograms;
  if (all.length > 0) await git(repository.folder, [...filters, 'add', '--all', ...FROM_INPUT], writing(all));
  return `Staged ${count(all.length, 'file')}.`;
}

export async function unstage(repository: Repository, paths: readonly BytePath[] | undefined): Promise<string> {
  const { head, entries } = await statusOf(repository, { renames: false });
  const staged = entries.filter((entry) => isStaged(entry) || isConflict(entry));
  const named = paths && new Set(paths);
  const there = staged.map(({ path }) => path).filter((path) => !named || named.has(path));
  // Before the first commit, there is no state to reset to.
  const how = head === undefined ? ['rm', '--cached', '-q', '-f', '--ignore-unmatch'] : ['reset', '-q', 'HEAD'];
  if (there.length > 0) await git(repository.folder, [...repository.noPrograms, ...how, ...FROM_INPUT], writing(there));
  return `Unstaged ${count(there.length, 'file')}.`;
}

async function changedPaths(repository: Repository): Promise<BytePath[]> {
  const { entries } = await statusOf(repository, { renames: false });
  return entries.filter(({ letters }) => letters[1] !== '.').map(({ path }) => path);
}

/** Git would store such a file wrong without its filter, and the filter is a program that the folder names. */
async function refuseFiltered(repository: Repository, paths: readonly BytePath[]): Promise<void> {
  const [first] = await filteredPaths(repository, paths);
  if (first === undefined) return;
  const what = `${shownPath(first)} goes through a filter, which is a program that the folder names`;
  throw new RequestError(ErrorCode.PermissionDenied, `${what}. Trust the folder first, or use a terminal.`);
}

function writing(paths: readonly BytePath[]): GitRun {
  return { input: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'), timeoutMs: GIT_WRITE_MAX_MS };
}

export interface Discard extends UndoOptions {
  /** The repository of the session's first folder, or of the only one in `further`. */
  readonly repository: Repository;
  isOurs(path: BytePath): boolean;
}

/** Resets files to the last commit. Their present content is stored, so that `restore` can put it back. */
export async function discard(options: Discard, paths: readonly BytePath[] | undefined): Promise<string> {
  const { repository, blobs, view } = options;
  const own = await chosen(options, paths);
  const staged = await keepStaged(repository, own, blobs);
  const wanted = (await waysBack(options, own)).map((change) => ({ path: change.path, changes: [change] }));
  const applied = await writeFiles(options, wanted, (done) => {
    const kept = staged
      .map((file) => ({ ...file, path: named(options, file.path) }))
      .filter(({ path }) => done.has(path));
    return { view, turns: [], ...(kept.length > 0 && { staged: kept }) };
  });
  if (applied.done.size === 0) throw nothingDone(applied);
  await unstage(
    repository,
    [...applied.done].map((path) => located('', path).path),
  );
  return outcome('Discarded the changes of', applied);
}

/** Restores the last discard, in the folder and in the index. */
export async function restore(options: Discard): Promise<string> {
  const { message, refused, undone } = await putBack(options);
  const left = new Set(refused.map(({ path }) => path));
  const kept = undone.staged?.filter(({ path }) => !left.has(path)) ?? [];
  const staged = kept.map((file) => ({ ...file, path: located('', file.path).path }));
  if (staged.length > 0) await stageAgain(options.repository, staged, options.blobs);
  return message;
}

/** The name of a repository's file in the change log. */
function named({ further = [] }: Discard, path: BytePath): BytePath {
  const [folder] = further;
  return folder === undefined ? path : inFolder(folder, path);
}

async function chosen({ repository, isOurs }: Discard, paths: readonly BytePath[] | undefined): Promise<StatusEntry[]> {
  const { entries } = await statusOf(repository, { renames: false });
  const named = paths && new Set(paths);
  const all = entries.filter((entry) => (named ? named.has(entry.path) : !isOurs(entry.path)));
  const own = all.filter((entry) => !isSubmodule(entry));
  if (own.length === 0)
    throw new RequestError(ErrorCode.Conflict, 'nothing was changed: repositories inside are left alone');
  const tracked = own.flatMap(({ path, head }) => (head ? [path] : []));
  await refuseFiltered(repository, tracked);
  return own;
}

/** The changes that lead from the present files to the last commit. */
async function waysBack(options: Discard, entries: readonly StatusEntry[]): Promise<Change[]> {
  const { blobs, repository } = options;
  const heads = entries.flatMap(({ path, head }) => {
    const kind = head && KINDS.get(head.mode);
    return kind ? { path, kind, oid: head.oid } : [];
  });
  const targets = new Map<BytePath, Entry>();
  const request = { maxBytes: CONTENT_MAX_BYTES, as: 'on-disk' } as const;
  for await (const [{ path, kind, oid }, bytes] of trackedContents(repository, heads, request)) {
    const lost = { kind, hash: `git-${oid}`, bytes: 0, isLost: true } as const;
    targets.set(path, bytes ? { kind, hash: await blobs.put(bytes), bytes: bytes.length } : lost);
  }
  const changes: Change[] = [];
  for (const { path } of entries) {
    const [current, target] = [await capture(repository.folder, path, blobs), targets.get(path)];
    changes.push(changeOf(named(options, path), isSame(current, target) ? target : current, target));
  }
  return changes;
}

/**
 * Stores the staged content of files that are being discarded. It can differ from the file, and Git forgets it sooner
 * or later; `stageAgain` puts it back.
 */
async function keepStaged(
  repository: Repository,
  entries: readonly StatusEntry[],
  blobs: BlobStore,
): Promise<StagedFile[]> {
  const files = entries.flatMap(({ path, staged, ...entry }) =>
    staged && isStaged(entry) ? { path, mode: staged.mode, oid: staged.oid } : [],
  );
  const kept: StagedFile[] = [];
  const request = { maxBytes: CONTENT_MAX_BYTES, as: 'stored' } as const;
  for await (const [{ path, mode }, bytes] of trackedContents(repository, files, request)) {
    if (!bytes) {
      const why = `what is staged of ${shownPath(path)} is too large to be kept: unstage it first`;
      throw new RequestError(ErrorCode.Conflict, why);
    }
    kept.push({ path, mode, hash: await blobs.put(bytes) });
  }
  return kept;
}

/** Skips files of which something else is staged meanwhile. */
async function stageAgain(repository: Repository, staged: readonly StagedFile[], blobs: BlobStore): Promise<void> {
  const { folder, prefix, noPrograms } = repository;
  const { entries } = await statusOf(repository, { renames: false });
  const taken = new Set(entries.filter(isStaged).map(({ path }) => path));
  const free = staged.filter(({ path }) => !taken.has(path));
  if (free.length === 0) return;
  const names = await asFiles(blobs, free, (_, files) =>
    gitText(folder, [...noPrograms, 'hash-object', '-w', '--no-filters', '--stdin-paths'], {
      input: files.map((file) => `${file}\n`).join(''),
      timeoutMs: GIT_WRITE_MAX_MS,
    }),
  );
  if (names === undefined) throw new GitError('what was staged is no longer stored');
  const oids = names.split('\n');
  const lines = free.map(({ path, mode }, index) => `${mode} ${oids[index]} 0\t${prefix}${path}\0`);
  await git(folder, [...noPrograms, 'update-index', '-z', '--index-info'], {
    input: Buffer.from(lines.join(''), 'latin1'),
    timeoutMs: GIT_WRITE_MAX_MS,
  });
}
