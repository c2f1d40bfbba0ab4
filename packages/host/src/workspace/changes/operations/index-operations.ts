/** Puts files into the index of the repository, and takes them out again. Git does it, as if a person had typed it. */
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../../../core/contracts/request-error.js';
import { count } from '../../../core/util/text.js';
import { type BytePath, shownPath } from '../../git/byte-path.js';
import { type GitRun, git } from '../../git/git.js';
import { GIT_WRITE_MAX_MS } from '../../git/limits.js';
import { filteredPaths, type Repository } from '../../git/repository.js';
import { isConflict, isStaged, statusOf } from '../git/status.js';

const FROM_INPUT = ['--pathspec-from-file=-', '--pathspec-file-nul'];

/** Without paths, everything in the folder. */
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
  // Before the first commit there is nothing to go back to.
  const how = head === undefined ? ['rm', '--cached', '-q', '-f', '--ignore-unmatch'] : ['reset', '-q', 'HEAD'];
  if (there.length > 0) await git(repository.folder, [...repository.noPrograms, ...how, ...FROM_INPUT], writing(there));
  return `Took ${count(there.length, 'file')} out of what is staged.`;
}

async function changedPaths(repository: Repository): Promise<BytePath[]> {
  const { entries } = await statusOf(repository, { renames: false });
  return entries.filter(({ letters }) => letters[1] !== '.').map(({ path }) => path);
}

/** Stored without its filter, such a file would be stored wrong; and the filter is a program that the folder names. */
export async function refuseFiltered(repository: Repository, paths: readonly BytePath[]): Promise<void> {
  const [first] = await filteredPaths(repository, paths);
  if (first === undefined) return;
  const what = `${shownPath(first)} goes through a filter, which is a program that the folder names`;
  throw new RequestError(ErrorCode.PermissionDenied, `${what}. Trust the folder first, or use a terminal.`);
}

function writing(paths: readonly BytePath[]): GitRun {
  return { input: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'), timeoutMs: GIT_WRITE_MAX_MS };
}
