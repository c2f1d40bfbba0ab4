import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ClientRoots, type DeclaredDirectory, Grants, realPathOf } from '../../src/workspace/files/client-roots.js';
import { type Access, type Root, RootTable, suffices } from '../../src/workspace/files/roots.js';
import { tempFolder } from '../support/temp-folder.js';

const all = (access: Access) => ({ rule: () => access });
const root = (given: string, access: Access, more: Partial<Root> = {}): Root => ({
  granted: given,
  real: given,
  kind: all(access),
  ...more,
});

describe('access', () => {
  it('of one kind holds the lesser ones', () => {
    const kinds: Access[] = ['list', 'read', 'write'];
    expect(kinds.map((given) => kinds.map((wanted) => suffices(given, wanted)))).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
    expect(suffices(undefined, 'list')).toBe(false);
  });
});

describe('a table of roots', () => {
  it('is entered by the outermost root that allows it, by either of its paths', () => {
    const outer = root('/a', 'list');
    const inner = root('/a/b', 'write', { real: '/real' });
    const table = new RootTable([inner, outer]);
    expect(table.enter('/a/b/c', 'list')).toEqual({ root: outer, names: ['b', 'c'] });
    expect(table.enter('/a/b/c', 'read')).toEqual({ root: inner, names: ['c'] });
    expect(table.enter('/real', 'write')).toEqual({ root: inner, names: [] });
    expect(table.enter('/ab', 'list')).toBeUndefined();
  });

  it('allows at a real path the most that a root allows, and no change where it is closed', () => {
    const table = new RootTable([root('/a', 'list'), root('/a/b', 'write'), root('/c', 'read')], new Set(['/a/b/x']));
    expect(['/a/z', '/a/b/c', '/a/b/x', '/a/b/x/y', '/c', '/d'].map((real) => table.accessTo(real))).toEqual([
      ...['list', 'write', 'read', 'read', 'read', undefined],
    ]);
  });

  it('has no root of its own in another that allows as much, unless a person named it', () => {
    const linked = { real: '/elsewhere' };
    expect(new RootTable([root('/a', 'write'), root('/a/b', 'write', linked)]).accessTo('/elsewhere')).toBeUndefined();
    expect(new RootTable([root('/a', 'write'), root('/a/b', 'read', linked)]).accessTo('/elsewhere')).toBeUndefined();
    expect(new RootTable([root('/a', 'read'), root('/a/b', 'write', linked)]).accessTo('/elsewhere')).toBe('write');
    const fixed = root('/a/b', 'write', { ...linked, isFixed: true });
    expect(new RootTable([root('/a', 'write'), fixed]).accessTo('/elsewhere')).toBe('write');
    const silent: Root = {
      ...root('/a/b', 'write', linked),
      kind: { rule: (names) => (names[0] ? 'read' : undefined) },
    };
    expect(new RootTable([root('/a', 'write'), silent]).accessTo('/elsewhere/x')).toBe('read');
    // Two roots at one place do not hide each other.
    const twice = new RootTable([root('/a', 'read'), root('/a', 'write')]);
    expect(twice.accessTo('/a')).toBe('write');
  });

  it('knows the directory of customizations that a path lies in', () => {
    const kind = {
      rule: all('write').rule,
      directory: (names: readonly string[]) => (names[0] === 'd' ? 1 : undefined),
    };
    const table = new RootTable([root('/a', 'read'), { granted: '/a/b', real: '/r', kind }]);
    expect(['/a/b/d/e/f', '/r/d', '/a/b/x', '/a/d'].map((file) => table.directoryOf(file))).toEqual([
      ...['/r/d', '/r/d', undefined, undefined],
    ]);
  });

  it('knows what holds a root, and what holds something closed', () => {
    const kind = { rule: all('write').rule, holdsClosed: (names: readonly string[]) => names.at(-1) === 'h' };
    const table = new RootTable([root('/a', 'read'), { granted: '/b', real: '/b', kind }], new Set(['/a/closed']));
    expect(['/', '/a', '/a/x', '/ab'].map((real) => table.holdsRoot(real))).toEqual([true, true, false, false]);
    expect(['/a', '/a/closed', '/a/closed/x', '/b/h', '/b/i', '/c'].map((real) => table.holdsClosed(real))).toEqual([
      ...[true, true, false, true, false, false],
    ]);
  });
});

describe('grants', () => {
  it('hold for one client, while their session is there', () => {
    const there = new Set(['s', 't']);
    const grants = new Grants((session) => there.has(session));
    grants.add('c', { requested: '/g', real: '/r', access: 'write', session: 's' });
    grants.add('c', { requested: '/h', real: '/h', access: 'read', session: 't' });
    expect(grants.rootsOf('d')).toEqual([]);
    expect(grants.rootsOf('c')).toMatchObject([{ granted: '/g', real: '/r', isFixed: true }, { granted: '/h' }]);
    expect(grants.rootsOf('c').map(({ kind }) => [kind.rule([]), kind.rule(['.git', 'x'])])).toEqual([
      ['write', 'read'],
      ['read', 'read'],
    ]);
    there.delete('s');
    expect(grants.rootsOf('c').map(({ granted: given }) => given)).toEqual(['/h']);
    // A session of the same name is another one.
    there.add('s');
    expect(grants.rootsOf('c')).toHaveLength(1);
    there.delete('t');
    expect(grants.rootsOf('c')).toEqual([]);
    there.add('t');
    expect(grants.rootsOf('c')).toEqual([]);
  });

  it('[REL-098] are 64 for each client: one more, and the oldest ends', () => {
    const grants = new Grants(() => true);
    for (let count = 0; count <= 64; count += 1)
      grants.add('c', { requested: `/${count}`, real: `/${count}`, access: 'read', session: 's' });
    expect(grants.rootsOf('c').map(({ granted: given }) => given)).toEqual(
      Array.from({ length: 64 }, (_, n) => `/${n + 1}`),
    );
  });

  it('[DEV-006] [DEV-007] end with the device that the client came with, and when the id of the client is given away', () => {
    const grants = new Grants(() => true);
    const grant = (requested: string, credential?: string) =>
      ({ requested, real: requested, access: 'read', session: 's', ...(credential && { credential }) }) as const;
    grants.add('c', grant('/phone', 'phone'));
    grants.add('c', grant('/tablet', 'tablet'));
    grants.add('c', grant('/local'));
    grants.add('d', grant('/only', 'phone'));
    grants.add('e', grant('/other', 'tablet'));
    const given = (clientId: string) => grants.rootsOf(clientId).map((each) => each.granted);
    grants.endOfCredential('phone');
    expect(['c', 'd', 'e'].map(given)).toEqual([['/tablet', '/local'], [], ['/other']]);
    grants.endOfClient('c');
    expect(['c', 'd', 'e'].map(given)).toEqual([[], [], ['/other']]);
  });
});

describe('the roots of a client', () => {
  async function setUp(
    declared: DeclaredDirectory[] = [],
    bounds?: (at: (name: string) => string, clientId: string) => readonly string[] | undefined,
  ) {
    const folder = await realPathOf(await tempFolder({ 'work/a': '', 'browse/b': '', 'foreign/c': '', 'own/d': '' }));
    const at = (name: string) => path.join(folder, name);
    const state = { now: 0, folders: new Set([at('work')]), declared };
    const grants = new Grants(() => true);
    const workingFolders = vi.fn(() => state.folders);
    const roots = new ClientRoots({
      clock: { now: () => state.now, after: () => () => {} },
      grants,
      workingFolders,
      declared: () => state.declared,
      browsed: [at('browse')],
      userFolder: at('user'),
      ...(bounds && { foldersFor: (clientId: string) => bounds(at, clientId) }),
    });
    return { at, state, grants, roots };
  }

  it('are working folders, folders to browse, and what agents declare as writable', async () => {
    const { at, state, roots } = await setUp();
    state.declared = [
      { folder: at('own'), writable: true },
      { folder: at('foreign'), writable: false },
      { folder: at('work/locked'), writable: false },
    ];
    const table = await roots.tableFor('c');
    expect(table.accessTo(at('work/a'))).toBe('write');
    expect(table.accessTo(at('work/.git/config'))).toBe('read');
    expect(table.accessTo(at('work/locked/x'))).toBe('read');
    expect(table.accessTo(at('browse/b'))).toBe('list');
    expect(table.accessTo(at('browse/.ssh/id'))).toBeUndefined();
    expect(table.accessTo(at('own/d'))).toBe('write');
    expect(table.directoryOf(at('own/d'))).toBe(at('own'));
    expect(table.accessTo(at('foreign/c'))).toBeUndefined();
    expect(
      ['work/.agents/skills/x', 'work/inner/.agents/skills/x', 'work/.Agents/skills/x', 'work/a'].map((file) =>
        table.directoryOf(at(file)),
      ),
    ).toEqual([...['work/.agents/skills', 'work/inner/.agents/skills', 'work/.Agents/skills'].map(at), undefined]);
  });

  it('are more for a client with grants', async () => {
    const { at, grants, roots } = await setUp([]);
    grants.add('c', { requested: at('foreign'), real: at('foreign'), access: 'read', session: 's' });
    expect((await roots.tableFor('c')).accessTo(at('foreign/c'))).toBe('read');
    expect((await roots.tableFor('c')).accessTo(at('work/a'))).toBe('write');
    expect((await roots.tableFor('d')).accessTo(at('foreign/c'))).toBeUndefined();
  });

  it('[DEV-021] are those inside its bounds, for a client that has them, with grants or without', async () => {
    const { at, grants, roots } = await setUp([], (place, clientId) => {
      if (clientId === 'free') return undefined;
      return clientId === 'none' ? [] : [place('browse'), place('foreign')];
    });
    for (const name of ['foreign', 'own'])
      grants.add('bound', { requested: at(name), real: at(name), access: 'read', session: 's' });
    const seen = async (clientId: string) => {
      const table = await roots.tableFor(clientId);
      return ['work/a', 'browse/b', 'foreign/c', 'own/d'].map((name) => table.accessTo(at(name)));
    };
    expect(await seen('free')).toEqual(['write', 'list', undefined, undefined]);
    expect(await seen('bound')).toEqual([undefined, 'list', 'read', undefined]);
    expect(await seen('none')).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('are looked up anew after a second, when the clock went back, and when folders or declarations change', async () => {
    const { at, state, roots } = await setUp();
    const first = await roots.tableFor('c');
    state.now = 999;
    expect(await roots.tableFor('c')).toBe(first);
    state.now = 1_000;
    const second = await roots.tableFor('c');
    expect(second).not.toBe(first);
    state.now = 0;
    const third = await roots.tableFor('c');
    expect(third).not.toBe(second);
    state.folders = new Set([at('browse')]);
    const fourth = await roots.tableFor('c');
    expect(fourth.accessTo(at('browse/b'))).toBe('write');
    for (const writable of [false, true]) {
      state.declared = [{ folder: at('own'), writable }];
      expect((await roots.tableFor('c')).accessTo(at('own/d'))).toBe(writable ? 'write' : undefined);
    }
  });

  it('make the folder of the user when something is first saved in it, and not before', async () => {
    const { at, roots } = await setUp();
    const saved = at('user/skills/x/SKILL.md');
    await roots.prepare(saved, 'read');
    await roots.prepare(at('user/other'), 'write');
    await roots.prepare(at('work/a'), 'write');
    expect(existsSync(at('user'))).toBe(false);
    await roots.prepare(saved, 'write');
    expect(existsSync(at('user'))).toBe(true);
    const table = await roots.tableFor('c');
    expect(table.directoryOf(saved)).toBe(at('user/skills'));
    expect(['user/skills/x', 'user/skills', 'user', 'user/other'].map((name) => table.accessTo(at(name)))).toEqual([
      ...['write', 'read', undefined, undefined],
    ]);
  });
});

describe('where a path really leads', () => {
  it('is known also when its end is not there yet', async () => {
    const folder = await realPathOf(await tempFolder());
    await mkdir(path.join(folder, 'real'));
    await symlink(path.join(folder, 'real'), path.join(folder, 'link'));
    expect(await realPathOf(path.join(folder, 'link', 'a', 'b'))).toBe(path.join(folder, 'real', 'a', 'b'));
    expect(await realPathOf('/')).toBe('/');
  });
});
