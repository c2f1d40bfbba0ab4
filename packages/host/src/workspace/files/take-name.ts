/** Gives something its final name. Where nothing may be overwritten, the name is taken first, which only one can do. */
import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import type { PinnedFolder } from './pinned-folder.js';

export interface Naming {
  readonly from: string;
  readonly to: { readonly folder: PinnedFolder; readonly name: string };
  readonly isFolder: boolean;
  /** Fails with `EEXIST` when the name is taken. */
  readonly mustBeNew: boolean;
}

export async function takeName({ from, to: { folder, name }, isFolder, mustBeNew }: Naming): Promise<void> {
  const target = folder.at(name);
  await folder.check();
  if (mustBeNew) await (isFolder ? mkdir(target) : (await open(target, 'wx')).close());
  try {
    await rename(from, target);
  } catch (error) {
    if (mustBeNew) await (isFolder ? rmdir(target) : rm(target, { force: true })).catch(() => {});
    throw error;
  }
}
