/** What is checked out where: the repository that a folder is in, its branch, and the branches that there are. */
import { realpath } from 'node:fs/promises';
import { gitText } from '../git/git.js';
import { GIT_GLANCE_MAX_MS } from '../git/limits.js';
import { findRepository, type Repository } from '../git/repository.js';

export interface Checkout {
  readonly repository: Repository;
  /** Absent on a bare commit. */
  readonly branch?: string;
}

/** Somebody waits at a form. */
const GLANCE = { timeoutMs: GIT_GLANCE_MAX_MS } as const;

/** Undefined when the folder is in no repository that can be used. */
export async function checkoutAt(folder: string): Promise<Checkout | undefined> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return undefined;
  const [repository, branch] = await Promise.all([findRepository(real, GLANCE), branchIn(real)]);
  return repository && { repository, ...(branch !== undefined && { branch }) };
}

/** The branch that is checked out; undefined when it is a bare commit. */
export async function branchIn(folder: string): Promise<string | undefined> {
  const name = await gitText(folder, ['symbolic-ref', '--quiet', '--short', 'HEAD'], GLANCE).catch(() => '');
  return name === '' ? undefined : name;
}

/** Local branches, the latest first. */
export async function branchesOf({ folder }: Repository): Promise<string[]> {
  const list = ['for-each-ref', '--sort=-committerdate', '--format=%(refname:short)', 'refs/heads'];
  return (await gitText(folder, list, GLANCE)).split('\n').filter((name) => name !== '');
}

/** The commit that a name stands for. What clients write could also be an option, so Git never gets to see it as one. */
export async function commitOf({ folder }: Repository, name: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  return gitText(folder, args, GLANCE).catch(() => undefined);
}
