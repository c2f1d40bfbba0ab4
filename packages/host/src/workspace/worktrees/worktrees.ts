/**
 * Worktrees: a session may work on its own branch in its own folder, so that several agents can change one repository
 * at the same time. The host makes the worktree before the session's agent opens, and removes it when it forgets the
 * session. A worktree with work that is in no branch stays for good.
 */
import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AgentError } from '@atrium/core/contracts/agent.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { Checkout, SessionLocation, WorktreePort, WorktreeStart } from '@atrium/core/sessions/session-config.js';
import type { Report, SessionObserver } from '@atrium/core/sessions/session-observer.js';
import { makeFolder } from '@atrium/core/util/folders.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { ownBranch, type ProjectOfWorktree, type SessionState } from '@atrium/protocol/ahp-1';
import { shownPath } from '../git/byte-path.js';
import { GIT_CHECKOUT_MAX_MS, GIT_GLANCE_MAX_MS, GIT_WRITE_MAX_MS, git, gitText } from '../git/git.js';
import { branchIn, findRepository, forgetRepositories, mayBeInRepository, type Repository } from '../git/repository.js';

/** Short, because a person waits at a form. */
const GLANCE = { timeoutMs: GIT_GLANCE_MAX_MS } as const;

/** How many sessions may begin with the same words before one gets a code instead. */
const SAME_NAMES_MAX = 50;

/** Git writes this reason where it makes a worktree, and removes it when done. */
const HALF_MADE = 'initializing';

export class Worktrees implements Service, WorktreePort {
  /** Names of branches that were given to sessions since the start. */
  readonly #taken = new Set<string>();

  constructor(
    private readonly folder: string,
    private readonly logger: Logger,
  ) {}

  async checkoutAt(folder: string): Promise<Checkout | undefined> {
    const real = await realpath(folder).catch(() => undefined);
    if (real === undefined || !(await mayBeInRepository(real))) return undefined;
    const [repository, branch] = await Promise.all([findRepository(real, GLANCE), branchIn(real, GLANCE)]);
    if (!repository) return undefined;
    return {
      ...(branch !== undefined && { branch }),
      branches: () => branchesOf(repository),
      location: (session, start) => this.#location(session, repository, start),
    };
  }

  /** Where a session will work, and the source of its worktree. Creates nothing yet. */
  async #location(session: string, repository: Repository, { from, name }: WorktreeStart): Promise<SessionLocation> {
    const { top, prefix } = repository;
    const project: ProjectOfWorktree = {
      uri: pathToFileURL(top).href,
      displayName: path.basename(top),
      branch: (name === undefined ? undefined : await this.#freeBranch(repository, name)) ?? branchOf(session),
      ...(from !== undefined && { from }),
    };
    const workingDirectory = pathToFileURL(path.join(this.#folderOf(session), shownPath(prefix))).href;
    return { workingDirectories: [workingDirectory.replace(/\/$/, '')], project };
  }

  /** The wanted name, or with a number if it is taken; undefined when too many are. */
  async #freeBranch(repository: Repository, name: string): Promise<string | undefined> {
    const wanted = ownBranch(name);
    for (let count = 1; count <= SAME_NAMES_MAX; count += 1) {
      const branch = count === 1 ? wanted : `${wanted}-${count}`;
      const key = JSON.stringify([repository.top, branch]);
      // Another session may be about to make it.
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      const place = await placeFor(repository, branch);
      if (place === 'free') return branch;
      if (place === 'impossible') return undefined;
    }
    return undefined;
  }

  attach = (session: Session): SessionObserver => ({
    prepareFolder: (report) => this.#make(session.uri, session.state, report),
    close: async () => {},
  });

  async #make(
    session: string,
    { project, workingDirectories = [], config }: SessionState,
    report: Report,
  ): Promise<void> {
    const { isolation, branch } = config?.values ?? {};
    if (isolation !== 'worktree' || !project) return;
    const own = (project as Partial<ProjectOfWorktree>).branch ?? branchOf(session);
    const from = typeof branch === 'string' && branch !== '' ? branch : 'HEAD';
    const source = fileURLToPath(project.uri);
    report(`Making a worktree of ${source}`);
    try {
      const repository = await findRepository(await realpath(source));
      if (!repository) throw new Error('it is no Git repository that can be used');
      await this.#add(repository, { session, own, from }).finally(forgetRepositories);
      // A folder that is in no commit is missing in the worktree, too.
      const [folder] = workingDirectories;
      if (folder !== undefined) await makeFolder(fileURLToPath(folder));
    } catch (error) {
      throw new AgentError('worktree', `No worktree could be made of ${source}: ${(error as Error).message}`);
    }
  }

  async #add(repository: Repository, { session, own, from }: Wanted): Promise<void> {
    const folder = this.#folderOf(session);
    const isThere = await exists(folder);
    if (isThere && !(await isHalfMade(folder))) return;
    // The worktree's configuration could name other programs, which Git would run while it makes the worktree.
    if (repository.hasConditions) throw new Error('its own Git configuration has an "includeIf": remove that first');
    await makeFolder(this.folder);
    const worktree = (...args: string[]) =>
      git(repository.folder, [...repository.noPrograms, 'worktree', ...args], { timeoutMs: GIT_CHECKOUT_MAX_MS });
    // Git may still know a worktree here that was not finished, or whose folder a person removed by hand.
    await worktree('remove', '--force', '--force', folder).catch(() => {});
    // Work that was committed on this branch continues.
    const isKept = (await commitOf(repository, `refs/heads/${own}`)) !== undefined;
    if (isKept) return void (await worktree('add', '--quiet', folder, own));
    const begin = await commitOf(repository, from);
    if (begin === undefined) throw new Error(`there is no branch ${from}`);
    await worktree('add', '--quiet', '--no-track', '-b', own, folder, begin);
  }

  /** The session is gone for good. Work that is in no branch stays. */
  async forgotten(session: string): Promise<void> {
    const folder = this.#folderOf(session);
    if (!(await exists(folder))) return;
    try {
      await remove(await realpath(folder)).finally(forgetRepositories);
    } catch (error) {
      this.logger.log('warn', 'the worktree of a forgotten session stays', { folder, error: (error as Error).message });
    }
  }

  #folderOf(session: string): string {
    return path.join(this.folder, nameOf(session));
  }
}

interface Wanted {
  readonly session: string;
  /** The branch of the worktree. */
  readonly own: string;
  readonly from: string;
}

/** Fails if anything would be lost: uncommitted changes, or commits that only this worktree has. */
async function remove(folder: string): Promise<void> {
  const repository = await findRepository(folder);
  if (repository?.top !== folder) throw new Error('it is no longer a worktree');
  if ((await branchIn(folder, GLANCE)) === undefined) throw new Error('no branch is checked out there');
  const common = await gitText(folder, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  const args = [...repository.noPrograms, `--git-dir=${common}`, 'worktree', 'remove', folder];
  await git(path.dirname(folder), args, { timeoutMs: GIT_WRITE_MAX_MS });
}

/** Whether the host or the machine stopped while Git made the worktree. */
async function isHalfMade(folder: string): Promise<boolean> {
  const lockFile = await gitText(folder, ['rev-parse', '--path-format=absolute', '--git-path', 'locked']).catch(
    () => '',
  );
  const reason = lockFile === '' ? '' : await readFile(lockFile, 'utf8').catch(() => '');
  return reason.trim() === HALF_MADE;
}

/** Clients name sessions, so a hash makes a name that suits folders and branches. */
function nameOf(session: string): string {
  return createHash('sha256').update(session).digest('hex').slice(0, 12);
}

function branchOf(session: string): string {
  return `atrium/${nameOf(session)}`;
}

function exists(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  );
}

/** Git keeps branches like files, so that one cannot be below another. */
async function placeFor({ folder }: Repository, branch: string): Promise<'free' | 'taken' | 'impossible'> {
  const parts = branch.split('/');
  const above = parts.slice(1).map((_, index) => `refs/heads/${parts.slice(0, index + 1).join('/')}`);
  const own = `refs/heads/${branch}`;
  const list = ['for-each-ref', '--format=%(refname)', own, ...above];
  const found = await gitText(folder, list, GLANCE).catch(() => undefined);
  // Nobody waits for a Git that is too busy to answer: a code is free for certain.
  if (found === undefined) return 'impossible';
  const names = found.split('\n').filter((name) => name !== '');
  if (names.some((name) => above.includes(name))) return 'impossible';
  // The list also has what is beside it, below the same folder.
  return names.some((name) => name === own || name.startsWith(`${own}/`)) ? 'taken' : 'free';
}

/** Local branches, the latest first. */
async function branchesOf({ folder }: Repository): Promise<string[]> {
  const list = ['for-each-ref', '--sort=-committerdate', '--format=%(refname:short)', 'refs/heads'];
  return (await gitText(folder, list, GLANCE)).split('\n').filter((name) => name !== '');
}

/** The commit of a name. Text from clients could be an option, so Git must never read it as one. */
async function commitOf({ folder }: Repository, name: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  return gitText(folder, args, GLANCE).catch(() => undefined);
}
