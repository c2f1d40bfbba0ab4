import { isInGit } from '@atrium/core/util/paths.js';
import { afterEach, describe, expect, it } from 'vitest';
import { filePathOf } from '../../src/workspace/files/file-access.js';
import { type Access, type Root, RootTable } from '../../src/workspace/files/roots.js';
import { changeFilter, WATCH_PATTERN_MAX_CHARACTERS, WATCH_PATTERNS_MAX } from '../../src/workspace/files/watches.js';

describe('a file: URI', () => {
  it.each([
    ['file:///a/b', '/a/b'],
    ['FILE:///a/b', '/a/b'],
    ['file:/a/b', '/a/b'],
    ['file://localhost/a/b', '/a/b'],
    ['file:///a/b/', '/a/b'],
    ['file:///a//b', '/a/b'],
    ['file:///a/%C3%A4%20b', '/a/ä b'],
    ['file:///a/../../b', '/b'],
    ['file:///a/%2E./b', '/b'],
    ['file:///a/%252e%252e', '/a/%2e%2e'],
    ['file:///', '/'],
  ])('%s is %s', (uri, path) => {
    expect(filePathOf(uri)).toEqual({ path });
  });

  it.each([
    '',
    'a',
    '/a',
    'file:a',
    'file:../a',
    'http://a/b',
    'file://host/a',
    'file:///a%2Fb',
    'file:///a%00',
    'file:///a?b',
    'file:///a#b',
    'file:///a\\b',
    'file:///%ff',
    'file:///%zz',
    'file:///a\nb',
  ])('%j is none', (uri) => {
    expect(filePathOf(uri)).toHaveProperty('problem');
  });
});

describe('a name that Windows reads as something else', () => {
  const { platform } = process;
  const pretend = (value: string) => Object.defineProperty(process, 'platform', { value });
  afterEach(() => void pretend(platform));
  const named = (name: string) => filePathOf(`file:///a/${name}/b`);

  it.each([
    'con',
    'PRN',
    'aux.txt',
    'nul',
    'com1',
    'lpt9.x',
    'progra~1',
    'a:b',
    'a*',
    'a%3F',
    'a"',
    'a<',
    'a>',
    'a|',
    'a.',
    'a%20',
  ])('%s is refused there, and nowhere else', (name) => {
    expect(named(name)).toHaveProperty('path');
    pretend('win32');
    expect(named(name)).toHaveProperty('problem');
  });

  it.each(['contact', 'xcon', 'com', 'comx', 'a.b', 'a%20b', 'a~b', '~'])('%s is fine', (name) => {
    pretend('win32');
    expect(named(name)).toHaveProperty('path');
  });
});

function root(given: string, access: Access, real = given): Root {
  return { granted: given, real, kind: { rule: () => access } };
}

describe('a table of roots', () => {
  it('knows the outermost entrance, and the most that is allowed', () => {
    const table = new RootTable([root('/home', 'list'), root('/home/me/work', 'write'), root('/srv', 'read')]);
    expect(table.accessTo('/home/me')).toBe('list');
    expect(table.accessTo('/home/me/work/x')).toBe('write');
    expect(table.accessTo('/home/me/workshop')).toBe('list');
    expect(table.accessTo('/srv/x')).toBe('read');
    expect(table.accessTo('/')).toBeUndefined();
    expect(table.enter('/home/me/work/x', 'list')?.root.granted).toBe('/home');
    expect(table.enter('/home/me/work/x', 'read')?.root.granted).toBe('/home/me/work');
    expect(table.enter('/srv/x', 'write')).toBeUndefined();
    expect(table.holdsRoot('/home/me')).toBe(true);
    expect(table.holdsRoot('/home/me/work/x')).toBe(false);
  });

  it('can be entered by the name that was given, and by the real one', () => {
    const table = new RootTable([root('/tmp/work', 'write', '/private/tmp/work')]);
    expect(table.enter('/tmp/work/x', 'write')?.names).toEqual(['x']);
    expect(table.enter('/private/tmp/work/x', 'write')?.names).toEqual(['x']);
    expect(table.accessTo('/tmp/work/x')).toBeUndefined();
  });

  it('has no root of its own inside of another that allows as much, wherever a link there may lead', () => {
    const table = new RootTable([root('/srv/work', 'write'), root('/srv/work/sub', 'write', '/etc')]);
    expect(table.accessTo('/etc/passwd')).toBeUndefined();
    expect(
      new RootTable([root('/srv/work', 'list'), root('/srv/work/sub', 'write', '/data')]).accessTo('/data/x'),
    ).toBe('write');
  });

  it('changes nothing in closed folders', () => {
    const table = new RootTable([root('/srv/work', 'write')], new Set(['/srv/work/fixed']));
    expect(table.accessTo('/srv/work/fixed/x')).toBe('read');
    expect(table.accessTo('/srv/work/other')).toBe('write');
    expect(['/srv/work', '/srv/work/fixed', '/srv/work/other'].map((folder) => table.holdsClosed(folder))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('a filter of changes', () => {
  it('[AHP-245] takes globs, and paths that mean everything in a folder; what is excluded stays out', () => {
    const { isReported, isEntered } = changeFilter({ items: ['out//', 'src/gen/**'] }, { items: ['src', '*.md'] });
    const told = ['src', 'src/a', 'src/b/c', 'x.md', 'deep/x.md'];
    const untold = ['out/x.md', 'src/gen/a', 'x.ts', 'source/a'];
    expect(told.filter(isReported)).toEqual(told);
    expect(untold.filter(isReported)).toEqual([]);
    expect(isEntered('out')).toBe(false);
    expect(isEntered('other')).toBe(true);
  });
});

describe('a filter that cannot be', () => {
  it.each(['excludes', 'includes'])('[REL-098] names the member %s', (member) => {
    const make = (...items: string[]) => {
      const filter = { items };
      return () => (member === 'excludes' ? changeFilter(filter, undefined) : changeFilter(undefined, filter));
    };
    expect(make(...Array(WATCH_PATTERNS_MAX + 1).fill('a'))).toThrow(`/${member} may have`);
    expect(make('x'.repeat(WATCH_PATTERN_MAX_CHARACTERS + 1))).toThrow(`/${member}: a pattern may have`);
    expect(make('{a,b}'.repeat(12))).toThrow(new RegExp(`/${member}: The pattern has more than \\d+ alternatives`));
    expect(make(...Array(WATCH_PATTERNS_MAX).fill('x'.repeat(WATCH_PATTERN_MAX_CHARACTERS)))).not.toThrow();
  });
});

describe("Git's folder", () => {
  it.each(['.git', '.GIT', '.Git', '.git.', '.git ', '.g\u200cit', 'git~1', '.git::$INDEX_ALLOCATION', '.ｇｉｔ'])(
    'is also %j',
    (name) => {
      expect(isInGit(['a', name, 'b'])).toBe(true);
    },
  );

  it.each(['git', '.github', '.gitignore', 'a.git'])('is not %j', (name) => {
    expect(isInGit([name])).toBe(false);
  });
});
