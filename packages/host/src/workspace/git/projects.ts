/**
 * Which repository each folder belongs to, for lists that group sessions by project. Reads only a few small files and
 * starts no program, because lists ask about many folders at once.
 */
import { lstat, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FolderProject } from '@atrium/protocol/ahp-1';

/** How many folders one answer covers. */
export const PROJECT_FOLDERS_MAX = 500;
/** Git writes one short line into these files. */
const LINE_MAX_CHARACTERS = 4_096;

/** By the URI of the folder. Leaves out folders that are in no repository or no longer exist. */
export async function projectsOf(folders: Iterable<string>): Promise<Record<string, FolderProject>> {
  const looked = [...folders].slice(0, PROJECT_FOLDERS_MAX);
  const found = await Promise.all(looked.map(async (folder) => [folder, await projectAt(folder)] as const));
  return Object.fromEntries(
    found.flatMap(([folder, project]) => (project ? [[pathToFileURL(folder).href, project]] : [])),
  );
}

async function projectAt(folder: string): Promise<FolderProject | undefined> {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const mark = path.join(at, '.git');
    const stats = await lstat(mark).catch(() => undefined);
    if (stats?.isDirectory()) return project(at);
    if (stats?.isFile()) return worktreeAt(at, mark);
    if (path.dirname(at) === at) return undefined;
  }
}

function project(root: string, branch?: string): FolderProject {
  return { root: pathToFileURL(root).href, name: path.basename(root), ...(branch !== undefined && { branch }) };
}

/**
 * A worktree has a file that names a folder within the repository. A submodule has one, too, but is its own project.
 */
async function worktreeAt(folder: string, mark: string): Promise<FolderProject> {
  const [, named] = /^gitdir: (.+)$/m.exec(await line(mark)) ?? [];
  const gitFolder = named === undefined ? undefined : path.resolve(folder, named.trim());
  const worktrees = gitFolder === undefined ? '' : path.dirname(gitFolder);
  const main = path.dirname(worktrees);
  if (gitFolder === undefined || path.basename(worktrees) !== 'worktrees' || path.basename(main) !== '.git')
    return project(folder);
  const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(await line(path.join(gitFolder, 'HEAD'))) ?? [];
  return project(path.dirname(main), branch?.trim());
}

async function line(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).slice(0, LINE_MAX_CHARACTERS);
}
