import { execFileSync } from 'node:child_process';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openResourceRoom, type ResourceRoom } from '../support/resource-room.js';

interface Entry {
  readonly name: string;
  readonly type: string;
}

async function list(room: ResourceRoom, name = '.'): Promise<Record<string, string>> {
  const { entries } = await room.result<{ entries: Entry[] }>('resourceList', { uri: room.file(name) });
  return Object.fromEntries(entries.map((entry) => [entry.name, entry.type]));
}

describe('resourceList', () => {
  it('[AHP-076] names the direct children, and a link as what it leads to', async () => {
    const room = await openResourceRoom({ files: { 'a.txt': '', 'd/inner/x': '', '.hidden': '' } });
    await symlink('d', room.path('to-folder'));
    await symlink('a.txt', room.path('to-file'));
    expect(await list(room)).toEqual({
      'a.txt': 'file',
      '.hidden': 'file',
      d: 'directory',
      'to-folder': 'directory',
      'to-file': 'file',
    });
    expect(await list(room, 'to-folder')).toEqual({ inner: 'directory' });
  });

  it('[AHP-076] fails for what is missing, not a folder, or not accessible', async () => {
    const room = await openResourceRoom({ files: { 'a.txt': '' } });
    expect(await room.code('resourceList', { uri: room.file('none') })).toBe(-32008);
    expect(await room.code('resourceList', { uri: room.file('a.txt') })).toBe(-32602);
    expect(await room.code('resourceList', { uri: room.file(room.outside) })).toBe(-32009);
  });

  it('does not tell what links lead to outside, and leaves out what is neither file nor folder', async () => {
    const room = await openResourceRoom({ outside: { 'd/x': '' } });
    await symlink(`${room.outside}/d`, room.path('to-folder'));
    await symlink(`${room.outside}/none`, room.path('to-nothing'));
    execFileSync('mkfifo', [room.path('pipe')]);
    expect(await list(room)).toEqual({ 'to-folder': 'file', 'to-nothing': 'file' });
  });

  it('lists a folder of many', async () => {
    const room = await openResourceRoom();
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => writeFile(room.path(`f${index}`), '')));
    expect(Object.keys(await list(room))).toHaveLength(1_000);
  });
});

describe('resourceMkdir', () => {
  it('[AHP-082] makes a folder and all above it; one that is there is good', async () => {
    const room = await openResourceRoom({ files: { file: 'x' } });
    const uri = room.file('a/b/c');
    expect(await room.code('resourceMkdir', { uri })).toBe('ok');
    expect((await stat(room.path('a/b/c'))).isDirectory()).toBe(true);
    await writeFile(room.path('a/b/c/kept'), 'x');
    expect(await room.code('resourceMkdir', { uri })).toBe('ok');
    expect(await readFile(room.path('a/b/c/kept'), 'utf8')).toBe('x');
    expect(await room.code('resourceMkdir', { uri: room.file('.') })).toBe('ok');
  });

  it('[AHP-082] [AHP-101] fails where something else is', async () => {
    const room = await openResourceRoom({ files: { file: 'x' } });
    await symlink('nothing', room.path('dead'));
    expect(await room.code('resourceMkdir', { uri: room.file('file') })).toBe(-32010);
    expect(await room.code('resourceMkdir', { uri: room.file('dead') })).toBe(-32010);
    expect(await room.code('resourceMkdir', { uri: room.file('file/inner') })).toBe(-32008);
    expect(await room.code('resourceMkdir', { uri: room.file(`${room.outside}/x`) })).toBe(-32009);
  });

  it('makes folders below a link that stays inside', async () => {
    const room = await openResourceRoom();
    await mkdir(room.path('d'));
    await symlink('d', room.path('near'));
    expect(await room.code('resourceMkdir', { uri: room.file('near/x/y') })).toBe('ok');
    expect((await stat(room.path('d/x/y'))).isDirectory()).toBe(true);
  });
});
