import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataFolderFrom, defaultDataFolder, makeFolder, makePrivate } from '../src/data-folder.js';

const isWindows = process.platform === 'win32';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'atrium-data-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the usual place for data', () => {
  it.each<[NodeJS.Platform, string, Record<string, string>, string]>([
    ['linux', '/home/me', {}, '/home/me/.local/share/atrium'],
    ['linux', '/home/me', { XDG_DATA_HOME: '/data' }, '/data/atrium'],
    ['linux', '/home/me', { XDG_DATA_HOME: 'relative' }, '/home/me/.local/share/atrium'],
    ['darwin', '/Users/me', {}, '/Users/me/Library/Application Support/atrium'],
    ['win32', 'C:\\Users\\me', {}, 'C:\\Users\\me\\AppData\\Local\\atrium'],
    ['win32', 'C:\\Users\\me', { LOCALAPPDATA: 'D:\\Local' }, 'D:\\Local\\atrium'],
  ])('%s, %s, %o: %s', (platform, home, env, expected) => {
    expect(defaultDataFolder({ platform, home, env })).toBe(expected);
  });
});

it('an empty name is no data folder', () => {
  expect(() => dataFolderFrom('', {})).toThrow(/--data-dir: name a folder/);
  expect(() => dataFolderFrom(' ', {})).toThrow(/name a folder/);
});

describe.skipIf(isWindows)('the data folder', () => {
  const modeOf = async (name: string) => (await stat(name)).mode & 0o777;

  it('is made for its owner only, with its parents', async () => {
    const deep = path.join(folder, 'a', 'b');
    await makePrivate(deep);
    expect(await modeOf(deep)).toBe(0o700);
  });

  it.each([
    ['/proc/nope/deeper', /cannot be the data folder: .*; name another with --data-dir/],
    ['/dev/null/x', /part of its path is a file/],
  ])('%s is refused at once, in words', async (place, words) => {
    await expect(makePrivate(place)).rejects.toThrow(words);
    const use = { what: 'the wire log', option: '--wire-log' };
    await expect(makeFolder(place, use)).rejects.toThrow(/cannot be the wire log: .*; name another with --wire-log/);
  });

  it('is made once by those who make it at the same time', async () => {
    const deep = path.join(folder, 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 8 }, () => makePrivate(deep)));
    expect(await modeOf(deep)).toBe(0o700);
  });

  it('is closed to others when it is empty or was ours before', async () => {
    const open = path.join(folder, 'open');
    await mkdir(open, { mode: 0o755 });
    await makePrivate(open);
    expect(await modeOf(open)).toBe(0o700);

    const used = path.join(folder, 'used');
    await mkdir(path.join(used, 'instances'), { recursive: true, mode: 0o755 });
    await makePrivate(used);
    expect(await modeOf(used)).toBe(0o700);
  });

  it('is refused, unchanged, when it is open to others and full of other things', async () => {
    const home = path.join(folder, 'home');
    await mkdir(path.join(home, 'Documents'), { recursive: true, mode: 0o755 });
    await expect(makePrivate(home)).rejects.toThrow(/choose an empty folder, or run chmod 700/);
    expect(await modeOf(home)).toBe(0o755);
  });
});
