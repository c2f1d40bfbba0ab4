/** Everything that we could think of to get at a file outside of a session's folder. None of it may work, nor hang. */
import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openResourceRoom, type ResourceRoom } from '../support/resource-room.js';

const SECRET = 'THE SECRET';

interface Case {
  /** Puts what it needs into the session's folder, and gives the URI that must not work. */
  readonly uri: (room: ResourceRoom) => string | Promise<string>;
  /** It leads to nothing inside, instead of to something outside. */
  readonly isMissing?: boolean;
}

const secret = (room: ResourceRoom) => pathToFileURL(path.join(room.outside, 'secret.txt')).href;
const below = (room: ResourceRoom, text: string) => `file://${room.folder}/${text}`;
/** From the session's folder to the secret, by names. */
const way = (room: ResourceRoom) => path.relative(room.folder, path.join(room.outside, 'secret.txt'));

/** Makes a link in the session's folder, and asks for something at it or behind it. */
function linked(target: (room: ResourceRoom) => string, behind = ''): Case['uri'] {
  return async (room) => {
    await symlink(target(room), room.path('link'));
    return room.file(`link${behind}`);
  };
}

const CASES: Readonly<Record<string, Case>> = {
  'the path itself': { uri: secret },
  'its folder': { uri: (room) => room.file(room.outside) },
  'the root of the disk': { uri: () => 'file:///' },
  'the folder above': { uri: (room) => room.file('..') },
  'a neighbour whose name begins alike': { uri: (room) => `file://${room.folder}-x/secret.txt` },
  'a system file': { uri: () => 'file:///etc/passwd' },
  'dots that are resolved before they are sent': { uri: (room) => below(room, way(room)) },
  'encoded dots': { uri: (room) => below(room, way(room).replaceAll('..', '%2e%2e')) },
  'encoded dots in capitals': { uri: (room) => below(room, way(room).replaceAll('..', '%2E%2E')) },
  'half encoded dots': { uri: (room) => below(room, way(room).replaceAll('..', '.%2e')) },
  'dots encoded twice': { uri: (room) => below(room, way(room).replaceAll('..', '%252e%252e')), isMissing: true },
  'dots behind a folder that is not there': { uri: (room) => below(room, `none/../${way(room)}`) },
  'encoded slashes': { uri: (room) => below(room, way(room).replaceAll('/', '%2F')) },
  'encoded slashes in small letters': { uri: (room) => below(room, way(room).replaceAll('/', '%2f')) },
  'overlong dots': { uri: (room) => below(room, '%c0%ae%c0%ae/secret.txt') },
  backslashes: { uri: (room) => below(room, way(room).replaceAll('/', '\\')) },
  'encoded backslashes': { uri: (room) => below(room, '..%5C..%5Csecret.txt'), isMissing: true },
  'a zero byte': { uri: (room) => below(room, 'in.txt%00') },
  'a zero byte in front of dots': { uri: (room) => below(room, `%00/../${way(room)}`) },
  'a raw zero byte': { uri: (room) => below(room, 'in.txt\0') },
  'a tab among the dots': { uri: (room) => below(room, `.\t./${way(room)}`) },
  'a new line among the dots': { uri: (room) => below(room, `.\n./${way(room)}`) },
  'another host': { uri: (room) => `file://example.com${room.folder}/in.txt` },
  'a host and a port': { uri: (room) => `file://localhost:80${room.folder}/in.txt` },
  'a UNC path': { uri: () => 'file:////server/share/secret.txt' },
  'a UNC path with backslashes': { uri: () => '\\\\server\\share\\secret.txt' },
  'a drive letter': { uri: () => 'file:///C:/Windows/win.ini' },
  'a bare path': { uri: (room) => path.join(room.outside, 'secret.txt') },
  'a relative URI': { uri: () => 'file:secret.txt' },
  'a query': { uri: (room) => `${room.file('in.txt')}?../secret.txt` },
  'a fragment': { uri: (room) => `${room.file('in.txt')}#../secret.txt` },
  http: { uri: (room) => `http://localhost${room.folder}/in.txt` },
  'another scheme': { uri: (room) => `vscode-file://${room.folder}/in.txt` },
  data: { uri: () => 'data:text/plain,secret' },
  'a scheme in capitals with dots': { uri: (room) => `FILE://${room.folder}/${way(room)}` },
  'a scheme with a space in front': { uri: (room) => ` ${secret(room)}` },
  'an empty URI': { uri: () => '' },
  'a path that is too long': { uri: (room) => below(room, 'a/'.repeat(3_000)) },
  'a name that is too long': { uri: (room) => below(room, 'a'.repeat(300)) },
  'a URI that is too long': { uri: (room) => below(room, '%41'.repeat(10_000)) },
  'dots that only look like dots': { uri: (room) => below(room, '%E2%80%A5/secret.txt'), isMissing: true },
  'slashes that only look like slashes': { uri: (room) => below(room, '..%E2%88%95secret.txt'), isMissing: true },
  'dots at the end of a name': { uri: (room) => below(room, 'in.txt...'), isMissing: true },
  'a space at the end of a name': { uri: (room) => below(room, 'in.txt%20'), isMissing: true },
  'another case': { uri: (room) => `file://${room.folder.toUpperCase()}/in.txt` },
  'a link to the file': { uri: linked((room) => path.join(room.outside, 'secret.txt')) },
  'a relative link to the file': { uri: linked(way) },
  'a link to the folder': { uri: linked((room) => room.outside, '/secret.txt') },
  'a link to nothing outside': { uri: linked((room) => path.join(room.outside, 'nothing')) },
  'a link to the root of the disk': { uri: linked(() => '/', '/etc/passwd') },
  'a link to the folder above': { uri: linked(() => '..') },
  'a link out and back in': { uri: linked((room) => `${room.outside}/../${path.basename(room.folder)}`, '/in.txt') },
  'a link through its own process': { uri: linked(() => '/proc/self/root', '/etc/passwd') },
  'an open file of this process': { uri: linked(() => '/proc/self/fd/0') },
  'a link to itself': { uri: linked(() => 'link'), isMissing: true },
  'a chain of links': {
    uri: async (room) => {
      await symlink(room.outside, room.path('l0'));
      for (let index = 1; index < 10; index++) await symlink(`l${index - 1}`, room.path(`l${index}`));
      return room.file('l9/secret.txt');
    },
  },
  'a chain of links without end': {
    uri: async (room) => {
      await symlink(room.path('in.txt'), room.path('l0'));
      for (let index = 1; index < 60; index++) await symlink(`l${index - 1}`, room.path(`l${index}`));
      return room.file('l59');
    },
    isMissing: true,
  },
  'a folder that became a link': {
    uri: async (room) => {
      await rename(room.path('folder'), room.path('was-folder'));
      await symlink(room.outside, room.path('folder'));
      return room.file('folder/secret.txt');
    },
  },
  'a link in a folder that is a link': {
    uri: async (room) => {
      await symlink('folder', room.path('near'));
      await symlink(room.outside, room.path('folder/far'));
      return room.file('near/far/secret.txt');
    },
  },
  'the zero device': { uri: linked(() => '/dev/zero') },
  'a device by its path': { uri: () => 'file:///dev/zero' },
  'a file of the kernel': { uri: () => 'file:///proc/self/environ' },
  'a pipe': {
    uri: (room) => {
      execFileSync('mkfifo', [room.path('pipe')]);
      return room.file('pipe');
    },
  },
};

/** Every way to ask for it. */
const ASKING: Readonly<Record<string, (uri: string, room: ResourceRoom) => readonly [string, object]>> = {
  read: (uri) => ['resourceRead', { uri }],
  list: (uri) => ['resourceList', { uri }],
  resolve: (uri) => ['resourceResolve', { uri }],
  write: (uri) => ['resourceWrite', { uri, data: 'OVERWRITTEN', encoding: 'utf-8' }],
  append: (uri) => ['resourceWrite', { uri, data: 'APPENDED', encoding: 'utf-8', mode: 'append' }],
  mkdir: (uri) => ['resourceMkdir', { uri: `${uri}/made` }],
  'copy from': (uri, room) => ['resourceCopy', { source: uri, destination: room.file('stolen') }],
  'copy to': (uri, room) => ['resourceCopy', { source: room.file('in.txt'), destination: `${uri}/planted` }],
  watch: (uri) => ['createResourceWatch', { uri }],
};

const MAKING = ['write', 'append', 'mkdir', 'copy to'];

describe('a path that leads out', () => {
  it('has at least forty ways to be written', () => {
    expect(Object.keys(CASES).length).toBeGreaterThanOrEqual(40);
  });

  it.each(Object.entries(CASES))('[REL-042] is refused for every request: %s', async (name, { uri, isMissing }) => {
    const room = await openResourceRoom({
      files: { 'in.txt': 'IN', 'folder/x': 'X' },
      outside: { 'secret.txt': SECRET, 'deep/x': 'X' },
    });
    const asked = await uri(room);
    for (const [what, request] of Object.entries(ASKING)) {
      const [method, params] = request(asked, room);
      if (isMissing && MAKING.includes(what)) continue;
      const { error, result } = await room.ask(method, params);
      expect(codesFor(what, name, isMissing), `${what}: ${JSON.stringify(error ?? result)}`).toContain(error?.code);
      expect(JSON.stringify(error)).not.toContain(SECRET);
    }
    await moveAndDelete(room, asked);
    // What is not there may be made, but only inside.
    for (const [what, request] of Object.entries(ASKING))
      if (isMissing && MAKING.includes(what)) await room.ask(...request(asked, room));
    expect(await readFile(path.join(room.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect((await readdir(room.outside)).sort()).toEqual(['deep', 'secret.txt']);
  });
});

/** What lies behind a file is not there; a pipe of one's own is simply no file. */
function codesFor(what: string, name: string, isMissing = false): readonly number[] {
  if (isMissing) return [-32008];
  if (name === 'a pipe') return [-32009, -32008, -32602];
  return what === 'mkdir' || what === 'copy to' ? [-32009, -32008] : [-32009];
}

/** A link itself may be moved and deleted. What it leads to may not. */
async function moveAndDelete(room: ResourceRoom, uri: string): Promise<void> {
  await room.ask('resourceMove', { source: uri, destination: room.file('moved') });
  const moved = await lstat(room.path('moved')).catch(() => undefined);
  expect(moved === undefined || moved.isSymbolicLink() || moved.isFIFO()).toBe(true);
  await room.ask('resourceMove', { source: room.file('in.txt'), destination: `${uri}/planted` });
  await room.ask('resourceDelete', { uri, recursive: true });
}

describe('what is outside', () => {
  it('[REL-042] is denied in the same words, whether it is there or not', async () => {
    const room = await openResourceRoom({ outside: { 'secret.txt': SECRET } });
    await symlink(room.outside, room.path('out'));
    const words = async (method: string, uri: string, params: object = {}) => {
      const { error } = await room.ask(method, { uri, ...params });
      return JSON.stringify(error).replaceAll(uri, 'URI');
    };
    for (const [there, missing] of [
      [room.file(`${room.outside}/secret.txt`), room.file(`${room.outside}/none.txt`)],
      [room.file('out/secret.txt'), room.file('out/none.txt')],
      [room.file('out/secret.txt/x'), room.file('out/none.txt/x')],
    ] as const) {
      for (const method of [
        'resourceRead',
        'resourceList',
        'resourceResolve',
        'resourceDelete',
        'createResourceWatch',
      ]) {
        expect(await words(method, there), method).toBe(await words(method, missing));
      }
      const content = { data: 'x', encoding: 'utf-8' };
      expect(await words('resourceWrite', there, content)).toBe(await words('resourceWrite', missing, content));
    }
  });

  it("[REL-042] stays out of a folder in a session's folder that became a session of its own, and then a link", async () => {
    const room = await openResourceRoom({ files: { 'sub/x': 'X' }, outside: { 'secret.txt': SECRET } });
    const phone = await room.client('phone');
    await phone.session(undefined, { workingDirectory: room.file('sub') });
    expect(await room.text('sub/x')).toBe('X');
    await rename(room.path('sub'), room.path('was'));
    await symlink(room.outside, room.path('sub'));
    expect(await room.code('resourceRead', { uri: room.file('sub/secret.txt') })).toBe(-32009);
    expect(await room.code('resourceRead', { uri: room.file(`${room.outside}/secret.txt`) })).toBe(-32009);
  });

  it('[REL-042] a file may have a second name inside: a hard link is the file itself, and is read', async () => {
    const room = await openResourceRoom({ files: { 'a.txt': 'A' } });
    await mkdir(room.path('d'));
    execFileSync('ln', [room.path('a.txt'), room.path('d/same.txt')]);
    expect(await room.text('d/same.txt')).toBe('A');
    await room.result('resourceWrite', { uri: room.file('d/same.txt'), data: 'B', encoding: 'utf-8' });
    // Written as a whole, the second name is a file of its own from then on.
    expect(await room.text('a.txt')).toBe('A');
  });

  it('[REL-042] a folder is no file and a file is no folder', async () => {
    const room = await openResourceRoom({ files: { 'd/x': 'X', 'a.txt': 'A' } });
    expect(await room.code('resourceRead', { uri: room.file('d') })).toBe(-32602);
    expect(await room.code('resourceRead', { uri: room.file('d/') })).toBe(-32602);
    expect(await room.code('resourceList', { uri: room.file('a.txt') })).toBe(-32602);
    expect(await room.code('resourceRead', { uri: room.file('a.txt/x') })).toBe(-32008);
    await writeFile(room.path('d/y'), 'Y');
    expect(await room.names('d')).toEqual(['x', 'y']);
  });
});
