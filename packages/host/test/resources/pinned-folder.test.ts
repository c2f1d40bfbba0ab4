import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { realPathOf } from '../../src/workspace/files/client-roots.js';
import { MovedError } from '../../src/workspace/files/file-errors.js';
import {
  APPENDING,
  isTemporary,
  openPlain,
  type PinnedFolder,
  pinFolder,
  plainStats,
  READING,
  readBytes,
  takeName,
  temporaryName,
} from '../../src/workspace/files/pinned-folder.js';
import { tempFolder } from '../support/temp-folder.js';

const PLATFORM = process.platform;
const pretend = (platform: string) => Object.defineProperty(process, 'platform', { value: platform });

afterEach(() => {
  pretend(PLATFORM);
});

async function folders() {
  const above = await realPathOf(await tempFolder({ 'a/file': 'text', 'b/file': 'other' }));
  await symlink(path.join(above, 'a'), path.join(above, 'link'));
  return { above, at: (name: string) => path.join(above, name) };
}

describe.each(['linux', 'darwin'])('a folder that is held, on %s', (platform) => {
  it.skipIf(platform === 'linux' && PLATFORM !== 'linux')('leads to what is in it', async () => {
    const { at } = await folders();
    pretend(platform);
    const folder = await pinFolder(at('a'));
    expect(folder.real).toBe(at('a'));
    expect(await readFile(folder.at('file'), 'utf8')).toBe('text');
    expect(await readdir(folder.self)).toEqual(['file']);
    await folder.check();
    await folder.close();
  });

  it.skipIf(platform === 'linux' && PLATFORM !== 'linux')('is no link, no file, and there', async () => {
    const { at } = await folders();
    pretend(platform);
    await mkdir(at('a/inner'));
    for (const name of ['link', 'link/inner', 'nothing', 'a/file/x'])
      await expect(pinFolder(at(name))).rejects.toThrow(MovedError);
    await expect(pinFolder(`${at('a')}\0`)).rejects.not.toThrow(MovedError);
  });
});

describe('a folder whose path changes meanwhile', () => {
  it.runIf(PLATFORM === 'linux')('is still the same folder on Linux', async () => {
    const { at } = await folders();
    const folder = await pinFolder(at('a'));
    await rename(at('a'), at('c'));
    await rename(at('b'), at('a'));
    await folder.check();
    expect(await readFile(folder.at('file'), 'utf8')).toBe('text');
    await folder.close();
  });

  it.skipIf(PLATFORM !== 'linux')('is a folder, and nothing that has taken its place', async () => {
    const { at } = await folders();
    for (const place of ['a/file', 'link', 'none']) await expect(pinFolder(at(place))).rejects.toThrow(MovedError);
  });

  it('is noticed elsewhere', async () => {
    const { at } = await folders();
    pretend('darwin');
    const folder = await pinFolder(at('a'));
    await rename(at('a'), at('c'));
    await expect(folder.check()).rejects.toThrow(MovedError);
    await rename(at('b'), at('a'));
    await expect(folder.check()).rejects.toThrow(MovedError);
    await rm(at('a'), { recursive: true });
    await symlink('a', at('a'));
    await expect(folder.check()).rejects.toThrow(MovedError);
    await mkdir(at('d/e'), { recursive: true });
    const inner = await pinFolder(at('d/e'));
    await rm(at('d'), { recursive: true });
    await writeFile(at('d'), '');
    await expect(inner.check()).rejects.toThrow(MovedError);
  });
});

describe('the name of something in a folder', () => {
  async function setUp() {
    const { at } = await folders();
    await mkdir(at('a/inner'));
    const folder = await pinFolder(at('a'));
    return { at, folder };
  }
  const take = (folder: PinnedFolder, from: string, name: string, mustBeNew: boolean, isFolder = false) =>
    takeName({ from, to: { folder, name }, isFolder, mustBeNew });

  it('is taken from another file, or not, as it was asked for', async () => {
    const { at, folder } = await setUp();
    await expect(take(folder, at('b/file'), 'file', true)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readFile(at('a/file'), 'utf8')).toBe('text');
    await take(folder, at('b/file'), 'file', false);
    expect(await readFile(at('a/file'), 'utf8')).toBe('other');
    await take(folder, at('a/file'), 'new', true);
    expect(await readFile(at('a/new'), 'utf8')).toBe('other');
    await folder.close();
  });

  it('of a folder is taken in the same way', async () => {
    const { at, folder } = await setUp();
    await expect(take(folder, at('b'), 'inner', true, true)).rejects.toMatchObject({ code: 'EEXIST' });
    await take(folder, at('b'), 'moved', true, true);
    expect(await readFile(at('a/moved/file'), 'utf8')).toBe('other');
    await folder.close();
  });

  it('is free again when nothing came of it', async () => {
    const { at, folder } = await setUp();
    for (const isFolder of [false, true]) {
      await expect(take(folder, at('nothing'), 'x', true, isFolder)).rejects.toMatchObject({ code: 'ENOENT' });
      expect(existsSync(at('a/x'))).toBe(false);
    }
    await expect(take(folder, at('nothing'), 'file', false)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(existsSync(at('a/file'))).toBe(true);
    await folder.close();
  });

  it('that is temporary is known as such, and no other is', () => {
    const name = temporaryName();
    expect(isTemporary(name)).toBe(true);
    expect([`x${name}`, `${name}x`, '.atrium-1.tmp', name.replace('.tmp', 'xtmp')].some(isTemporary)).toBe(false);
  });
});

describe('a plain file', () => {
  it('is not found behind a link that has taken its name', async () => {
    const { at } = await folders();
    await symlink(at('b/file'), at('a/link'));
    const folder = await pinFolder(at('a'));
    for (const flags of [READING, APPENDING])
      await expect(openPlain(folder, 'link', flags)).rejects.toMatchObject({ code: 'ELOOP' });
    expect(await readFile(at('b/file'), 'utf8')).toBe('other');
    await folder.close();
  });

  it('is neither a folder nor a pipe', async () => {
    const { at } = await folders();
    const uri = 'file:/x';
    await writeFile(at('c'), '');
    const stats = await stat(at('c'), { bigint: true });
    expect(plainStats({ uri, stats })).toBe(stats);
    expect(plainStats({ uri, stats: undefined })).toBeUndefined();
    const folder = await stat(at('a'), { bigint: true });
    expect(() => plainStats({ uri, stats: folder })).toThrow('is a folder');
    const device = await stat('/dev/null', { bigint: true });
    expect(() => plainStats({ uri, stats: device })).toThrow('neither');
    await rm(at('c'));
  });
});

describe('bytes of a file', () => {
  it('are fewer than asked for when the file has become shorter', async () => {
    const { at } = await folders();
    const folder = await pinFolder(at('a'));
    const file = await openPlain(folder, 'file', READING);
    expect((await readBytes(file, 0, 100)).toString()).toBe('text');
    expect((await readBytes(file, 1, 3)).toString()).toBe('ex');
    expect(await readBytes(file, 50, 100)).toHaveLength(0);
    await file.handle.close();
    await folder.close();
  });
});
