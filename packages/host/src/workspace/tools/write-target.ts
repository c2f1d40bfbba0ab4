/** Where tools may write: inside the session's folder, at paths that may not exist yet, and never into `.git`. */
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../core/contracts/tool.js';
import { isInGit } from '../../core/util/folded-name.js';
import { checkAllowedPath } from '../../core/util/forbidden-paths.js';
import { type InsidePath, insidePath, wantedPath } from '../../core/util/paths.js';

/** Resolves a file to be written. Links on the way are followed, as long as they stay inside. */
export async function resolveTarget(cwd: string | undefined, asked: string): Promise<InsidePath> {
  const { root, wanted } = await wantedPath(cwd, asked);
  const target = insidePath(root, await realTarget(wanted, asked), asked);
  await checkAllowedPath(target.real, asked);
  if (isInGit(target.shown.split('/'))) {
    // What Git finds there it may run: a hook, a file system monitor.
    throw new ToolFailure('PROTECTED', `${target.shown} belongs to Git. Change it with git commands in the shell.`);
  }
  return target;
}

/** The real path of what exists, and what is to be made below it. */
async function realTarget(wanted: string, asked: string): Promise<string> {
  const missing: string[] = [];
  for (let current = wanted; ; current = path.dirname(current)) {
    const real = await realpath(current).catch((error) => notThere(error, asked));
    if (real !== undefined) return path.join(real, ...missing);
    if (await isLink(current)) throw new ToolFailure('DEAD_LINK', `"${asked}" is a link, or behind one, to nothing.`);
    if (current === path.dirname(current)) return wanted;
    missing.unshift(path.basename(current));
  }
}

function notThere(error: unknown, asked: string): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return undefined;
  if (code === 'ENOTDIR') throw new ToolFailure('NOT_A_FOLDER', `Part of "${asked}" is a file, not a folder.`);
  if (code === 'ELOOP') throw new ToolFailure('DEAD_LINK', `"${asked}" is a link that leads back to itself.`);
  throw error;
}

async function isLink(file: string): Promise<boolean> {
  return lstat(file).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
}
