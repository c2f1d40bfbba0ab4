/** A watch of a tree whose watchers a test plays: what is told of what was touched. */
import { readdirSync, readlinkSync } from 'node:fs';
import promises, { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import type { watchFolder } from '@atrium/core/util/folders.js';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { realPathOf } from '../../src/workspace/files/client-roots.js';
import { pinFolder, temporaryName } from '../../src/workspace/files/pinned-folder.js';
import {
  FolderBudget,
  knownIn,
  TreeWatch,
  WATCH_BATCH_MAX_CHANGES,
  WATCH_BATCH_MS,
} from '../../src/workspace/files/tree-watch.js';
import { tempFolder } from '../support/temp-folder.js';

type Listen = (name: string | undefined) => void;
const watchers = new Map<string, Set<Listen>>();
/** Folders that the system refuses to watch, and why. */
const failing = new Map<string, string>();

function watchPlayed(folder: string, listen: Listen) {
  const real = folder.startsWith('/proc/') ? readlinkSync(folder) : folder;
  const code = failing.get(real);
  if (code !== undefined) throw Object.assign(new Error(code), { code });
  const listeners = watchers.get(real) ?? new Set();
  watchers.set(real, listeners.add(listen));
  return { close: () => void listeners.delete(listen) };
}

beforeEach(() => {
  watchers.clear();
  failing.clear();
});

interface Options {
  readonly name?: string;
  readonly isFolder?: boolean;
  readonly recursive?: boolean;
  readonly excluded?: readonly string[];
  readonly budget?: FolderBudget;
  readonly foldersMax?: number;
  /** Whether a change of the root itself passes the filter. */
  readonly isRootTold?: boolean;
}

async function watching(files: Record<string, string>, options: Options = {}) {
  const { name = '.', isFolder = true, recursive = true, excluded = [], budget = new FolderBudget() } = options;
  const above = await realPathOf(
    await tempFolder(Object.fromEntries(Object.entries(files).map(([k, v]) => [`r/${k}`, v]))),
  );
  await mkdir(path.join(above, 'r'), { recursive: true });
  const folder = path.join(above, 'r');
  const at = (inner: string) => path.join(folder, inner);
  const batches: string[][] = [];
  const failed = vi.fn();
  const timers: { ms: number; run: () => void }[] = [];
  const watch = new TreeWatch({
    clock: {
      now: () => 0,
      after: (ms, run) => {
        const timer = { ms, run };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), 1);
      },
    },
    root: path.join(folder, name),
    isFolder,
    recursive,
    filter: {
      isEntered: (inner) => !excluded.includes(inner),
      isReported: (inner) => (inner === '' ? options.isRootTold !== false : !inner.startsWith('untold')),
    },
    budget,
    ...(options.foldersMax !== undefined && { foldersMax: options.foldersMax }),
    watch: watchPlayed as unknown as typeof watchFolder,
    changed: (changes) =>
      batches.push(changes.map(({ path: file, type }) => `${type} ${path.relative(folder, file) || '.'}`).sort()),
    failed,
  });
  onTestFinished(() => watch.close());
  const touch = (inner: string, changed: string | undefined) => {
    for (const listen of [...(watchers.get(path.join(folder, inner)) ?? [])]) listen(changed);
  };
  /** The next batch; what was touched is told by then. */
  const told = async () => {
    const count = batches.length;
    timers.shift()?.run();
    await vi.waitFor(() => expect(batches.length).toBeGreaterThan(count), { timeout: 15_000, interval: 1 });
    return batches.at(-1);
  };
  const watched = () =>
    [...watchers].flatMap(([real, listeners]) => (listeners.size > 0 ? path.relative(folder, real) || '.' : [])).sort();
  return { watch, folder, above, at, batches, failed, timers, touch, told, watched, budget };
}

describe('a watch of a tree', () => {
  it('[AHP-244] watches every folder that it enters, and the name of its root', async () => {
    const { watch, watched } = await watching({ 'a/b/c': '', 'd/e': '', file: '' }, { excluded: ['d'] });
    await watch.start();
    expect(watched()).toEqual(['.', '..', 'a', 'a/b']);
    watch.close();
    expect(watched()).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')(
    'holds no folder open once it has looked at it (skipped: only Linux lists what is open)',
    async () => {
      const { watch, above, at, touch, told } = await watching({ 'a/b/c': '', file: '' });
      const open = () =>
        readdirSync('/proc/self/fd').flatMap((fd) => {
          try {
            const place = readlinkSync(`/proc/self/fd/${fd}`);
            return place.startsWith(above) ? [place] : [];
          } catch {
            return [];
          }
        });
      await watch.start();
      expect(open()).toEqual([]);
      await mkdir(at('new/inner'), { recursive: true });
      touch('.', 'new');
      expect(await told()).toEqual(['added new', 'added new/inner']);
      expect(open()).toEqual([]);
    },
  );

  it('[AHP-244] without its depths watches one folder', async () => {
    const { watch, watched } = await watching({ 'a/b': '' }, { recursive: false });
    await watch.start();
    expect(watched()).toEqual(['.', '..']);
  });

  it.each([
    ['without its depths', { recursive: false }],
    ['that is left out', { excluded: ['new'] }],
  ])('[AHP-244] tells of a new folder %s, and does not enter it', async (_, options) => {
    const { watch, at, touch, told, watched } = await watching({ file: '' }, options);
    await watch.start();
    await mkdir(at('new/inner'), { recursive: true });
    touch('.', 'new');
    expect(await told()).toEqual(['added new']);
    expect(watched()).toEqual(['.', '..']);
  });

  it('[AHP-244] ends with an error that is no change of the tree', async () => {
    const { watch, touch, timers, failed } = await watching({ 'a/b': '' });
    await watch.start();
    const { open } = promises;
    promises.open = async () => {
      throw Object.assign(new Error('broken'), { code: 'EIO' });
    };
    syncBuiltinESMExports();
    onTestFinished(() => {
      promises.open = open;
      syncBuiltinESMExports();
    });
    touch('a', 'b');
    timers.shift()?.run();
    await vi.waitFor(() => expect(failed).toHaveBeenCalled(), { timeout: 15_000, interval: 1 });
    expect(failed.mock.calls[0]?.[0]).toMatchObject({ code: 'EIO' });
  });

  it('[AHP-244] tells what was added, updated and deleted, in one batch', async () => {
    const { watch, at, touch, told, timers } = await watching({ old: '', gone: '', 'a/b': '' });
    await watch.start();
    await writeFile(at('new'), '');
    await rm(at('gone'));
    for (const name of ['new', 'old', 'gone', 'never']) touch('.', name);
    touch('a', 'b');
    expect(timers.map(({ ms }) => ms)).toEqual([WATCH_BATCH_MS]);
    expect(await told()).toEqual(['added new', 'deleted gone', 'updated a/b', 'updated old']);
    await writeFile(at('gone'), '');
    touch('.', 'gone');
    expect(await told()).toEqual(['added gone']);
    await vi.waitFor(() => expect(timers).toEqual([]), { timeout: 10_000, interval: 1 });
  });

  it('[AHP-244] tells of all in a folder that comes or goes, and watches it while it is there', async () => {
    const { watch, at, touch, told, watched, budget } = await watching({ 'a/b/c': '' });
    await watch.start();
    await mkdir(at('x/y'), { recursive: true });
    await writeFile(at('x/y/z'), '');
    await rm(at('a'), { recursive: true });
    touch('.', 'x');
    touch('.', 'a');
    expect(await told()).toEqual([
      ...['added x', 'added x/y', 'added x/y/z', 'deleted a', 'deleted a/b', 'deleted a/b/c'],
    ]);
    expect(watched()).toEqual(['.', '..', 'x', 'x/y']);
    await rm(at('x'), { recursive: true });
    await writeFile(at('x'), '');
    touch('.', 'x');
    expect(await told()).toEqual(['deleted x/y', 'deleted x/y/z', 'updated x']);
    expect(budget.isSpent).toBe(false);
  });

  it('[AHP-244] tells of a folder that another has replaced: what was in it, and what is now', async () => {
    const { watch, at, touch, told } = await watching({ 'a/same': '', 'a/old': '', 'b/same': '', 'b/new': '' });
    await watch.start();
    await rm(at('a'), { recursive: true });
    await rename(at('b'), at('a'));
    touch('.', 'a');
    expect(await told()).toEqual(['added a/new', 'deleted a/old', 'updated a', 'updated a/same']);
  });

  it('[AHP-244] looks at a whole folder when it does not know what was touched', async () => {
    const { watch, at, touch, told } = await watching({ gone: '', same: '' });
    await watch.start();
    await rm(at('gone'));
    await writeFile(at('new'), '');
    await writeFile(at(temporaryName()), '');
    touch('.', 'same');
    touch('.', undefined);
    touch('.', 'same');
    expect(await told()).toEqual(['added new', 'deleted gone', 'updated same']);
  });

  it('[AHP-246] tells nothing of unfinished files, and nothing that came and went', async () => {
    const { watch, at, touch, told, timers } = await watching({ file: '' });
    await watch.start();
    touch('.', temporaryName());
    expect(timers).toEqual([]);
    touch('.', 'never');
    touch('.', 'untold');
    await writeFile(at('untold'), '');
    touch('.', 'file');
    expect(await told()).toEqual(['updated file']);
  });

  it('[AHP-246] tells more changes than the limit as one', async () => {
    const { watch, at, touch, told } = await watching({ kept: '' });
    await watch.start();
    const names = Array.from({ length: WATCH_BATCH_MAX_CHANGES }, (_, n) => `f${n}`);
    await Promise.all(names.map((name) => writeFile(at(name), '')));
    for (const name of names) touch('.', name);
    expect(await told()).toHaveLength(WATCH_BATCH_MAX_CHANGES);
    touch('.', undefined);
    expect(await told()).toEqual(['updated .']);
  });

  it('[AHP-244] tells that its root is gone whatever the filter says', async () => {
    const { watch, touch, told, folder } = await watching({ 'a.txt': '' }, { isRootTold: false });
    await watch.start();
    await rm(folder, { recursive: true });
    touch('..', 'r');
    expect(await told()).toContain('deleted .');
  });

  it('[AHP-244] sees its root go and come back', async () => {
    const { watch, folder, above, touch, told, at, watched } = await watching({ file: '' });
    await watch.start();
    await rename(folder, path.join(above, 'away'));
    touch('..', 'other');
    touch('..', 'r');
    expect(await told()).toEqual(['deleted .', 'deleted file']);
    await mkdir(at('new'), { recursive: true });
    touch('..', undefined);
    expect(await told()).toEqual(['added .', 'added new']);
    expect(watched()).toEqual(['.', '..', 'new']);
  });

  it('[AHP-244] sees that its root is gone also when only what is in it was touched', async () => {
    const { watch, folder, touch, told } = await watching({ file: '' });
    await watch.start();
    await rm(folder, { recursive: true });
    touch('.', 'file');
    expect(await told()).toEqual(['deleted .', 'deleted file']);
  });

  it('does not look behind a link that has taken the place of a folder', async () => {
    const { watch, at, above, touch, told } = await watching({ 'a/b': '', file: '' });
    await watch.start();
    await mkdir(path.join(above, 'secret'));
    await writeFile(path.join(above, 'secret', 'b'), '');
    await rm(at('a'), { recursive: true });
    await symlink(path.join(above, 'secret'), at('a'));
    touch('a', 'b');
    touch('.', 'file');
    expect(await told()).toEqual(['updated file']);
    touch('.', 'a');
    expect(await told()).toEqual(['deleted a/b', 'updated a']);
  });

  it('is silent once it is closed', async () => {
    const { watch, touch, timers, batches, failed } = await watching({ file: '' });
    await watch.start();
    touch('.', 'file');
    const [timer] = timers;
    watch.close();
    expect(timers).toEqual([]);
    timer?.run();
    await new Promise((resolve) => setImmediate(resolve));
    expect([batches, failed.mock.calls]).toEqual([[], []]);
  });

  it('collects what is touched while it looks for the next batch', async () => {
    const { watch, touch, told, timers } = await watching({ one: '', two: '' });
    await watch.start();
    touch('.', 'one');
    const first = told();
    touch('.', 'two');
    expect(await first).toEqual(['updated one']);
    expect(timers.map(({ ms }) => ms)).toEqual([WATCH_BATCH_MS]);
    expect(await told()).toEqual(['updated two']);
  });
});

describe('a watch of a file', () => {
  it('[AHP-244] tells of that file alone', async () => {
    const { watch, at, touch, told, watched } = await watching(
      { file: '', other: '' },
      { name: 'file', isFolder: false },
    );
    await watch.start();
    expect(watched()).toEqual(['.']);
    touch('.', 'other');
    touch('.', 'file');
    expect(await told()).toEqual(['updated file']);
    await rm(at('file'));
    touch('.', 'file');
    expect(await told()).toEqual(['deleted file']);
    // A folder of that name is not what was asked for: nobody looks into it.
    await mkdir(at('file'));
    await writeFile(at('file/inner'), '');
    touch('.', 'file');
    expect(await told()).toEqual(['added file']);
  });

  it('fails when the folder above cannot be watched; a folder can do without', async () => {
    const file = await watching({ file: '' }, { name: 'file', isFolder: false });
    failing.set(file.folder, 'EACCES');
    await expect(file.watch.start()).rejects.toMatchObject({ code: 'EACCES' });
    const folder = await watching({ file: '' });
    failing.set(folder.above, 'EACCES');
    await folder.watch.start();
    expect(folder.watched()).toEqual(['.']);
  });
});

describe('the limits of watches', () => {
  it.each(['ENOSPC', 'EMFILE'])('[REL-098] of the system are told: %s', async (code) => {
    const { watch, folder } = await watching({ file: '' });
    failing.set(folder, code);
    await expect(watch.start()).rejects.toThrow('no more folders can be watched');
  });

  it('other errors of the system are told as they are', async () => {
    const { watch, folder } = await watching({ file: '' });
    failing.set(folder, 'EIO');
    await expect(watch.start()).rejects.toMatchObject({ code: 'EIO' });
  });

  it('[REL-098] of the host hold for all watches, and are given back', async () => {
    const budget = new FolderBudget(2);
    const first = await watching({ 'a/b': '' }, { budget });
    await first.watch.start();
    expect(budget.isSpent).toBe(true);
    const second = await watching({ file: '' }, { budget });
    await expect(second.watch.start()).rejects.toThrow('no more folders can be watched');
    first.watch.close();
    expect(budget.isSpent).toBe(false);
    await second.watch.start();
  });

  it('[REL-098] that are reached later end the watch with an error', async () => {
    const { watch, at, touch, failed, timers } = await watching({ 'a/b': '' }, { budget: new FolderBudget(2) });
    await watch.start();
    await mkdir(at('c'));
    touch('.', 'c');
    timers.shift()?.run();
    await vi.waitFor(() => expect(failed).toHaveBeenCalledOnce(), 10_000);
  });

  it('[REL-098] of one watch hold for its folders', async () => {
    const files = { 'a/x': '', 'b/x': '' };
    const enough = await watching(files, { foldersMax: 3 });
    await enough.watch.start();
    const tooFew = await watching(files, { foldersMax: 2 });
    await expect(tooFew.watch.start()).rejects.toThrow('a watch may have at most 2 folders');
  });

  it('[AHP-244] tell a file from a folder that takes its name, and a folder from a file', async () => {
    const { watch, at, touch, told } = await watching({ a: '', 'b/c': '' });
    await watch.start();
    await rm(at('a'));
    await mkdir(at('a'));
    await writeFile(at('a/in'), '');
    touch('.', 'a');
    expect(await told()).toEqual(['added a/in', 'updated a']);
    await rm(at('b'), { recursive: true });
    await writeFile(at('b'), '');
    touch('.', 'b');
    expect(await told()).toEqual(['deleted b/c', 'updated b']);
  });

  it('[REL-098] hold for the names in a folder; unfinished files do not count', async () => {
    const folder = await realPathOf(await tempFolder({ a: '', 'b/c': '', [temporaryName()]: '' }));
    const held = await pinFolder(folder);
    const known = await knownIn(held, 2);
    expect([...known].map(([name, { isFolder }]) => [name, isFolder]).sort()).toEqual([
      ['a', false],
      ['b', true],
    ]);
    await expect(knownIn(held, 1)).rejects.toThrow('a watch may have at most 1 files');
    await held.close();
  });
});
