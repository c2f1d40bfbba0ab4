/**
 * What people do with the branches of sessions: compare, merge, rebase, push, and remove a worktree. Names of branches
 * come from clients, so each is looked up first, and Git gets only full refs and hashes. A merge is tried without
 * touching any file, and a rebase that fails is undone: after a conflict, everything is as it was.
 */
import { systemClock } from '@atrium/core/util/clock.js';
import { runProcess } from '@atrium/core/util/run-process.js';
import { count } from '@atrium/core/util/text.js';
import {
  GIT_CHECKOUT_MAX_MS,
  GIT_GRACE_MS,
  GIT_WRITE_MAX_MS,
  GitError,
  git,
  gitErrorText,
  gitList,
  gitText,
  HARMLESS,
  plainEnvironment,
} from '../git/git.js';
import { branchIn, forgetRepositories, type Repository } from '../git/repository.js';
import { statusOf } from '../git/repository-status.js';
import {
  BOARD_BRANCHES_MAX,
  COMPARE_FILES_MAX,
  COMPARE_MAX_CHARACTERS,
  FILES_NAMED_MAX,
  NETWORK_MAX_MS,
  OUTPUT_MAX_CHARACTERS,
} from './limits.js';

const QUIET_DIFF = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames'];

/** Local branches, the latest first. */
export async function branchesIn(folder: string): Promise<string[]> {
  const how = ['--sort=-committerdate', `--count=${BOARD_BRANCHES_MAX}`, '--format=%(refname:short)', 'refs/heads'];
  return (await gitText(folder, ['for-each-ref', ...how])).split('\n').filter((name) => name !== '');
}

/**
 * The commit of a branch. Text from clients could be an option or any expression, so only the name of a branch is
 * accepted.
 */
export async function commitOfBranch(folder: string, branch: string): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const valid = await gitText(folder, ['check-ref-format', ref]).catch(() => undefined);
  const found =
    valid === undefined
      ? undefined
      : await gitText(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]).catch(
          () => undefined,
        );
  if (found === undefined) throw new GitError(`there is no branch ${branch.slice(0, 200)}`);
  return found;
}

export interface LineCount {
  readonly path: string;
  readonly added?: number;
  readonly removed?: number;
}

/** Counts the lines that differ between a commit and the folder, or between two commits. */
export async function countsOf({ folder, noPrograms }: Repository, ...commits: string[]): Promise<LineCount[]> {
  const fields = await gitList(folder, [...noPrograms, 'diff', '--numstat', '-z', ...QUIET_DIFF, ...commits, '--']);
  return fields.slice(0, COMPARE_FILES_MAX).map((field) => {
    const [added = '', removed = '', ...path] = Buffer.from(field, 'latin1').toString('utf8').split('\t');
    const isText = added !== '-';
    return { path: path.join('\t'), ...(isText && { added: Number(added), removed: Number(removed) }) };
  });
}

export async function mergeBase(folder: string, one: string, other: string): Promise<string> {
  const base = await gitText(folder, ['merge-base', one, other]).catch(() => '');
  if (base === '') throw new GitError('the two branches have no commit in common');
  return base;
}

/** How many commits only the first has, and how many only the second. */
export async function distance(folder: string, one: string, other: string): Promise<{ ahead: number; behind: number }> {
  const text = await gitText(folder, ['rev-list', '--left-right', '--count', `${one}...${other}`]);
  const [ahead = 0, behind = 0] = text.split('\t').map(Number);
  return { ahead, behind };
}

/** The changes of the second branch since it left the first. */
export async function compare(repository: Repository, from: string, to: string) {
  const { folder, noPrograms } = repository;
  const [one, other] = [await commitOfBranch(folder, from), await commitOfBranch(folder, to)];
  const base = await mergeBase(folder, one, other);
  const files = await countsOf(repository, base, other);
  const output = await git(folder, [...noPrograms, 'diff', ...QUIET_DIFF, base, other, '--']);
  const text = output.toString('utf8');
  return { from, to, files, diff: text.slice(0, COMPARE_MAX_CHARACTERS), isCut: text.length > COMPARE_MAX_CHARACTERS };
}

export interface BranchPair {
  readonly repository: Repository;
  readonly branch: string;
  /** The branch to merge into, or to rebase onto. */
  readonly into: string;
  readonly isTrusted: boolean;
  /** Fires when the person stops the action; then everything is as it was. */
  readonly signal: AbortSignal;
  /** Throws while an agent works in the folder whose files are about to change. */
  checkIdleIn(folder: string): Promise<void>;
}

/** Merges a branch into another. If both changed the same lines, nothing changes. */
export async function merge({ repository, branch, into, isTrusted, signal, checkIdleIn }: BranchPair): Promise<string> {
  const { folder } = repository;
  if (branch === into) throw new GitError(`the branch ${branch} cannot be merged into itself`);
  const [target, head] = [await commitOfBranch(folder, into), await commitOfBranch(folder, branch)];
  const { ahead, behind } = await distance(folder, head, target);
  const left = await uncommittedIn(repository);
  if (ahead === 0) return `${into} has every commit of ${branch} already.${left}`;
  const next = behind === 0 ? head : await mergeCommit(repository, { branch, into, target, head });
  const place = await checkoutOf(folder, into);
  if (place !== undefined) await checkIdleIn(place);
  // From here on the merge either happens completely or not at all.
  signal.throwIfAborted();
  if (place === undefined) await git(folder, ['update-ref', `refs/heads/${into}`, next, target]);
  else await moveCheckout(repository, { place, next, isTrusted });
  forgetRepositories();
  return `Merged ${branch} into ${into}.${left}`;
}

/** A merge takes only commits; tells people if the branch's folder has uncommitted changes. */
async function uncommittedIn(repository: Repository): Promise<string> {
  const { length } = (await statusOf(repository, { renames: false })).entries;
  if (length === 0) return '';
  return ` ${count(length, 'changed file')} ${length === 1 ? 'is' : 'are'} not committed there, and not merged.`;
}

interface MergeSides {
  readonly branch: string;
  readonly into: string;
  readonly target: string;
  readonly head: string;
}

async function mergeCommit({ folder, noPrograms }: Repository, sides: MergeSides): Promise<string> {
  const { branch, into, target, head } = sides;
  const args = [...noPrograms, 'merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', target, head];
  const [tree = '', ...files] = await gitList(folder, args, { fine: [1], timeoutMs: GIT_WRITE_MAX_MS });
  const conflicts = files.filter((file) => file !== '');
  if (conflicts.length > 0) throw new GitError(conflictText(branch, into, conflicts));
  const words = `Merge branch '${branch}' into ${into}\n`;
  return gitText(folder, [...noPrograms, 'commit-tree', tree, '-p', target, '-p', head], { input: words });
}

/** The folder that has a branch checked out; undefined when none has. */
async function checkoutOf(folder: string, branch: string): Promise<string | undefined> {
  const list = await gitText(folder, ['worktree', 'list', '--porcelain']);
  for (const block of list.split('\n\n')) {
    const lines = block.split('\n');
    const place = lines[0]?.replace(/^worktree /, '');
    if (place === undefined || !lines.includes(`branch refs/heads/${branch}`)) continue;
    // A repository can name any folder as its worktree, so that folder must name the same repository.
    const [own, there] = [await commonFolder(folder), await commonFolder(place).catch(() => undefined)];
    if (own !== there)
      throw new GitError(`the branch ${branch} is checked out in ${place}, which is not a worktree of this`);
    return place;
  }
  return undefined;
}

function commonFolder(folder: string): Promise<string> {
  return gitText(folder, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
}

interface Move {
  readonly place: string;
  readonly next: string;
  readonly isTrusted: boolean;
}

/** Git refuses if that would touch an uncommitted file, and then changes nothing. */
async function moveCheckout(repository: Repository, { place, next, isTrusted }: Move): Promise<void> {
  refuseFilters(repository, isTrusted);
  const programs = isTrusted ? [] : repository.noPrograms;
  const args = [...programs, 'merge', '--ff-only', '--quiet', '--no-verify', next];
  await git(place, args, { timeoutMs: GIT_CHECKOUT_MAX_MS });
}

/** Without their filters files would be written wrong, and filters are programs that the folder names. */
function refuseFilters({ hasFilters, hasConditions }: Repository, isTrusted: boolean): void {
  if (isTrusted || (!hasFilters && !hasConditions)) return;
  throw new GitError('its files go through filters, which are programs that the folder names: trust the folder first');
}

/** Puts the commits of a branch that is checked out in the folder on top of another branch. */
export async function rebase({ repository, branch, into, isTrusted, signal }: BranchPair): Promise<string> {
  const { folder } = repository;
  if (branch === into) throw new GitError(`the branch ${branch} cannot be put onto itself`);
  refuseFilters(repository, isTrusted);
  await refuseUncommitted(repository, 'commit or discard it first');
  const [target, head] = [await commitOfBranch(folder, into), await commitOfBranch(folder, branch)];
  if ((await distance(folder, head, target)).behind === 0) return `${branch} is up to date with ${into}.`;
  const programs = isTrusted ? [] : repository.noPrograms;
  const run = (args: readonly string[], stopping?: AbortSignal) =>
    git(folder, [...programs, '-c', 'core.editor=true', 'rebase', ...args], {
      timeoutMs: GIT_CHECKOUT_MAX_MS,
      isAskedToEnd: true,
      ...(stopping && { signal: stopping }),
    });
  try {
    await run(['--quiet', '--no-verify', '--no-autostash', '--no-gpg-sign', target], signal);
  } catch (error) {
    const files = await gitList(folder, ['diff', '--name-only', '--diff-filter=U', '-z']).catch(() => []);
    await run(['--abort']).catch(() => {});
    if ((await branchIn(folder)) !== branch || (await commitOfBranch(folder, branch)) !== head)
      throw new GitError(`the rebase could not be taken back: run git rebase --abort in ${folder}`);
    signal.throwIfAborted();
    throw files.length > 0 ? new GitError(conflictText(branch, into, files)) : error;
  } finally {
    forgetRepositories();
  }
  return `Put ${branch} onto ${into}.`;
}

function conflictText(branch: string, into: string, files: readonly string[]): string {
  const names = [...new Set(files)].map((file) => Buffer.from(file, 'latin1').toString('utf8'));
  const more = names.length - FILES_NAMED_MAX;
  const named = names.slice(0, FILES_NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `the branches ${branch} and ${into} changed the same lines, so nothing was changed: ${named}`;
}

async function refuseUncommitted(repository: Repository, advice: string): Promise<void> {
  const { entries } = await statusOf(repository, { renames: false });
  if (entries.length === 0) return;
  throw new GitError(`${entries.length} ${entries.length === 1 ? 'file is' : 'files are'} not committed: ${advice}`);
}

/** Removes a worktree; its branch stays. */
export async function removeWorktree(repository: Repository, force: boolean): Promise<string> {
  const { folder, top, noPrograms } = repository;
  const branch = await branchIn(folder);
  if (!force) await refuseUncommitted(repository, 'commit it, or say that it may be lost');
  if (branch === undefined && !force) throw new GitError('no branch is checked out there: its commits could be lost');
  const common = await commonFolder(folder);
  const how = force ? ['--force'] : [];
  const args = [...noPrograms, `--git-dir=${common}`, 'worktree', 'remove', ...how, '--', top];
  await git(common, args, { timeoutMs: GIT_WRITE_MAX_MS });
  forgetRepositories();
  return `Removed the worktree.${branch === undefined ? '' : ` The branch ${branch} stays.`}`;
}

export const NO_REMOTE = 'there is no remote to push to: add one with git remote add';

/** The remote of a branch, or the only remote. Its URL may hold credentials, so no client sees it. */
export async function remoteOf(folder: string, branch: string): Promise<{ name: string; url: string } | undefined> {
  const names = (await gitText(folder, ['remote'])).split('\n').filter((name) => name !== '' && !name.startsWith('-'));
  const own = await gitText(folder, ['config', '--get', `branch.${branch}.remote`]).catch(() => '');
  const name = [own, 'origin', names.length === 1 ? names[0] : undefined].find((each) => names.includes(each ?? ''));
  if (name === undefined) return undefined;
  return { name, url: await gitText(folder, ['remote', 'get-url', '--push', '--', name]) };
}

/**
 * Runs programs from the person's own Git configuration, as their terminal would; the caller has checked that the
 * folder is trusted.
 */
export async function push(repository: Repository, branch: string, signal: AbortSignal): Promise<string> {
  const { folder } = repository;
  await commitOfBranch(folder, branch);
  const remote = await remoteOf(folder, branch);
  if (!remote) throw new GitError(NO_REMOTE);
  const ref = `refs/heads/${branch}`;
  const args = [...HARMLESS, 'push', '--quiet', '--set-upstream', '--', remote.name, `${ref}:${ref}`];
  const { code, words } = await runIn(folder, 'git', args, { signal });
  forgetRepositories();
  signal.throwIfAborted();
  if (code !== 0) throw new GitError(`the push failed: ${gitErrorText(withoutSecrets(words)) || 'it took too long'}`);
  return `Pushed ${branch} to ${remote.name}.`;
}

interface RunLimits {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Runs a program of this machine in a trusted folder, without a shell, with a time limit. */
export async function runIn(
  folder: string,
  command: string,
  args: readonly string[],
  { timeoutMs = NETWORK_MAX_MS, signal = new AbortController().signal }: RunLimits = {},
): Promise<{ readonly code: number | undefined; readonly words: string }> {
  let words = '';
  const end = await runProcess({
    ...{ command, args, cwd: folder, env: plainEnvironment(), timeoutMs, graceMs: GIT_GRACE_MS, clock: systemClock },
    signal,
    output: (text) => {
      words = `${words}${text}`.slice(-OUTPUT_MAX_CHARACTERS);
    },
  });
  return { code: end.kind === 'exited' ? end.code : undefined, words };
}

/** Removes credentials from URLs: Git and its helpers name URLs when they fail, and a URL may hold a password. */
export function withoutSecrets(text: string): string {
  return text.replace(/([a-z][a-z\d+.-]*:\/\/)[^\s/@]+@/gi, '$1');
}
