/** Commits what is staged, or everything when nothing is. Programs of the repository run only where people trust it. */
import { systemClock } from '../../../core/util/clock.js';
import { runProcess } from '../../../core/util/run-process.js';
import { shownPath } from '../../git/byte-path.js';
import { GitError, gitEnvironment, gitWords, HARMLESS, NO_HOOKS, plainEnvironment } from '../../git/git.js';
import { GIT_GRACE_MS, GIT_WRITE_MAX_MS } from '../../git/limits.js';
import type { Repository } from '../../git/repository.js';
import { isConflict, isStaged, statusOf } from '../git/status.js';
import { stage } from './index-operations.js';

/** What is staged, or everything in the folder. It is settled when people are asked, not when they answer. */
export type CommitScope = 'staged' | 'everything';

export interface CommitRequest {
  readonly repository: Repository;
  readonly what: CommitScope;
  readonly message: string;
  readonly isTrusted: boolean;
  readonly signal: AbortSignal;
}

const COMMIT = ['commit', '--quiet', '--file=-', '--cleanup=strip'];
/** A folder that nobody trusts could also name the program to sign with. */
const ALONE = ['--no-verify', '--no-gpg-sign'];
/** What hooks say last is why they refused. */
const WORDS_KEPT_CHARACTERS = 4_000;

export async function whatToCommit(repository: Repository): Promise<CommitScope> {
  const { entries } = await statusOf(repository, { renames: false });
  return entries.some(isStaged) ? 'staged' : 'everything';
}

/** Says what was done. */
export async function commit({ repository, what, message, isTrusted, signal }: CommitRequest): Promise<string> {
  const { entries } = await statusOf(repository, { renames: false });
  const conflict = entries.find(isConflict);
  if (conflict) throw new GitError(`there is a conflict in ${shownPath(conflict.path)}: resolve and stage it first`);
  if (what === 'everything') await stage(repository, undefined, isTrusted);
  else if (!entries.some(isStaged)) throw new GitError('nothing is staged any more');
  let words = '';
  const end = await runProcess({
    command: 'git',
    args: isTrusted
      ? [...HARMLESS, ...COMMIT]
      : [...HARMLESS, ...NO_HOOKS, ...repository.noPrograms, ...COMMIT, ...ALONE],
    cwd: repository.folder,
    env: isTrusted ? plainEnvironment() : gitEnvironment(),
    input: message,
    signal,
    timeoutMs: GIT_WRITE_MAX_MS,
    graceMs: GIT_GRACE_MS,
    clock: systemClock,
    output: (text) => {
      words = `${words}${text}`.slice(-WORDS_KEPT_CHARACTERS);
    },
  });
  if (end.kind === 'timeout') throw new GitError('the commit took too long and was stopped');
  if (end.kind !== 'exited' || end.code !== 0) throw new GitError(`the commit failed: ${gitWords(words) || end.kind}`);
  return isTrusted ? 'Committed.' : 'Committed. Hooks did not run: the folder is not trusted.';
}
