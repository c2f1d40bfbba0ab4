/** Commits what is staged, or everything when nothing is. Programs of the repository run only where people trust it. */
import { systemClock } from '../../clock.js';
import { runProcess } from '../../tools/run-process.js';
import { GitError, gitEnvironment, gitWords, HARMLESS, NO_HOOKS, plainEnvironment } from '../git/git.js';
import type { Repository } from '../git/repository.js';
import { statusOf } from '../git/status.js';
import { GIT_GRACE_MS, GIT_WRITE_MAX_MS } from '../limits.js';
import { stage } from './index-operations.js';

export interface CommitRequest {
  readonly repository: Repository;
  readonly message: string;
  readonly isTrusted: boolean;
  readonly signal: AbortSignal;
}

const COMMIT = ['commit', '--quiet', '--file=-', '--cleanup=strip'];
/** A folder that nobody trusts could also name the program to sign with. */
const ALONE = ['--no-verify', '--no-gpg-sign'];
/** What hooks say last is why they refused. */
const WORDS_KEPT_CHARACTERS = 4_000;

/** Says what was done. */
export async function commit({ repository, message, isTrusted, signal }: CommitRequest): Promise<string> {
  const { entries } = await statusOf(repository, { renames: false });
  const isAnythingStaged = entries.some(({ letters }) => !['?', '.', 'U'].includes(letters[0] ?? ''));
  if (!isAnythingStaged) await stage(repository, undefined, isTrusted);
  let words = '';
  const end = await runProcess({
    command: 'git',
    args: isTrusted
      ? [...HARMLESS, ...COMMIT]
      : [...HARMLESS, ...NO_HOOKS, ...repository.noFilters, ...COMMIT, ...ALONE],
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
