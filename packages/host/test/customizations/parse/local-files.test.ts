import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { localFiles } from '../../../src/plugins/formats/plugin-files.js';
import { fill, folderWith } from './plugin-folder.js';

const ESCAPES = { kind: 'path-escapes' };

describe('files of a folder', () => {
  it('are listed in a stable order, with links as what they lead to', async () => {
    const root = await folderWith({ 'b.md': 'b', 'a/x': 'x', 'C.md': 'c' });
    await symlink('b.md', path.join(root, 'link.md'));
    await symlink('nowhere', path.join(root, 'dangling'));
    expect(await localFiles(root).list('')).toEqual([
      { name: 'C.md', kind: 'file' },
      { name: 'a', kind: 'folder' },
      { name: 'b.md', kind: 'file' },
      { name: 'link.md', kind: 'file' },
    ]);
  });

  it('are undefined when they are not there, or something else', async () => {
    const files = localFiles(await folderWith({ 'a.md': 'a' }));
    expect(await files.read('b.md', 10)).toBeUndefined();
    expect(await files.read('', 10)).toBeUndefined();
    expect(await files.read('a.md/b', 10)).toBeUndefined();
    expect(await files.list('a.md')).toBeUndefined();
    expect(await files.list('b')).toBeUndefined();
  });

  it('[CUS-020] are refused when they are outside, by name or by link, whether they exist or not', async () => {
    const root = await folderWith({ 'in/a.md': 'a' });
    await fill(path.dirname(root), { 'out/secret.md': 'secret', 'demo-too/secret.md': 'secret' });
    await symlink(path.join(root, '..', 'out'), path.join(root, 'link'));
    await symlink(path.join(root, '..', 'out', 'secret.md'), path.join(root, 'in', 'link.md'));
    const files = localFiles(root);
    for (const outside of [
      '../out/secret.md',
      'link/secret.md',
      'link/missing.md',
      'link/no/missing.md',
      'in/link.md',
    ]) {
      await expect(files.read(outside, 100)).rejects.toMatchObject(ESCAPES);
    }
    await expect(files.read('../demo-too/secret.md', 100)).rejects.toMatchObject(ESCAPES);
    await expect(files.list('link')).rejects.toMatchObject(ESCAPES);
    await expect(files.list('..')).rejects.toMatchObject(ESCAPES);
  });

  it('may be below a link to the folder itself', async () => {
    const root = await folderWith({ 'a.md': 'a' });
    const alias = path.join(path.dirname(root), 'alias');
    await symlink(root, alias);
    const files = localFiles(alias);
    expect(await files.read('a.md', 10)).toBe('a');
    expect(files.uri('a.md')).toBe(pathToFileURL(path.join(alias, 'a.md')).href);
  });

  it('[CUS-040] are read up to the limit, and not at all beyond it', async () => {
    const files = localFiles(await folderWith({ 'a.md': 'ä' }));
    expect(await files.read('a.md', 2)).toBe('ä');
    await expect(files.read('a.md', 1)).rejects.toMatchObject({ kind: 'limit-exceeded' });
  });

  it('are not listed when there are far too many', async () => {
    const root = await folderWith(Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`${at}`, ''])));
    await expect(localFiles(root).list('')).rejects.toMatchObject({ kind: 'limit-exceeded' });
  });

  it.skipIf(process.platform === 'win32')('do not keep the host waiting when one is a pipe', async () => {
    const root = await folderWith({});
    execFileSync('mkfifo', [path.join(root, 'pipe.md')]);
    const files = localFiles(root);
    expect(await files.list('')).toEqual([]);
    expect(await files.read('pipe.md', 10)).toBeUndefined();
  });
});
