import { execFileSync } from 'node:child_process';
import type { Dir } from 'node:fs';
import { mkdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { REQUEST_TIMEOUT_MS, REQUESTS_MAX } from '../../src/workspace/files/access-requests.js';
import { TREE_MAX_DEPTH } from '../../src/workspace/files/copy-move-delete.js';
import { LINKS_MAX, PATH_MAX_NAMES } from '../../src/workspace/files/file-access.js';
import { pinFolder } from '../../src/workspace/files/pinned-folder.js';
import { LIST_MAX_ENTRIES, READ_MAX_BYTES, readUpTo } from '../../src/workspace/files/read.js';
import { WATCH_BATCH_MAX_CHANGES, WATCH_BATCH_MS, WATCH_NAMES_MAX } from '../../src/workspace/files/tree-watch.js';
import { makeFolders, REWRITE_MAX_BYTES } from '../../src/workspace/files/write.js';
import { openResourceFixture, type ResourceFixture } from '../support/resource-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

interface Entry {
  readonly name: string;
  readonly type: string;
}

async function list(fixture: ResourceFixture, name = '.'): Promise<Record<string, string>> {
  const { entries } = await fixture.result<{ entries: Entry[] }>('resourceList', { uri: fixture.file(name) });
  return Object.fromEntries(entries.map((entry) => [entry.name, entry.type]));
}

describe('the entries of a folder', () => {
  it('[REL-098] are read up to so many, and not one more', async () => {
    const folder = (count: number) => {
      let left = count;
      const read = (next: (error: Error | null, entry: object | null) => void) =>
        next(null, left-- > 0 ? { name: `${left}` } : null);
      return { read } as unknown as Dir;
    };
    expect((await readUpTo(3, folder(3)))?.length).toBe(3);
    expect(await readUpTo(3, folder(4))).toBeUndefined();
    const broken = { read: (next: (error: Error) => void) => next(new Error('broken')) };
    await expect(readUpTo(3, broken as unknown as Dir)).rejects.toThrow('broken');
  });
});

describe('the limits of files', () => {
  it('[REL-098] are these', () => {
    const MINUTE_MS = 60_000;
    const limits = { REQUEST_TIMEOUT_MS, REQUESTS_MAX, READ_MAX_BYTES, REWRITE_MAX_BYTES, LIST_MAX_ENTRIES, LINKS_MAX };
    expect(limits).toEqual({
      ...{ REQUEST_TIMEOUT_MS: 5 * MINUTE_MS, REQUESTS_MAX: 4, READ_MAX_BYTES: 4_194_304 },
      ...{ REWRITE_MAX_BYTES: 268_435_456, LIST_MAX_ENTRIES: 50_000, LINKS_MAX: 40 },
    });
    const trees = { TREE_MAX_DEPTH, PATH_MAX_NAMES, WATCH_NAMES_MAX, WATCH_BATCH_MS, WATCH_BATCH_MAX_CHANGES };
    expect(trees).toEqual({
      ...{ TREE_MAX_DEPTH: 128, PATH_MAX_NAMES: 256, WATCH_NAMES_MAX: 200_000 },
      ...{ WATCH_BATCH_MS: 50, WATCH_BATCH_MAX_CHANGES: 500 },
    });
  });
});

describe('resourceList', () => {
  it('[AHP-076] names the direct children, and a link as what it leads to', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': '', 'd/inner/x': '', '.hidden': '' } });
    await symlink('d', fixture.path('to-folder'));
    await symlink('a.txt', fixture.path('to-file'));
    expect(await list(fixture)).toEqual({
      'a.txt': 'file',
      '.hidden': 'file',
      d: 'directory',
      'to-folder': 'directory',
      'to-file': 'file',
    });
    expect(await list(fixture, 'to-folder')).toEqual({ inner: 'directory' });
  });

  it('[AHP-076] fails for what is missing, not a folder, or not accessible', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': '' } });
    expect(await fixture.code('resourceList', { uri: fixture.file('none') })).toBe(-32008);
    expect(await fixture.code('resourceList', { uri: fixture.file('a.txt') })).toBe(-32602);
    expect(await fixture.code('resourceList', { uri: fixture.file(fixture.outside) })).toBe(-32009);
  });

  it('does not tell what links lead to outside, and leaves out what is neither file nor folder', async () => {
    const fixture = await openResourceFixture({ outside: { 'd/x': '' } });
    await symlink(`${fixture.outside}/d`, fixture.path('to-folder'));
    await symlink(`${fixture.outside}/none`, fixture.path('to-nothing'));
    execFileSync('mkfifo', [fixture.path('pipe')]);
    expect(await list(fixture)).toEqual({ 'to-folder': 'file', 'to-nothing': 'file' });
  });

  it('lists a folder of many', async () => {
    const fixture = await openResourceFixture();
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => writeFile(fixture.path(`f${index}`), '')));
    expect(Object.keys(await list(fixture))).toHaveLength(1_000);
  });
});

describe('resourceMkdir', () => {
  it('[AHP-082] makes a folder and all above it; one that is there is good', async () => {
    const fixture = await openResourceFixture({ files: { file: 'x' } });
    const uri = fixture.file('a/b/c');
    expect(await fixture.code('resourceMkdir', { uri })).toBe('ok');
    expect((await stat(fixture.path('a/b/c'))).isDirectory()).toBe(true);
    await writeFile(fixture.path('a/b/c/kept'), 'x');
    expect(await fixture.code('resourceMkdir', { uri })).toBe('ok');
    expect(await readFile(fixture.path('a/b/c/kept'), 'utf8')).toBe('x');
    expect(await fixture.code('resourceMkdir', { uri: fixture.file('.') })).toBe('ok');
  });

  it('[AHP-082] [AHP-101] fails where something else is', async () => {
    const fixture = await openResourceFixture({ files: { file: 'x' } });
    await symlink('nothing', fixture.path('dead'));
    expect(await fixture.code('resourceMkdir', { uri: fixture.file('file') })).toBe(-32010);
    expect(await fixture.code('resourceMkdir', { uri: fixture.file('dead') })).toBe(-32010);
    expect(await fixture.code('resourceMkdir', { uri: fixture.file('file/inner') })).toBe(-32008);
    expect(await fixture.code('resourceMkdir', { uri: fixture.file(`${fixture.outside}/x`) })).toBe(-32009);
  });

  it('[AHP-082] is done also when another was faster, and fails where it may not make one', async () => {
    const folder = await realpath(await tempFolder({ 'a/file': '' }));
    const above = await pinFolder(folder);
    for (const names of [['a', 'b'], ['a', 'b', 'c'], []]) {
      const made = await makeFolders(above, names);
      expect(made.real).toBe(path.join(folder, ...names));
      if (made !== above) await made.close();
    }
    await expect(makeFolders(above, ['a', 'file', 'c'])).rejects.toThrow();
    await expect(makeFolders(above, ['a', 'n'.repeat(300)])).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    // It is still open.
    await (await makeFolders(above, ['d'])).close();
    await above.close();
  });

  it('makes folders below a link that stays inside', async () => {
    const fixture = await openResourceFixture();
    await mkdir(fixture.path('d'));
    await symlink('d', fixture.path('near'));
    expect(await fixture.code('resourceMkdir', { uri: fixture.file('near/x/y') })).toBe('ok');
    expect((await stat(fixture.path('d/x/y'))).isDirectory()).toBe(true);
  });
});
