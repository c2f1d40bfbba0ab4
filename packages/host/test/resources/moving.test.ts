import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import promises, {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { realPathOf } from '../../src/workspace/files/client-roots.js';
import { copyTree, move, remove, TREE_MAX_DEPTH } from '../../src/workspace/files/copy-move-delete.js';
import { pinFolder } from '../../src/workspace/files/pinned-folder.js';
import { openResourceFixture, type ResourceFixture } from '../support/resource-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT } from '../support/test-host.js';

function between(fixture: ResourceFixture, source: string, destination: string, params: object = {}) {
  return { source: fixture.file(source), destination: fixture.file(destination), ...params };
}

const read = (fixture: ResourceFixture, name: string) => readFile(fixture.path(name), 'utf8');

/** In memory on Linux, or on the disk of the repository: a rename does not lead there from a temporary folder. */
const ELSEWHERE = ['/dev/shm', path.resolve('node_modules')].find(
  (folder) => existsSync(folder) && statSync(folder).dev !== statSync(tmpdir()).dev,
);
const WHY_NOT = ELSEWHERE ? '' : ' (skipped: there is only one file system)';

const METHODS = ['resourceCopy', 'resourceMove'] as const;

describe.each(METHODS)('%s', (method) => {
  const id = method === 'resourceCopy' ? '[AHP-077]' : '[AHP-079]';
  const isCopy = method === 'resourceCopy';

  it(`${id} takes a file over, replaces another, and keeps its mode`, async () => {
    const fixture = await openResourceFixture({ files: { a: 'A', c: 'C', 'd/x': '' } });
    await chmod(fixture.path('a'), 0o750);
    expect(await fixture.code(method, between(fixture, 'a', 'd/b'))).toBe('ok');
    expect(await read(fixture, 'd/b')).toBe('A');
    expect((await stat(fixture.path('d/b'))).mode & 0o777).toBe(0o750);
    expect((await fixture.names()).includes('a')).toBe(isCopy);
    expect(await fixture.code(method, between(fixture, 'd/b', 'c'))).toBe('ok');
    expect(await read(fixture, 'c')).toBe('A');
  });

  it(`${id} [AHP-101] leaves what is there when it is told to, and fails without a source`, async () => {
    const fixture = await openResourceFixture({ files: { a: 'A', b: 'B', 'd/x': '', 'e/y': '' } });
    expect(await fixture.code(method, between(fixture, 'a', 'b', { failIfExists: true }))).toBe(-32010);
    expect(await fixture.code(method, between(fixture, 'd', 'e', { failIfExists: true }))).toBe(-32010);
    expect(await read(fixture, 'b')).toBe('B');
    expect(await fixture.code(method, between(fixture, 'none', 'c'))).toBe(-32008);
    expect(await fixture.code(method, between(fixture, 'a', 'none/c'))).toBe(-32008);
    expect(await fixture.code(method, between(fixture, 'a', 'c', { failIfExists: true }))).toBe('ok');
    expect(await fixture.code(method, between(fixture, 'd', 'f', { failIfExists: true }))).toBe('ok');
    expect(await fixture.names('f')).toEqual(['x']);
  });

  it(`${id} takes a whole folder, links as links, and replaces another folder whole`, async () => {
    const fixture = await openResourceFixture({ files: { 'd/in/x': 'X', 'd/y': 'Y', 'old/z': 'Z' } });
    await symlink('../../away', fixture.path('d/in/link'));
    await chmod(fixture.path('d/in'), 0o710);
    expect(await fixture.code(method, between(fixture, 'd', 'old'))).toBe('ok');
    expect(await fixture.names('old')).toEqual(['in', 'y']);
    expect(await read(fixture, 'old/in/x')).toBe('X');
    expect(await readlink(fixture.path('old/in/link'))).toBe('../../away');
    expect((await stat(fixture.path('old/in'))).mode & 0o777).toBe(0o710);
    expect(await fixture.names()).toEqual(isCopy ? ['d', 'old'] : ['old']);
  });

  it(`${id} does not mix up files and folders, nor put a folder into itself`, async () => {
    const fixture = await openResourceFixture({ files: { a: 'A', 'd/x': 'X' } });
    expect(await fixture.code(method, between(fixture, 'a', 'd'))).toBe(-32010);
    expect(await fixture.code(method, between(fixture, 'd', 'a'))).toBe(-32010);
    expect(await fixture.code(method, between(fixture, 'd', 'd/inner'))).toBe(-32602);
    expect(await fixture.code(method, between(fixture, 'd/x', 'd'))).toBe(-32602);
    expect(await fixture.code(method, between(fixture, 'a', 'a'))).toBe('ok');
    expect(await fixture.names()).toEqual(['a', 'd']);
    expect(await read(fixture, 'a')).toBe('A');
  });

  it(`${id} goes neither out of the folder nor into it`, async () => {
    const fixture = await openResourceFixture({ files: { a: 'A' }, outside: { secret: 'S' } });
    expect(await fixture.code(method, between(fixture, 'a', `${fixture.outside}/a`))).toBe(-32009);
    expect(await fixture.code(method, between(fixture, `${fixture.outside}/secret`, 'b'))).toBe(-32009);
    await symlink(fixture.outside, fixture.path('out'));
    expect(await fixture.code(method, between(fixture, 'a', 'out/a'))).toBe(-32009);
    expect(await fixture.code(method, between(fixture, 'out/secret', 'b'))).toBe(-32009);
    expect(await fixture.code(method, between(fixture, 'a', '.git'))).toBe(-32009);
    expect(await fixture.names()).toEqual(['a', 'out']);
  });
});

describe('resourceCopy', () => {
  it('copies what a link leads to, and nothing that is neither file nor folder', async () => {
    const fixture = await openResourceFixture({ files: { a: 'A', 'd/x': '' } });
    await symlink('a', fixture.path('link'));
    expect(await fixture.code('resourceCopy', between(fixture, 'link', 'b'))).toBe('ok');
    expect((await lstat(fixture.path('b'))).isFile()).toBe(true);
    execFileSync('mkfifo', [fixture.path('d/pipe')]);
    expect(await fixture.code('resourceCopy', between(fixture, 'd', 'e'))).toBe(-32602);
    expect(await fixture.names()).toEqual(['a', 'b', 'd', 'link']);
  });
});

describe('a tree that is copied', () => {
  it('is for its owner only until all of it is there, and then has the modes of the other', async () => {
    const folder = await realPathOf(await tempFolder({ 'from/in/x': 'X' }));
    await chmod(path.join(folder, 'from'), 0o750);
    const make = promises.mkdir;
    const modes: unknown[] = [];
    promises.mkdir = ((place: string, options: { mode?: number }) => {
      modes.push(options.mode);
      return make(place, options);
    }) as typeof make;
    syncBuiltinESMExports();
    onTestFinished(() => {
      promises.mkdir = make;
      syncBuiltinESMExports();
    });
    const held = await pinFolder(folder);
    onTestFinished(() => held.close());
    await copyTree({ folder: held, name: 'from' }, { folder: held, name: 'to' });
    expect(modes).toEqual([0o700, 0o700]);
    expect((await lstat(path.join(folder, 'to'))).mode & 0o777).toBe(0o750);
    expect(await readFile(path.join(folder, 'to/in/x'), 'utf8')).toBe('X');
  });
});

describe('resourceMove', () => {
  it.skipIf(!ELSEWHERE)(
    `[AHP-079] moves a file to another file system, also over what is there${WHY_NOT}`,
    async () => {
      const folder = await tempFolder({ a: 'A', b: 'B', c: 'C' });
      const away = await mkdtemp(path.join(ELSEWHERE ?? '', 'atrium-test-'));
      onTestFinished(() => rm(away, { recursive: true, force: true }));
      // Clients cannot go there, so that both places are opened by hand.
      const files = {
        at: async ({ uri }: { uri: string }, act: (entry: object) => Promise<void>) => {
          const real = fileURLToPath(uri);
          const [held, name] = [await pinFolder(path.dirname(real)), path.basename(real)];
          const stats = await lstat(real, { bigint: true }).catch(() => undefined);
          const entry = { uri, real, held, name, names: [name], stats, assertRemovable: () => {} };
          return act(entry).finally(() => held.close());
        },
      };
      const moved = (from: string, to: string, failIfExists = false) => {
        const [source, destination] = [path.join(folder, from), path.join(away, to)].map(
          (each) => pathToFileURL(each).href,
        );
        return move(files as never, 'desk', { channel: ROOT, source, destination, failIfExists } as never);
      };
      await moved('a', 'a', true);
      await moved('b', 'a');
      await expect(moved('c', 'a', true)).rejects.toThrow('already');
      expect(await readdir(folder)).toEqual(['c']);
      expect(await readdir(away)).toEqual(['a']);
      expect(await readFile(path.join(away, 'a'), 'utf8')).toBe('B');
    },
  );

  it('moves a link itself, also one that leads out', async () => {
    const fixture = await openResourceFixture({ outside: { secret: 'S' } });
    await symlink(`${fixture.outside}/secret`, fixture.path('link'));
    expect(await fixture.code('resourceMove', between(fixture, 'link', 'moved'))).toBe('ok');
    expect(await readlink(fixture.path('moved'))).toBe(`${fixture.outside}/secret`);
  });

  it("leaves a session's folder where it is", async () => {
    const fixture = await openResourceFixture({ files: { x: 'X' } });
    const phone = await fixture.join('phone');
    const other = await tempFolder();
    await phone.session(undefined, { workingDirectory: fixture.file(other) });
    expect(await fixture.code('resourceMove', between(fixture, '.', path.join(other, 'taken')))).toBe(-32009);
    expect(await fixture.code('resourceDelete', { uri: fixture.file('.'), recursive: true })).toBe(-32009);
    expect(await read(fixture, 'x')).toBe('X');
  });
});

describe('resourceDelete', () => {
  it('[AHP-078] removes files and empty folders; others only when that is meant', async () => {
    const fixture = await openResourceFixture({ files: { a: '', 'd/in/x': '' } });
    await mkdir(fixture.path('empty'));
    expect(await fixture.code('resourceDelete', { uri: fixture.file('a') })).toBe('ok');
    expect(await fixture.code('resourceDelete', { uri: fixture.file('empty') })).toBe('ok');
    expect(await fixture.code('resourceDelete', { uri: fixture.file('d') })).toBe(-32602);
    expect(await fixture.names('d/in')).toEqual(['x']);
    expect(await fixture.code('resourceDelete', { uri: fixture.file('d'), recursive: true })).toBe('ok');
    expect(await fixture.names()).toEqual([]);
    expect(await fixture.code('resourceDelete', { uri: fixture.file('a') })).toBe(-32008);
  });

  it('[AHP-078] has removed what another program removed at the same moment, and nothing that it cannot remove', async () => {
    const folder = await tempFolder({ file: '', 'full/x': '' });
    const stats = await lstat(path.join(folder, 'file'), { bigint: true });
    const removed = async (name: string, base = folder) => {
      const held = await pinFolder(base);
      const entry = { stats, held, name, assertRemovable: () => {} };
      const files = { at: (_: unknown, act: (place: typeof entry) => Promise<void>) => act(entry) };
      return remove(files as never, 'desk', { channel: ROOT, uri: 'file:///f' }).finally(() => held.close());
    };
    await expect(removed('gone')).resolves.toBeUndefined();
    await expect(removed('self', '/proc')).rejects.toThrow(/EPERM|EACCES/);
    await expect(removed('file')).resolves.toBeUndefined();
    await expect(lstat(path.join(folder, 'file'))).rejects.toThrow('ENOENT');
  });

  it('[AHP-078] removes a link, not what it leads to', async () => {
    const fixture = await openResourceFixture({ files: { 'd/x': '' }, outside: { 'deep/secret': 'S' } });
    await symlink(fixture.outside, fixture.path('d/out'));
    await symlink('d', fixture.path('near'));
    expect(await fixture.code('resourceDelete', { uri: fixture.file('near'), recursive: true })).toBe('ok');
    expect(await fixture.names()).toEqual(['d']);
    expect(await fixture.code('resourceDelete', { uri: fixture.file('d'), recursive: true })).toBe('ok');
    expect(await readFile(`${fixture.outside}/deep/secret`, 'utf8')).toBe('S');
  });

  it('stops before the data of a host', async () => {
    const fixture = await openResourceFixture({ files: { 'd/data/atrium.lock': '', 'd/data/atrium.db': 'D' } });
    expect(await fixture.code('resourceDelete', { uri: fixture.file('d'), recursive: true })).toBe(-32009);
    expect(await read(fixture, 'd/data/atrium.db')).toBe('D');
    expect(await fixture.code('resourceRead', { uri: fixture.file('d/data/atrium.db') })).toBe(-32009);
  });
});

describe('a deep tree', () => {
  it.each([
    { depth: TREE_MAX_DEPTH, code: 'ok' },
    { depth: TREE_MAX_DEPTH + 1, code: -32602 },
  ])('[REL-042] of $depth folders inside one another is copied and deleted: $code', async ({ depth, code }) => {
    const fixture = await openResourceFixture();
    await mkdir(fixture.path(`a/${'d/'.repeat(depth)}`), { recursive: true });
    expect(await fixture.code('resourceCopy', between(fixture, 'a', 'b'))).toBe(code);
    expect(await fixture.names()).toEqual(code === 'ok' ? ['a', 'b'] : ['a']);
    expect(await fixture.code('resourceDelete', { uri: fixture.file('a'), recursive: true })).toBe(code);
  });
});
