import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FolderOptions, makeFolder, makeFolderSync } from '../../src/util/folders.js';

const ways: [string, (folder: string, options?: FolderOptions) => Promise<void>][] = [
  ['makeFolder', makeFolder],
  ['makeFolderSync', async (folder, options) => makeFolderSync(folder, options)],
];

async function temporary(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'folders-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe.each(ways)('%s', (_name, make) => {
  it('makes all that are missing, for whom it is told, and minds nothing that is there', async () => {
    const folder = path.join(await temporary(), 'a', 'b', 'c');
    await make(folder, { mode: 0o700 });
    await make(folder, { mode: 0o755 });
    for (const each of [folder, path.dirname(folder)]) expect((await stat(each)).mode & 0o777).toBe(0o700);
  });

  it('lets many make the same at once', async () => {
    const folder = path.join(await temporary(), 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 20 }, () => make(folder)));
    expect((await stat(folder)).isDirectory()).toBe(true);
  });

  it('goes through links, and fails where a file is in the way', async () => {
    const folder = await temporary();
    await symlink(folder, path.join(folder, 'link'));
    await make(path.join(folder, 'link', 'a'));
    expect((await stat(path.join(folder, 'a'))).isDirectory()).toBe(true);
    await writeFile(path.join(folder, 'file'), '');
    await expect(make(path.join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(make(path.join(folder, 'file', 'a'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it.skipIf(!existsSync('/proc'))('fails, and does not try for ever, where nobody may make one', async () => {
    await expect(make('/proc/no-such-folder/a')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
