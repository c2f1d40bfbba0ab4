import { execFileSync } from 'node:child_process';
import { lstat, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT_CHANNEL } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { realPathOf } from '../../src/workspace/files/client-roots.js';
import { pinFolder } from '../../src/workspace/files/pinned-folder.js';
import { resolveResource } from '../../src/workspace/files/read.js';
import { openResourceFixture } from '../support/resource-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('resourceResolve', () => {
  it('[AHP-080] says what something is, and repeats the address when no link was on the way', async () => {
    const fixture = await openResourceFixture({ files: { 'a b.json': '{}', 'd/x': '' } });
    const uri = fixture.file('a b.json');
    const file = await fixture.result('resourceResolve', { uri });
    expect(file).toEqual({
      uri,
      type: 'file',
      size: 2,
      mtime: expect.stringMatching(ISO),
      ctime: expect.stringMatching(ISO),
      contentType: 'application/json',
      etag: expect.any(String),
    });
    const odd = fixture.file('d').replace('file:///', 'FILE:///');
    const folder = await fixture.result<Record<string, unknown>>('resourceResolve', { uri: odd });
    expect(folder).toMatchObject({ uri: odd, type: 'directory' });
    expect(folder).not.toHaveProperty('size');
  });

  it('[AHP-080] follows links to where something really is', async () => {
    const fixture = await openResourceFixture({ files: { 'd/x.txt': 'X' } });
    await symlink('d', fixture.path('near'));
    await symlink('near/x.txt', fixture.path('file'));
    for (const uri of [fixture.file('near/x.txt'), fixture.file('file')]) {
      expect(await fixture.result('resourceResolve', { uri })).toMatchObject({
        uri: fixture.file('d/x.txt'),
        type: 'file',
        size: 1,
      });
    }
    expect(await fixture.result('resourceResolve', { uri: fixture.file('near') })).toMatchObject({
      uri: fixture.file('d'),
      type: 'directory',
    });
  });

  it('[AHP-080] [AHP-099] fails for what is missing, a dead link and a loop', async () => {
    const fixture = await openResourceFixture();
    await symlink('nothing', fixture.path('dead'));
    await symlink('two', fixture.path('one'));
    await symlink('one', fixture.path('two'));
    for (const name of ['none', 'dead', 'one', 'one/x']) {
      expect(await fixture.code('resourceResolve', { uri: fixture.file(name) }), name).toBe(-32008);
    }
    expect(await fixture.code('resourceResolve', { uri: fixture.file(fixture.outside) })).toBe(-32009);
  });

  it('[AHP-081] follows nothing at the end when it is told so', async () => {
    const fixture = await openResourceFixture({ files: { 'd/x': 'X' } });
    await symlink('nothing', fixture.path('dead'));
    await symlink('d', fixture.path('near'));
    await symlink(fixture.outside, fixture.path('out'));
    for (const [name, type] of [
      ['dead', 'symlink'],
      ['near', 'symlink'],
      ['out', 'symlink'],
      ['d/x', 'file'],
      ['d', 'directory'],
      ['near/x', 'file'],
    ] as const) {
      const uri = fixture.file(name);
      expect(await fixture.result('resourceResolve', { uri, followSymlinks: false }), name).toMatchObject({
        uri,
        type,
      });
    }
    expect(await fixture.code('resourceResolve', { uri: fixture.file('none'), followSymlinks: false })).toBe(-32008);
  });

  it('[AHP-080] the address it gives can be used', async () => {
    const fixture = await openResourceFixture({ files: { 'work/x': 'X' } });
    const phone = await fixture.join('phone');
    await symlink('work', fixture.path('alias'));
    await phone.session(undefined, { workingDirectory: fixture.file('alias') });
    await fixture.result('disposeSession', { channel: fixture.uri });
    const { uri } = await fixture.result<{ uri: string }>('resourceResolve', { uri: fixture.file('alias/x') });
    expect(uri).toBe(pathToFileURL(fixture.path('work/x')).href);
    expect(await fixture.result('resourceRead', { uri })).toMatchObject({ data: 'X' });
    expect(await fixture.code('resourceRead', { uri: fixture.file('other') })).toBe(-32009);
  });

  it('gives a new version its own token, and the same one the same', async () => {
    const fixture = await openResourceFixture({ files: { a: 'one' } });
    const token = async () =>
      (await fixture.result<{ etag: string }>('resourceResolve', { uri: fixture.file('a') })).etag;
    const first = await token();
    expect(await token()).toBe(first);
    await writeFile(fixture.path('a'), 'two');
    expect(await token()).not.toBe(first);
    await writeFile(fixture.path('b'), 'one');
    await rename(fixture.path('b'), fixture.path('a'));
    expect(await token()).toBe(first);
  });

  it('[AHP-080] says that a file is gone which goes while its version is made out', async () => {
    const folder = await realPathOf(await tempFolder({ 'a.txt': 'one' }));
    const held = await pinFolder(folder);
    onTestFinished(() => held.close());
    const real = path.join(folder, 'a.txt');
    const stats = await lstat(real, { bigint: true });
    const entry = { uri: 'file:///a.txt', real, asked: real, name: 'a.txt', held, stats, access: 'read' };
    const files = { at: (_place: unknown, act: (found: object) => unknown) => act(entry) };
    const resolve = () => resolveResource(files as never, 'c', { channel: ROOT_CHANNEL, uri: entry.uri });
    expect(await resolve()).toMatchObject({ type: 'file', etag: expect.any(String) });
    await rm(real);
    await expect(resolve()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('does not answer for what is neither file nor folder, and does not wait for it', async () => {
    const fixture = await openResourceFixture();
    execFileSync('mkfifo', [fixture.path('pipe')]);
    for (const method of ['resourceResolve', 'resourceRead', 'createResourceWatch']) {
      expect(await fixture.code(method, { uri: fixture.file('pipe') }), method).toBe(-32009);
    }
    const written = { uri: fixture.file('pipe'), data: 'x', encoding: 'utf-8' };
    expect(await fixture.code('resourceWrite', written)).toBe(-32009);
  });
});
