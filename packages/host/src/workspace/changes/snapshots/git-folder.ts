/**
 * A folder in a repository. A snapshot is the last commit and the content of every file that differs from it, so taking
 * one costs as much as `git status`. Nothing is written to the repository. What Git ignores is not looked at.
 */
import type { Repository } from '../../git/repository.js';
import { Captures } from '../capture.js';
import { isSubmodule, statusOf } from '../git/status.js';
import { FOLDER_MAX_BYTES, FOLDER_MAX_FILES } from '../limits.js';
import { captureAll } from './capture-all.js';
import { gitChanges } from './git-changes.js';
import type { FolderParts, Found, LookedAtFolder, Snapshot } from './snapshot.js';

const TOO_MUCH = `more than ${FOLDER_MAX_FILES} files, or ${FOLDER_MAX_BYTES / 2 ** 20} MiB, differ from the last commit`;

export class GitFolder implements LookedAtFolder {
  readonly kind = 'git';
  readonly #captures: Captures;

  constructor(
    private readonly parts: FolderParts,
    private readonly repository: Repository,
    captures?: Captures,
  ) {
    this.#captures = captures ?? new Captures(parts.root, parts.store);
  }

  /** The same folder, after its repository was looked up anew. */
  with(repository: Repository): GitFolder {
    return new GitFolder(this.parts, repository, this.#captures);
  }

  async look(signal: AbortSignal): Promise<Snapshot> {
    const { head, entries } = await statusOf(this.repository, { renames: false, signal });
    const differing = entries.filter((entry) => !isSubmodule(entry) && !this.parts.isOurs(entry.path));
    const paths = differing.slice(0, FOLDER_MAX_FILES).map(({ path }) => path);
    const { files, isCut } = await captureAll(this.#captures, paths, signal);
    for (const { path, head: tracked } of differing.slice(0, FOLDER_MAX_FILES)) {
      files.set(path, { ...files.get(path), ...(tracked && { head: tracked }) });
    }
    const isTooMuch = isCut || differing.length > FOLDER_MAX_FILES;
    return { ...(head !== undefined && { head }), files, ...(isTooMuch && { gap: TOO_MUCH }) };
  }

  changes(before: Snapshot, after: Snapshot, signal: AbortSignal): Promise<Found> {
    return gitChanges({ before, after }, { repository: this.repository, store: this.parts.store, signal });
  }
}
