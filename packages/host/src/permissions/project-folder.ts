/**
 * The folder whose `atrium.json` holds the rules of a project. Worktrees of a repository are one project: a rule that a
 * person adds in one of them is written to the main folder, where it counts for all and changes no branch.
 */
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** What the file `.git` of a worktree holds: the folder in which the repository keeps what it knows of the worktree. */
const GIT_LINK = /^gitdir: (.+)$/m;
/** Such a file is one line. */
const GIT_LINK_MAX_BYTES = 4_096;
/** In characters of a path, no folder is deeper. */
const DEPTH_MAX = 256;

/** The same place in the main folder of the repository; the folder itself if it is in no worktree. */
export function projectFolderOf(folder: string): string {
  const root = worktreeRootOf(folder);
  const main = root === undefined ? undefined : mainFolderOf(root);
  return root === undefined || main === undefined ? folder : path.join(main, path.relative(root, folder));
}

/** The nearest folder with a `.git`, if that is a file. */
function worktreeRootOf(folder: string): string | undefined {
  for (let at = folder, depth = 0; depth < DEPTH_MAX; depth++) {
    // A link to the file of a worktree makes no worktree.
    const found = lstatSync(path.join(at, '.git'), { throwIfNoEntry: false });
    if (found) return found.isFile() && found.size <= GIT_LINK_MAX_BYTES ? at : undefined;
    const above = path.dirname(at);
    if (above === at) return undefined;
    at = above;
  }
  return undefined;
}

/**
 * The repository has to name the worktree, too. The file in the folder alone proves nothing: whoever made the folder
 * could have written it, to be taken for a project that a person trusts.
 */
function mainFolderOf(root: string): string | undefined {
  try {
    const link = path.join(root, '.git');
    const [, named] = GIT_LINK.exec(readFileSync(link, 'utf8')) ?? [];
    if (named === undefined) return undefined;
    const known = path.resolve(root, named.trim());
    const git = path.dirname(path.dirname(known));
    if (path.basename(path.dirname(known)) !== 'worktrees' || path.basename(git) !== '.git') return undefined;
    const back = path.resolve(known, readFileSync(path.join(known, 'gitdir'), 'utf8').trim());
    const isMutual = path.basename(back) === '.git' && realpathSync(path.dirname(back)) === realpathSync(root);
    return isMutual ? path.dirname(git) : undefined;
  } catch {
    return undefined;
  }
}
