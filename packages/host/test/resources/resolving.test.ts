import { execFileSync } from 'node:child_process';
import { rename, symlink, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openResourceRoom } from '../support/resource-room.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('resourceResolve', () => {
  it('[AHP-080] says what something is, and repeats the address when no link was on the way', async () => {
    const room = await openResourceRoom({ files: { 'a b.json': '{}', 'd/x': '' } });
    const uri = room.file('a b.json');
    const file = await room.result('resourceResolve', { uri });
    expect(file).toEqual({
      uri,
      type: 'file',
      size: 2,
      mtime: expect.stringMatching(ISO),
      ctime: expect.stringMatching(ISO),
      contentType: 'application/json',
      etag: expect.any(String),
    });
    const odd = room.file('d').replace('file:///', 'FILE:///');
    const folder = await room.result<Record<string, unknown>>('resourceResolve', { uri: odd });
    expect(folder).toMatchObject({ uri: odd, type: 'directory' });
    expect(folder).not.toHaveProperty('size');
  });

  it('[AHP-080] follows links to where something really is', async () => {
    const room = await openResourceRoom({ files: { 'd/x.txt': 'X' } });
    await symlink('d', room.path('near'));
    await symlink('near/x.txt', room.path('file'));
    for (const uri of [room.file('near/x.txt'), room.file('file')]) {
      expect(await room.result('resourceResolve', { uri })).toMatchObject({
        uri: room.file('d/x.txt'),
        type: 'file',
        size: 1,
      });
    }
    expect(await room.result('resourceResolve', { uri: room.file('near') })).toMatchObject({
      uri: room.file('d'),
      type: 'directory',
    });
  });

  it('[AHP-080] [AHP-099] fails for what is missing, a dead link and a loop', async () => {
    const room = await openResourceRoom();
    await symlink('nothing', room.path('dead'));
    await symlink('two', room.path('one'));
    await symlink('one', room.path('two'));
    for (const name of ['none', 'dead', 'one', 'one/x']) {
      expect(await room.code('resourceResolve', { uri: room.file(name) }), name).toBe(-32008);
    }
    expect(await room.code('resourceResolve', { uri: room.file(room.outside) })).toBe(-32009);
  });

  it('[AHP-081] follows nothing at the end when it is told so', async () => {
    const room = await openResourceRoom({ files: { 'd/x': 'X' } });
    await symlink('nothing', room.path('dead'));
    await symlink('d', room.path('near'));
    await symlink(room.outside, room.path('out'));
    for (const [name, type] of [
      ['dead', 'symlink'],
      ['near', 'symlink'],
      ['out', 'symlink'],
      ['d/x', 'file'],
      ['d', 'directory'],
      ['near/x', 'file'],
    ] as const) {
      const uri = room.file(name);
      expect(await room.result('resourceResolve', { uri, followSymlinks: false }), name).toMatchObject({ uri, type });
    }
    expect(await room.code('resourceResolve', { uri: room.file('none'), followSymlinks: false })).toBe(-32008);
  });

  it('[AHP-080] the address it gives can be used', async () => {
    const room = await openResourceRoom({ files: { 'work/x': 'X' } });
    const phone = await room.client('phone');
    await symlink('work', room.path('alias'));
    await phone.session(undefined, { workingDirectory: room.file('alias') });
    await room.result('disposeSession', { channel: room.uri });
    const { uri } = await room.result<{ uri: string }>('resourceResolve', { uri: room.file('alias/x') });
    expect(uri).toBe(pathToFileURL(room.path('work/x')).href);
    expect(await room.result('resourceRead', { uri })).toMatchObject({ data: 'X' });
    expect(await room.code('resourceRead', { uri: room.file('other') })).toBe(-32009);
  });

  it('gives a new version its own token, and the same one the same', async () => {
    const room = await openResourceRoom({ files: { a: 'one' } });
    const token = async () => (await room.result<{ etag: string }>('resourceResolve', { uri: room.file('a') })).etag;
    const first = await token();
    expect(await token()).toBe(first);
    await writeFile(room.path('a'), 'two');
    expect(await token()).not.toBe(first);
    await writeFile(room.path('b'), 'one');
    await rename(room.path('b'), room.path('a'));
    expect(await token()).toBe(first);
  });

  it('does not answer for what is neither file nor folder, and does not wait for it', async () => {
    const room = await openResourceRoom();
    execFileSync('mkfifo', [room.path('pipe')]);
    for (const method of ['resourceResolve', 'resourceRead', 'createResourceWatch']) {
      expect(await room.code(method, { uri: room.file('pipe') }), method).toBe(-32009);
    }
    const written = { uri: room.file('pipe'), data: 'x', encoding: 'utf-8' };
    expect(await room.code('resourceWrite', written)).toBe(-32009);
  });
});
