/** Whether an optional package is installed, without loading it: the big ones take a second. */
import { access } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

export async function isInstalled(name: string): Promise<boolean> {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const isThere = await Promise.all(folders.map((folder) => exists(path.join(folder, name, 'package.json'))));
  return isThere.includes(true);
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
