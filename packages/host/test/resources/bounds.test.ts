/** What a file request may cost, whatever it is asked for: no file stays open, and no path keeps the host busy. */
import { readdirSync, readlinkSync } from 'node:fs';
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OUTBOX_MERGE_BYTES } from '@atrium/core/wire/limits.js';
import { describe, expect, it } from 'vitest';
import { LINKS_MAX, PATH_MAX_NAMES } from '../../src/workspace/files/file-access.js';
import { pinFolder } from '../../src/workspace/files/pinned-folder.js';
import { FolderBudget, knownIn, WATCH_NAMES_MAX, WatchedFolders } from '../../src/workspace/files/tree-watch.js';
import { makeFolders } from '../../src/workspace/files/write.js';
import { openResourceFixture } from '../support/resource-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { settle } from '../support/test-host.js';

/** What is open in a folder; only Linux says so. Other tests of this process have files open elsewhere. */
function openIn(folder: string): string[] {
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return [];
    }
  });
  return open.filter((file) => `${file}/`.startsWith(`${folder}/`));
}

describe.skipIf(process.platform !== 'linux')('a request that is refused halfway', () => {
  it('leaves nothing open: a link out of a directory of customizations', async () => {
    const fixture = await openResourceFixture({ files: { '.agents/rules/a.md': 'A', 'other/b.md': 'B' } });
    await symlink('../../other', fixture.path('.agents/rules/out'));
    for (let round = 0; round < 10; round++) {
      expect(await fixture.code('resourceRead', { uri: fixture.file('.agents/rules/out/b.md') })).toBe(-32009);
    }
    expect(openIn(fixture.folder)).toEqual([]);
  });

  it('leaves nothing open: folders that cannot all be made', async () => {
    const folder = await tempFolder();
    const above = await pinFolder(folder);
    await expect(makeFolders(above, ['a', 'b', 'x'.repeat(300)])).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    expect(openIn(folder)).toEqual([folder]);
    await above.close();
    expect(openIn(folder)).toEqual([]);
  });

  it('leaves nothing open: all kinds of requests that fail', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': 'A', 'd/x': 'X', 'closed.txt': 'C' } });
    await chmod(fixture.path('closed.txt'), 0o400);
    await symlink('loop', fixture.path('loop'));
    for (const [method, params] of [
      ['resourceRead', { uri: fixture.file('d') }],
      ['resourceRead', { uri: fixture.file('loop') }],
      ['resourceList', { uri: fixture.file('a.txt') }],
      ['resourceWrite', { uri: fixture.file('d'), data: '', encoding: 'utf-8' }],
      ['resourceWrite', { uri: fixture.file('a.txt'), data: '', encoding: 'utf-8', ifMatch: 'no' }],
      ['resourceWrite', { uri: fixture.file('a.txt'), data: '', encoding: 'utf-8', position: 9 }],
      ['resourceMkdir', { uri: fixture.file('a.txt/b') }],
      ['resourceCopy', { source: fixture.file('a.txt'), destination: fixture.file('d') }],
      ['resourceMove', { source: fixture.file('d'), destination: fixture.file('d/e') }],
      ['resourceDelete', { uri: fixture.file('d') }],
      ['createResourceWatch', { uri: fixture.file('none') }],
    ] as const) {
      expect(await fixture.code(method, params), method).not.toBe('ok');
    }
    expect(openIn(fixture.folder)).toEqual([]);
    expect((await readdir(fixture.folder)).sort()).toEqual(['a.txt', 'closed.txt', 'd', 'loop']);
  });
});

it.skipIf(process.platform !== 'linux')('a request that succeeds leaves nothing open', async () => {
  const fixture = await openResourceFixture({ files: { 'a.txt': 'AAAA', 'd/x': 'X' } });
  const file = (name: string) => fixture.file(name);
  const data = { data: 'b', encoding: 'utf-8' };
  for (const [method, params] of [
    ['resourceRead', { uri: file('a.txt') }],
    ['resourceResolve', { uri: file('a.txt') }],
    ['resourceList', { uri: file('d') }],
    ['resourceWrite', { uri: file('new.txt'), ...data }],
    ['resourceWrite', { uri: file('a.txt'), mode: 'append', ...data }],
    ['resourceWrite', { uri: file('a.txt'), mode: 'insert', position: 2, ...data }],
    ['resourceMkdir', { uri: file('e/f/g') }],
    ['resourceCopy', { source: file('d'), destination: file('e/d') }],
    ['resourceMove', { source: file('a.txt'), destination: file('e/a.txt') }],
    ['resourceDelete', { uri: file('d'), recursive: true }],
  ] as const) {
    expect(await fixture.code(method, params), method).toBe('ok');
    expect(openIn(fixture.folder), method).toEqual([]);
  }
  expect((await readdir(fixture.folder, { recursive: true })).sort()).toEqual(
    ['e', 'e/a.txt', 'e/d', 'e/d/x', 'e/f', 'e/f/g', 'new.txt'].sort(),
  );
});

describe('a path without end', () => {
  it('[REL-042] is refused when it has too many names', async () => {
    const fixture = await openResourceFixture();
    const deep = (names: number) => fixture.file('a/'.repeat(names).slice(0, -1));
    expect(await fixture.code('resourceMkdir', { uri: deep(PATH_MAX_NAMES) })).toBe(-32009);
    expect(await fixture.code('resourceMkdir', { uri: deep(100) })).toBe('ok');
    expect(await fixture.code('resourceResolve', { uri: deep(100) })).toBe('ok');
  });

  it('[REL-042] is given up when links make it longer and longer', async () => {
    const fixture = await openResourceFixture();
    for (let link = 0; link < LINKS_MAX - 1; link++) {
      await symlink(`l${link + 1}/${'x/'.repeat(2_000)}`, fixture.path(`l${link}`));
    }
    await mkdir(fixture.path(`l${LINKS_MAX - 1}`));
    expect(await fixture.code('resourceRead', { uri: fixture.file('l0') })).toBe(-32008);
    expect(await fixture.names()).toHaveLength(LINKS_MAX);
  }, 20_000);
});

describe('what a watch remembers', () => {
  it('is bounded, also when it comes bit by bit', async () => {
    const parts = { budget: new FolderBudget(), recursive: false, isEntered: () => false, touched: () => {} };
    const folders = new WatchedFolders(parts);
    const folder = { real: '/', known: new Map(), watcher: undefined };
    for (let round = 0; round < 3; round++) {
      for (let name = 0; name < WATCH_NAMES_MAX; name++) folders.put(folder, `${name}`, { isFolder: false });
      for (let name = 1; name < WATCH_NAMES_MAX; name++) folders.put(folder, `${name}`, undefined);
    }
    for (let name = 1; name < WATCH_NAMES_MAX; name++) folders.put(folder, `${name}`, { isFolder: false });
    expect(() => folders.put(folder, 'one more', { isFolder: false })).toThrow('exclude some');
  });

  it('is not read from a folder that is too large', async () => {
    const folder = await tempFolder();
    for (let name = 0; name < 20; name++) await writeFile(path.join(folder, `${name}`), '');
    const held = await pinFolder(folder);
    expect(await knownIn(held, 20)).toHaveProperty('size', 20);
    await expect(knownIn(held, 19)).rejects.toThrow('exclude some');
    await held.close();
  });
});

it('[REL-098] a client that does not read has one file in memory: the next is read when it has taken that', async () => {
  const fixture = await openResourceFixture({ files: { 'a.txt': 'a'.repeat(10 ** 6) } });
  const { client } = fixture;
  client.bufferedBytes = OUTBOX_MERGE_BYTES + 1;
  const asked = [1, 2, 3].map(() => fixture.result<{ data: string }>('resourceRead', { uri: fixture.file('a.txt') }));
  await settle();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await writeFile(fixture.path('a.txt'), 'b'.repeat(10 ** 6));
  client.bufferedBytes = 0;
  client.drain();
  const answers = await Promise.all(asked);
  expect(answers.map(({ data }) => data[0])).toEqual(['a', 'b', 'b']);
});
