/**
 * Worktrees: a session may work on a branch of its own, in a folder of its own, so that several agents can change one
 * repository at the same time. The worktree is made before the session's agent opens, and stays as long as the session
 * can still be restored; one with changes that are not committed stays for good.
 */
import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SessionState, SessionSummary } from '@atrium/protocol';
import { AgentError } from '../agents/agent.js';
import type { Logger } from '../logger.js';
import type { Service } from '../service.js';
import type { Companion } from '../sessions/companion.js';
import type { Session } from '../sessions/session.js';
import { git, gitCheckout } from './git.js';

/** Branches that are offered; a repository may have thousands. */
export const BRANCHES_MAX = 100;

export interface Repository {
  /** The top folder. */
  readonly root: string;
  /** The branch that is checked out; absent on a bare commit. */
  readonly branch: string | undefined;
}

export type Place = Pick<SessionSummary, 'workingDirectory' | 'project'>;

export class Worktrees implements Service {
  constructor(
    private readonly folder: string,
    private readonly logger: Logger,
  ) {}

  /** Where a session will work, and what its worktree is made of. Makes nothing yet. */
  place(session: string, repository: Repository, folder: string): Place {
    const inside = path.relative(repository.root, folder);
    return {
      workingDirectory: pathToFileURL(path.join(this.#folderOf(session), inside)).href,
      project: { uri: pathToFileURL(repository.root).href, displayName: path.basename(repository.root) },
    };
  }

  attach = (session: Session): Companion => ({
    place: () => this.#make(session.uri, session.state),
    close: async () => {},
  });

  async #make(session: string, { summary, config }: SessionState): Promise<void> {
    const { isolation, branch } = config?.values ?? {};
    if (isolation !== 'worktree' || !summary.project) return;
    const folder = this.#folderOf(session);
    if (await exists(folder)) return;
    await mkdir(this.folder, { recursive: true });
    const repository = fileURLToPath(summary.project.uri);
    const from = typeof branch === 'string' && branch !== '' ? branch : 'HEAD';
    try {
      await gitCheckout(repository, ['worktree', 'prune']);
      const own = branchOf(session);
      // Somebody may have removed the folder by hand: what was committed there goes on.
      const isKept = (await git(repository, ['branch', '--list', own])) !== '';
      const what = isKept ? [folder, own] : ['-b', own, folder, from];
      await gitCheckout(repository, ['worktree', 'add', '--quiet', ...what]);
    } catch (error) {
      throw new AgentError('worktree', `No worktree could be made in ${repository}: ${(error as Error).message}`);
    }
  }

  /** The session is gone for good. What was not committed in its worktree is not. */
  async forgotten(session: string): Promise<void> {
    const folder = this.#folderOf(session);
    if (!(await exists(folder))) return;
    try {
      const common = (await git(folder, ['rev-parse', '--path-format=absolute', '--git-common-dir'])).trim();
      await git(common, ['worktree', 'remove', folder]);
    } catch (error) {
      this.logger.log('warn', 'the worktree of a forgotten session stays', { folder, error: (error as Error).message });
    }
  }

  #folderOf(session: string): string {
    return path.join(this.folder, nameOf(session));
  }
}

/** The repository that a folder is in; undefined when there is none, or no Git. */
export async function repositoryAt(folder: string): Promise<Repository | undefined> {
  try {
    const root = (await git(folder, ['rev-parse', '--show-toplevel'])).trimEnd();
    const branch = await git(folder, ['symbolic-ref', '--quiet', '--short', 'HEAD']).catch(() => '');
    return root === '' ? undefined : { root, branch: branch.trim() || undefined };
  } catch {
    return undefined;
  }
}

/** Local branches, the latest first. */
export async function branchesOf({ root }: Repository): Promise<string[]> {
  const list = ['for-each-ref', '--sort=-committerdate', '--format=%(refname:short)', 'refs/heads'];
  const names = (await git(root, list)).split('\n');
  return names.filter((name) => name !== '');
}

/** Sessions are named by their clients: a hash makes a name that is fit for folders and branches. */
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
