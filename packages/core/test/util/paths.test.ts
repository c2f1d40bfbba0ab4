import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  checkAllowedPath,
  fileInside,
  foldedName,
  isForbidden,
  isInGit,
  isInside,
  realPathSync,
  resolveInside,
  sessionFolder,
  shownIn,
  shownPath,
} from '../../src/util/paths.js';

let above: string;
let folder: string;
const at = (...names: string[]) => path.join(folder, ...names);
const failure = (code: string) => expect.objectContaining({ code });

beforeEach(async () => {
  above = await realpath(await mkdtemp(path.join(tmpdir(), 'atrium-paths-')));
  folder = path.join(above, 'project');
  await mkdir(at('sub'), { recursive: true });
  await writeFile(at('sub', 'file'), 'text');
  await writeFile(path.join(above, 'secret'), 'secret');
});
afterEach(() => rm(above, { recursive: true, force: true }));

describe('the real path of a folder', () => {
  it('[DEV-021] leads through links, also where its end does not exist', async () => {
    await symlink(folder, path.join(above, 'link'));
    await symlink(above, at('out'));
    await symlink(at('nowhere'), at('broken'));
    const real = {
      'link/sub/file': at('sub', 'file'),
      'link/gone': at('gone'),
      'link/gone/deep/er': at('gone', 'deep', 'er'),
      'project/out/gone': path.join(above, 'gone'),
      'project/sub/../out/project/gone': at('gone'),
      'project/broken/x': at('broken', 'x'),
    };
    for (const [asked, found] of Object.entries(real)) expect(realPathSync(path.join(above, asked))).toBe(found);
    expect(realPathSync('/no-such-folder/deep')).toBe('/no-such-folder/deep');
    expect(realPathSync('no-such-folder')).toBe(path.resolve('no-such-folder'));
  });
});

describe("the session's folder", () => {
  it('is a real one', async () => {
    await symlink(folder, path.join(above, 'link'));
    expect(await sessionFolder(path.join(above, 'link'))).toBe(folder);
    await expect(sessionFolder(undefined)).rejects.toEqual(failure('NO_FOLDER'));
    await expect(sessionFolder(at('nothing'))).rejects.toEqual(failure('NO_FOLDER'));
  });
});

describe('a path that a tool names', () => {
  it.each(['sub/file', './sub/../sub/file', 'sub//file'])('%s is found inside', async (asked) => {
    expect(await resolveInside(folder, asked)).toEqual({ real: at('sub', 'file'), shown: 'sub/file' });
  });

  it('may be absolute, and go by the name that the session has for its folder', async () => {
    const link = path.join(above, 'link');
    await symlink(folder, link);
    for (const asked of [at('sub/file'), path.join(link, 'sub/file'), 'sub/file'])
      expect((await resolveInside(link, asked)).real).toBe(at('sub', 'file'));
    expect(await resolveInside(link, '.')).toEqual({ real: folder, shown: '.' });
  });

  it.each(['../secret', '/etc/passwd', '..', 'sub/../../secret'])('%s is outside', async (asked) => {
    await expect(resolveInside(folder, asked)).rejects.toEqual(failure('OUTSIDE_FOLDER'));
  });

  it('does not lead out over a link, not even to see what is there', async () => {
    await symlink(path.join(above, 'secret'), at('out'));
    await symlink(above, at('up'));
    for (const asked of ['out', 'up/secret'])
      await expect(resolveInside(folder, asked)).rejects.toEqual(failure('OUTSIDE_FOLDER'));
  });

  it('that is not there, leads in a circle, or is no path says so', async () => {
    await symlink(at('circle'), at('circle'));
    for (const asked of ['nothing', 'sub/file/x', 'circle'])
      await expect(resolveInside(folder, asked)).rejects.toEqual(failure('NOT_FOUND'));
    await expect(resolveInside(folder, 'circle')).rejects.toThrow('leads back to itself');
    await expect(resolveInside(folder, 'nothing')).rejects.toThrow('There is no "nothing"');
    await expect(resolveInside(folder, 'a\0b')).rejects.toEqual(failure('BAD_INPUT'));
    await expect(resolveInside(folder, 'x'.repeat(5_000))).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  });

  it('is a plain file where one is wanted', async () => {
    expect(await fileInside(folder, 'sub/file')).toEqual({ real: at('sub', 'file'), shown: 'sub/file' });
    await expect(fileInside(folder, 'sub')).rejects.toEqual(failure('NOT_A_FILE'));
    await expect(fileInside(folder, 'sub')).rejects.toThrow('is a folder');
  });

  it('is inside by its text', () => {
    const inside = ['/a', '/a/b', '/a/..b', '/a/b/../c'];
    const outside = ['/', '/ab', '/b', '/a/..', '/a/../b'];
    expect([...inside, ...outside].map((file) => isInside('/a', file))).toEqual([
      ...inside.map(() => true),
      ...outside.map(() => false),
    ]);
    expect([shownPath('/a', '/a'), shownPath('/a', '/a/b/c')]).toEqual(['.', 'b/c']);
    expect(shownIn(['/a', '/b'], '/a/c')).toBe('c');
    expect([shownIn(['/a', '/b'], '/b/c'), shownIn(['/a'], '/b/c')]).toEqual(['/b/c', '../b/c']);
    expect(shownIn([], path.resolve('c'))).toBe('c');
  });
});

describe('what tools must leave alone', () => {
  async function dataIn(place: string, ...names: string[]) {
    await mkdir(place, { recursive: true });
    for (const name of names) await writeFile(path.join(place, name), '');
  }

  it.each(['/proc', '/proc/self/environ', '/sys/x', '/dev/zero', '/dev/shmem', '/dev'])(
    '%s, which is of the system',
    async (real) => {
      await expect(checkAllowedPath(real, 'asked')).rejects.toEqual(failure('NO_GO'));
      expect(await isForbidden(real)).toBe(true);
    },
  );

  it.each(['/process', '/device/x', '/dev/shm', '/dev/shm/project/a'])('not %s', async (real) => {
    await expect(checkAllowedPath(real, 'asked')).resolves.toBeUndefined();
    expect(await isForbidden(real)).toBe(false);
  });

  it.each(['atrium.owner', 'atrium.db'])('the data of the host, known by its lock and %s', async (name) => {
    await dataIn(at('data'), 'atrium.lock', name);
    for (const real of [at('data'), at('data', 'token'), at('data', 'deep', 'file')])
      await expect(checkAllowedPath(real, 'asked')).rejects.toEqual(failure('NO_GO'));
    await expect(resolveInside(folder, `data/${name}`)).rejects.toEqual(failure('NO_GO'));
    expect([await isForbidden(at('data')), await isForbidden(at('sub'))]).toEqual([true, false]);
    await expect(checkAllowedPath(at('sub'), 'asked')).resolves.toBeUndefined();
  });

  it('not a project that has only a file of that name', async () => {
    await dataIn(at('a'), 'atrium.lock');
    await dataIn(at('b'), 'atrium.owner', 'atrium.db');
    expect([await isForbidden(at('a')), await isForbidden(at('b'))]).toEqual([false, false]);
  });

  it('not the copies of repositories among the data, but all beside them', async () => {
    await dataIn(at('data'), 'atrium.lock', 'atrium.db');
    await expect(checkAllowedPath(at('data', 'worktrees', 'w', 'file'), 'asked')).resolves.toBeUndefined();
    await expect(checkAllowedPath(at('data', 'worktrees', 'w'), 'asked')).resolves.toBeUndefined();
    await expect(checkAllowedPath(at('data', 'worktrees'), 'asked')).rejects.toEqual(failure('NO_GO'));
    await expect(checkAllowedPath(at('data', 'other', 'w'), 'asked')).rejects.toEqual(failure('NO_GO'));
    // The data of another host within a copy is data all the same.
    await dataIn(at('data', 'worktrees', 'w', 'data'), 'atrium.lock', 'atrium.db');
    const inner = at('data', 'worktrees', 'w', 'data', 'token');
    await expect(checkAllowedPath(inner, 'asked')).rejects.toEqual(failure('NO_GO'));
  });
});

describe('names that a file system takes for one another', () => {
  it.each(['.git', '.GIT', '.git.', '.git ', '.git. .', '.g\u200cit', '.git::$INDEX', '.ｇit', 'GIT~1', '\ufeff.git'])(
    '%j is the folder of Git',
    (name) => {
      expect(isInGit(['a', name, 'hooks'])).toBe(true);
    },
  );

  it.each(['git', '.gitignore', '.git2', 'git~2', 'x.git', '.g.it'])('%j is not', (name) => {
    expect(isInGit([name])).toBe(false);
  });

  it('are one', () => {
    expect(foldedName('A. .b..')).toBe('a. .b');
    expect(foldedName('a:b:c')).toBe('a');
    expect(isInGit([])).toBe(false);
  });
});
