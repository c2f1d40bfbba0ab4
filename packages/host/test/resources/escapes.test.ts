/** Everything that we could think of to get at a file outside of a session's folder. None of it may work, nor hang. */
import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openResourceFixture, type ResourceFixture } from '../support/resource-fixture.js';

const SECRET = 'THE SECRET';

interface Case {
  /** Puts what it needs into the session's folder, and gives the URI that must not work. */
  readonly uri: (fixture: ResourceFixture) => string | Promise<string>;
  /** It leads to nothing inside, instead of to something outside. */
  readonly isMissing?: boolean;
}

const secret = (fixture: ResourceFixture) => pathToFileURL(path.join(fixture.outside, 'secret.txt')).href;
const below = (fixture: ResourceFixture, text: string) => `file://${fixture.folder}/${text}`;
/** From the session's folder to the secret, by names. */
const way = (fixture: ResourceFixture) => path.relative(fixture.folder, path.join(fixture.outside, 'secret.txt'));

/** Makes a link in the session's folder, and asks for something at it or behind it. */
function linked(target: (fixture: ResourceFixture) => string, behind = ''): Case['uri'] {
  return async (fixture) => {
    await symlink(target(fixture), fixture.path('link'));
    return fixture.file(`link${behind}`);
  };
}

const CASES: Readonly<Record<string, Case>> = {
  'the path itself': { uri: secret },
  'its folder': { uri: (fixture) => fixture.file(fixture.outside) },
  'the root of the disk': { uri: () => 'file:///' },
  'the folder above': { uri: (fixture) => fixture.file('..') },
  'a neighbour whose name begins alike': { uri: (fixture) => `file://${fixture.folder}-x/secret.txt` },
  'a system file': { uri: () => 'file:///etc/passwd' },
  'dots that are resolved before they are sent': { uri: (fixture) => below(fixture, way(fixture)) },
  'encoded dots': { uri: (fixture) => below(fixture, way(fixture).replaceAll('..', '%2e%2e')) },
  'encoded dots in capitals': { uri: (fixture) => below(fixture, way(fixture).replaceAll('..', '%2E%2E')) },
  'half encoded dots': { uri: (fixture) => below(fixture, way(fixture).replaceAll('..', '.%2e')) },
  'dots encoded twice': {
    uri: (fixture) => below(fixture, way(fixture).replaceAll('..', '%252e%252e')),
    isMissing: true,
  },
  'dots behind a folder that is not there': { uri: (fixture) => below(fixture, `none/../${way(fixture)}`) },
  'encoded slashes': { uri: (fixture) => below(fixture, way(fixture).replaceAll('/', '%2F')) },
  'encoded slashes in small letters': { uri: (fixture) => below(fixture, way(fixture).replaceAll('/', '%2f')) },
  'overlong dots': { uri: (fixture) => below(fixture, '%c0%ae%c0%ae/secret.txt') },
  backslashes: { uri: (fixture) => below(fixture, way(fixture).replaceAll('/', '\\')) },
  'encoded backslashes': { uri: (fixture) => below(fixture, '..%5C..%5Csecret.txt'), isMissing: true },
  'a zero byte': { uri: (fixture) => below(fixture, 'in.txt%00') },
  'a zero byte in front of dots': { uri: (fixture) => below(fixture, `%00/../${way(fixture)}`) },
  'a raw zero byte': { uri: (fixture) => below(fixture, 'in.txt\0') },
  'a tab among the dots': { uri: (fixture) => below(fixture, `.\t./${way(fixture)}`) },
  'a new line among the dots': { uri: (fixture) => below(fixture, `.\n./${way(fixture)}`) },
  'another host': { uri: (fixture) => `file://example.com${fixture.folder}/in.txt` },
  'a host and a port': { uri: (fixture) => `file://localhost:80${fixture.folder}/in.txt` },
  'a UNC path': { uri: () => 'file:////server/share/secret.txt' },
  'a UNC path with backslashes': { uri: () => '\\\\server\\share\\secret.txt' },
  'a drive letter': { uri: () => 'file:///C:/Windows/win.ini' },
  'a bare path': { uri: (fixture) => path.join(fixture.outside, 'secret.txt') },
  'a relative URI': { uri: () => 'file:secret.txt' },
  'a query': { uri: (fixture) => `${fixture.file('in.txt')}?../secret.txt` },
  'a fragment': { uri: (fixture) => `${fixture.file('in.txt')}#../secret.txt` },
  http: { uri: (fixture) => `http://localhost${fixture.folder}/in.txt` },
  'another scheme': { uri: (fixture) => `vscode-file://${fixture.folder}/in.txt` },
  data: { uri: () => 'data:text/plain,secret' },
  'a scheme in capitals with dots': { uri: (fixture) => `FILE://${fixture.folder}/${way(fixture)}` },
  'a scheme with a space in front': { uri: (fixture) => ` ${secret(fixture)}` },
  'an empty URI': { uri: () => '' },
  'a path that is too long': { uri: (fixture) => below(fixture, 'a/'.repeat(3_000)) },
  'a name that is too long': { uri: (fixture) => below(fixture, 'a'.repeat(300)) },
  'a URI that is too long': { uri: (fixture) => below(fixture, '%41'.repeat(10_000)) },
  'dots that only look like dots': { uri: (fixture) => below(fixture, '%E2%80%A5/secret.txt'), isMissing: true },
  'slashes that only look like slashes': { uri: (fixture) => below(fixture, '..%E2%88%95secret.txt'), isMissing: true },
  'dots at the end of a name': { uri: (fixture) => below(fixture, 'in.txt...'), isMissing: true },
  'a space at the end of a name': { uri: (fixture) => below(fixture, 'in.txt%20'), isMissing: true },
  'another case': { uri: (fixture) => `file://${fixture.folder.toUpperCase()}/in.txt` },
  'a link to the file': { uri: linked((fixture) => path.join(fixture.outside, 'secret.txt')) },
  'a relative link to the file': { uri: linked(way) },
  'a link to the folder': { uri: linked((fixture) => fixture.outside, '/secret.txt') },
  'a link to nothing outside': { uri: linked((fixture) => path.join(fixture.outside, 'nothing')) },
  'a link to the root of the disk': { uri: linked(() => '/', '/etc/passwd') },
  'a link to the folder above': { uri: linked(() => '..') },
  'a link out and back in': {
    uri: linked((fixture) => `${fixture.outside}/../${path.basename(fixture.folder)}`, '/in.txt'),
  },
  'a link through its own process': { uri: linked(() => '/proc/self/root', '/etc/passwd') },
  'an open file of this process': { uri: linked(() => '/proc/self/fd/0') },
  'a link to itself': { uri: linked(() => 'link'), isMissing: true },
  'a chain of links': {
    uri: async (fixture) => {
      await symlink(fixture.outside, fixture.path('l0'));
      for (let index = 1; index < 10; index++) await symlink(`l${index - 1}`, fixture.path(`l${index}`));
      return fixture.file('l9/secret.txt');
    },
  },
  'a chain of links without end': {
    uri: async (fixture) => {
      await symlink(fixture.path('in.txt'), fixture.path('l0'));
      for (let index = 1; index < 60; index++) await symlink(`l${index - 1}`, fixture.path(`l${index}`));
      return fixture.file('l59');
    },
    isMissing: true,
  },
  'a folder that became a link': {
    uri: async (fixture) => {
      await rename(fixture.path('folder'), fixture.path('was-folder'));
      await symlink(fixture.outside, fixture.path('folder'));
      return fixture.file('folder/secret.txt');
    },
  },
  'a link in a folder that is a link': {
    uri: async (fixture) => {
      await symlink('folder', fixture.path('near'));
      await symlink(fixture.outside, fixture.path('folder/far'));
      return fixture.file('near/far/secret.txt');
    },
  },
  'the zero device': { uri: linked(() => '/dev/zero') },
  'a device by its path': { uri: () => 'file:///dev/zero' },
  'a file of the kernel': { uri: () => 'file:///proc/self/environ' },
  'a pipe': {
    uri: (fixture) => {
      execFileSync('mkfifo', [fixture.path('pipe')]);
      return fixture.file('pipe');
    },
  },
};

/** Every way to ask for it. */
const ASKING: Readonly<Record<string, (uri: string, fixture: ResourceFixture) => readonly [string, object]>> = {
  read: (uri) => ['resourceRead', { uri }],
  list: (uri) => ['resourceList', { uri }],
  resolve: (uri) => ['resourceResolve', { uri }],
  write: (uri) => ['resourceWrite', { uri, data: 'OVERWRITTEN', encoding: 'utf-8' }],
  append: (uri) => ['resourceWrite', { uri, data: 'APPENDED', encoding: 'utf-8', mode: 'append' }],
  mkdir: (uri) => ['resourceMkdir', { uri: `${uri}/made` }],
  'copy from': (uri, fixture) => ['resourceCopy', { source: uri, destination: fixture.file('stolen') }],
  'copy to': (uri, fixture) => ['resourceCopy', { source: fixture.file('in.txt'), destination: `${uri}/planted` }],
  watch: (uri) => ['createResourceWatch', { uri }],
};

const MAKING = ['write', 'append', 'mkdir', 'copy to'];

describe('a path that leads out', () => {
  it('has at least forty ways to be written', () => {
    expect(Object.keys(CASES).length).toBeGreaterThanOrEqual(40);
  });

  it.each(Object.entries(CASES))('[REL-042] is refused for every request: %s', async (name, { uri, isMissing }) => {
    const fixture = await openResourceFixture({
      files: { 'in.txt': 'IN', 'folder/x': 'X' },
      outside: { 'secret.txt': SECRET, 'deep/x': 'X' },
    });
    const asked = await uri(fixture);
    for (const [what, request] of Object.entries(ASKING)) {
      const [method, params] = request(asked, fixture);
      if (isMissing && MAKING.includes(what)) continue;
      const { error, result } = await fixture.ask(method, params);
      expect(codesFor(what, name, isMissing), `${what}: ${JSON.stringify(error ?? result)}`).toContain(error?.code);
      expect(JSON.stringify(error)).not.toContain(SECRET);
    }
    await moveAndDelete(fixture, asked);
    // What is not there may be made, but only inside.
    for (const [what, request] of Object.entries(ASKING))
      if (isMissing && MAKING.includes(what)) await fixture.ask(...request(asked, fixture));
    expect(await readFile(path.join(fixture.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect((await readdir(fixture.outside)).sort()).toEqual(['deep', 'secret.txt']);
  });
});

/** What lies behind a file is not there; a pipe of one's own is simply no file. */
function codesFor(what: string, name: string, isMissing = false): readonly number[] {
  if (isMissing) return [-32008];
  if (name === 'a pipe') return [-32009, -32008, -32602];
  return what === 'mkdir' || what === 'copy to' ? [-32009, -32008] : [-32009];
}

/** A link itself may be moved and deleted. What it leads to may not. */
async function moveAndDelete(fixture: ResourceFixture, uri: string): Promise<void> {
  await fixture.ask('resourceMove', { source: uri, destination: fixture.file('moved') });
  const moved = await lstat(fixture.path('moved')).catch(() => undefined);
  expect(moved === undefined || moved.isSymbolicLink() || moved.isFIFO()).toBe(true);
  await fixture.ask('resourceMove', { source: fixture.file('in.txt'), destination: `${uri}/planted` });
  await fixture.ask('resourceDelete', { uri, recursive: true });
}

describe('what is outside', () => {
  it('[REL-042] is denied in the same words, whether it is there or not', async () => {
    const fixture = await openResourceFixture({ files: { 'd/f': 'in' }, outside: { 'secret.txt': SECRET } });
    await symlink(fixture.outside, fixture.path('out'));
    const folder = path.dirname(fixture.path('d'));
    const out = path.relative(folder, fixture.outside);
    const back = path.relative(path.dirname(fixture.outside), folder);
    await symlink(out, fixture.path('near'));
    await symlink(`${out}/../${back}/d`, fixture.path('through'));
    await symlink(`${path.dirname(out)}/none/../${back}/d`, fixture.path('nowhere'));
    const words = async (method: string, uri: string, params: object = {}) => {
      const { error } = await fixture.ask(method, { uri, ...params });
      return JSON.stringify(error).replaceAll(uri, 'URI');
    };
    for (const [there, missing] of [
      [fixture.file(`${fixture.outside}/secret.txt`), fixture.file(`${fixture.outside}/none.txt`)],
      [fixture.file('out/secret.txt'), fixture.file('out/none.txt')],
      [fixture.file('out/secret.txt/x'), fixture.file('out/none.txt/x')],
      [fixture.file('near/secret.txt/x'), fixture.file('near/none.txt/x')],
      [fixture.file('through/f'), fixture.file('nowhere/f')],
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

  it('[REL-042] is refused for the end of a link before anything on the way to it is looked at', async () => {
    const fixture = await openResourceFixture({ files: { file: 'in' } });
    await symlink('file/.git', fixture.path('beyond'));
    await symlink('none/.git', fixture.path('nowhere'));
    for (const name of ['beyond', 'nowhere']) {
      const { error } = await fixture.ask('resourceWrite', {
        ...{ uri: fixture.file(name), data: 'x', encoding: 'utf-8' },
      });
      expect(error, name).toMatchObject({ code: -32009 });
    }
  });

  it("[REL-042] stays out of a folder in a session's folder that became a session of its own, and then a link", async () => {
    const fixture = await openResourceFixture({ files: { 'sub/x': 'X' }, outside: { 'secret.txt': SECRET } });
    const phone = await fixture.join('phone');
    await phone.session(undefined, { workingDirectory: fixture.file('sub') });
    expect(await fixture.text('sub/x')).toBe('X');
    await rename(fixture.path('sub'), fixture.path('was'));
    await symlink(fixture.outside, fixture.path('sub'));
    expect(await fixture.code('resourceRead', { uri: fixture.file('sub/secret.txt') })).toBe(-32009);
    expect(await fixture.code('resourceRead', { uri: fixture.file(`${fixture.outside}/secret.txt`) })).toBe(-32009);
  });

  it('[REL-042] a file may have a second name inside: a hard link is the file itself, and is read', async () => {
    const fixture = await openResourceFixture({ files: { 'a.txt': 'A' } });
    await mkdir(fixture.path('d'));
    execFileSync('ln', [fixture.path('a.txt'), fixture.path('d/same.txt')]);
    expect(await fixture.text('d/same.txt')).toBe('A');
    await fixture.result('resourceWrite', { uri: fixture.file('d/same.txt'), data: 'B', encoding: 'utf-8' });
    // Written as a whole, the second name is a file of its own from then on.
    expect(await fixture.text('a.txt')).toBe('A');
  });

  it('[REL-042] a folder is no file and a file is no folder', async () => {
    const fixture = await openResourceFixture({ files: { 'd/x': 'X', 'a.txt': 'A' } });
    expect(await fixture.code('resourceRead', { uri: fixture.file('d') })).toBe(-32602);
    expect(await fixture.code('resourceRead', { uri: fixture.file('d/') })).toBe(-32602);
    expect(await fixture.code('resourceList', { uri: fixture.file('a.txt') })).toBe(-32602);
    expect(await fixture.code('resourceRead', { uri: fixture.file('a.txt/x') })).toBe(-32008);
    await writeFile(fixture.path('d/y'), 'Y');
    expect(await fixture.names('d')).toEqual(['x', 'y']);
  });
});
