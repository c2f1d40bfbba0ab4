import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readFile, readlink, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openResourceRoom, type ResourceRoom } from '../support/resource-room.js';
import { tempFolder } from '../support/temp-folder.js';

function between(room: ResourceRoom, source: string, destination: string, params: object = {}) {
  return { source: room.file(source), destination: room.file(destination), ...params };
}

const read = (room: ResourceRoom, name: string) => readFile(room.path(name), 'utf8');

const METHODS = ['resourceCopy', 'resourceMove'] as const;

describe.each(METHODS)('%s', (method) => {
  const id = method === 'resourceCopy' ? '[AHP-077]' : '[AHP-079]';
  const isCopy = method === 'resourceCopy';

  it(`${id} takes a file over, replaces another, and keeps its mode`, async () => {
    const room = await openResourceRoom({ files: { a: 'A', c: 'C', 'd/x': '' } });
    await chmod(room.path('a'), 0o750);
    expect(await room.code(method, between(room, 'a', 'd/b'))).toBe('ok');
    expect(await read(room, 'd/b')).toBe('A');
    expect((await stat(room.path('d/b'))).mode & 0o777).toBe(0o750);
    expect((await room.names()).includes('a')).toBe(isCopy);
    expect(await room.code(method, between(room, 'd/b', 'c'))).toBe('ok');
    expect(await read(room, 'c')).toBe('A');
  });

  it(`${id} [AHP-101] leaves what is there when it is told to, and fails without a source`, async () => {
    const room = await openResourceRoom({ files: { a: 'A', b: 'B', 'd/x': '', 'e/y': '' } });
    expect(await room.code(method, between(room, 'a', 'b', { failIfExists: true }))).toBe(-32010);
    expect(await room.code(method, between(room, 'd', 'e', { failIfExists: true }))).toBe(-32010);
    expect(await read(room, 'b')).toBe('B');
    expect(await room.code(method, between(room, 'none', 'c'))).toBe(-32008);
    expect(await room.code(method, between(room, 'a', 'none/c'))).toBe(-32008);
    expect(await room.code(method, between(room, 'a', 'c', { failIfExists: true }))).toBe('ok');
    expect(await room.code(method, between(room, 'd', 'f', { failIfExists: true }))).toBe('ok');
    expect(await room.names('f')).toEqual(['x']);
  });

  it(`${id} takes a whole folder, links as links, and replaces another folder whole`, async () => {
    const room = await openResourceRoom({ files: { 'd/in/x': 'X', 'd/y': 'Y', 'old/z': 'Z' } });
    await symlink('../../away', room.path('d/in/link'));
    await chmod(room.path('d/in'), 0o710);
    expect(await room.code(method, between(room, 'd', 'old'))).toBe('ok');
    expect(await room.names('old')).toEqual(['in', 'y']);
    expect(await read(room, 'old/in/x')).toBe('X');
    expect(await readlink(room.path('old/in/link'))).toBe('../../away');
    expect((await stat(room.path('old/in'))).mode & 0o777).toBe(0o710);
    expect(await room.names()).toEqual(isCopy ? ['d', 'old'] : ['old']);
  });

  it(`${id} does not mix up files and folders, nor put a folder into itself`, async () => {
    const room = await openResourceRoom({ files: { a: 'A', 'd/x': 'X' } });
    expect(await room.code(method, between(room, 'a', 'd'))).toBe(-32010);
    expect(await room.code(method, between(room, 'd', 'a'))).toBe(-32010);
    expect(await room.code(method, between(room, 'd', 'd/inner'))).toBe(-32602);
    expect(await room.code(method, between(room, 'd/x', 'd'))).toBe(-32602);
    expect(await room.code(method, between(room, 'a', 'a'))).toBe('ok');
    expect(await room.names()).toEqual(['a', 'd']);
    expect(await read(room, 'a')).toBe('A');
  });

  it(`${id} goes neither out of the folder nor into it`, async () => {
    const room = await openResourceRoom({ files: { a: 'A' }, outside: { secret: 'S' } });
    expect(await room.code(method, between(room, 'a', `${room.outside}/a`))).toBe(-32009);
    expect(await room.code(method, between(room, `${room.outside}/secret`, 'b'))).toBe(-32009);
    await symlink(room.outside, room.path('out'));
    expect(await room.code(method, between(room, 'a', 'out/a'))).toBe(-32009);
    expect(await room.code(method, between(room, 'out/secret', 'b'))).toBe(-32009);
    expect(await room.code(method, between(room, 'a', '.git'))).toBe(-32009);
    expect(await room.names()).toEqual(['a', 'out']);
  });
});

describe('resourceCopy', () => {
  it('copies what a link leads to, and nothing that is neither file nor folder', async () => {
    const room = await openResourceRoom({ files: { a: 'A', 'd/x': '' } });
    await symlink('a', room.path('link'));
    expect(await room.code('resourceCopy', between(room, 'link', 'b'))).toBe('ok');
    expect((await lstat(room.path('b'))).isFile()).toBe(true);
    execFileSync('mkfifo', [room.path('d/pipe')]);
    expect(await room.code('resourceCopy', between(room, 'd', 'e'))).toBe(-32602);
    expect(await room.names()).toEqual(['a', 'b', 'd', 'link']);
  });
});

describe('resourceMove', () => {
  it('moves a link itself, also one that leads out', async () => {
    const room = await openResourceRoom({ outside: { secret: 'S' } });
    await symlink(`${room.outside}/secret`, room.path('link'));
    expect(await room.code('resourceMove', between(room, 'link', 'moved'))).toBe('ok');
    expect(await readlink(room.path('moved'))).toBe(`${room.outside}/secret`);
  });

  it("leaves a session's folder where it is", async () => {
    const room = await openResourceRoom({ files: { x: 'X' } });
    const phone = await room.client('phone');
    const other = await tempFolder();
    await phone.session(undefined, { workingDirectory: room.file(other) });
    expect(await room.code('resourceMove', between(room, '.', path.join(other, 'taken')))).toBe(-32009);
    expect(await room.code('resourceDelete', { uri: room.file('.'), recursive: true })).toBe(-32009);
    expect(await read(room, 'x')).toBe('X');
  });
});

describe('resourceDelete', () => {
  it('[AHP-078] removes files and empty folders; others only when that is meant', async () => {
    const room = await openResourceRoom({ files: { a: '', 'd/in/x': '' } });
    await mkdir(room.path('empty'));
    expect(await room.code('resourceDelete', { uri: room.file('a') })).toBe('ok');
    expect(await room.code('resourceDelete', { uri: room.file('empty') })).toBe('ok');
    expect(await room.code('resourceDelete', { uri: room.file('d') })).toBe(-32602);
    expect(await room.names('d/in')).toEqual(['x']);
    expect(await room.code('resourceDelete', { uri: room.file('d'), recursive: true })).toBe('ok');
    expect(await room.names()).toEqual([]);
    expect(await room.code('resourceDelete', { uri: room.file('a') })).toBe(-32008);
  });

  it('[AHP-078] removes a link, not what it leads to', async () => {
    const room = await openResourceRoom({ files: { 'd/x': '' }, outside: { 'deep/secret': 'S' } });
    await symlink(room.outside, room.path('d/out'));
    await symlink('d', room.path('near'));
    expect(await room.code('resourceDelete', { uri: room.file('near'), recursive: true })).toBe('ok');
    expect(await room.names()).toEqual(['d']);
    expect(await room.code('resourceDelete', { uri: room.file('d'), recursive: true })).toBe('ok');
    expect(await readFile(`${room.outside}/deep/secret`, 'utf8')).toBe('S');
  });

  it('stops before the data of a host', async () => {
    const room = await openResourceRoom({ files: { 'd/data/atrium.lock': '', 'd/data/atrium.db': 'D' } });
    expect(await room.code('resourceDelete', { uri: room.file('d'), recursive: true })).toBe(-32009);
    expect(await read(room, 'd/data/atrium.db')).toBe('D');
    expect(await room.code('resourceRead', { uri: room.file('d/data/atrium.db') })).toBe(-32009);
  });
});
