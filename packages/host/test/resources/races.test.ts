/** Somebody exchanges folders and links all the time, while files are asked for by the same path. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, rename, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { copy, copyTree } from '../../src/workspace/files/copy-move-delete.js';
import { pinFolder } from '../../src/workspace/files/pinned-folder.js';
import { openResourceFixture, type ResourceFixture } from '../support/resource-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

/**
 * In a process of its own, so that it really happens at the same time: renames over one another, as fast as it can. What
 * the host made meanwhile in the place of the one that was away is put aside, or the next exchange would fail, and all after it.
 */
const SWAPPER = `
const { renameSync } = require('node:fs');
const [a, b] = process.argv.slice(1);
let swaps = 0;
let aside = 0;
process.on('message', () => process.send(swaps));
function put(from, to) {
  for (;;) {
    try { return renameSync(from, to); } catch { try { renameSync(to, a + '.aside-' + aside++); } catch {} }
  }
}
function some() {
  for (let round = 0; round < 200; round++) { put(a, a + '.t'); put(b, a); put(a + '.t', b); swaps++; }
  setImmediate(some);
}
some();
process.send('ready');
`;

/** `npm run prove -- races` has more. */
const ROUNDS = Number(process.env.ATRIUM_RACE_ROUNDS || 40);
const SWAPS_MIN = 100;

class Swapper {
  readonly #child: ChildProcess;

  constructor(a: string, b: string) {
    this.#child = spawn(process.execPath, ['-e', SWAPPER, a, b], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  async started(): Promise<void> {
    await once(this.#child, 'message');
  }

  /** How often it has exchanged the two. */
  async swaps(): Promise<number> {
    const answer = once(this.#child, 'message');
    this.#child.send('how often?');
    return Number((await answer)[0]);
  }

  /** Repeats until there was a race: on a busy machine the other process may not have run yet when all rounds are over. */
  async race(round: (index: number) => Promise<void>, isEnough = () => true): Promise<void> {
    for (let index = 0; index < ROUNDS || (await this.swaps()) <= SWAPS_MIN || !isEnough(); index++) await round(index);
    this.#child.kill('SIGKILL');
    if (this.#child.signalCode === null) await once(this.#child, 'exit');
  }
}

async function openRaced(): Promise<ResourceFixture> {
  const fixture = await openResourceFixture({
    files: { 'd/secret.txt': 'INSIDE', 'own.txt': 'OWN' },
    outside: { 'secret.txt': 'OUTSIDE', 'only-outside.txt': 'OUTSIDE' },
  });
  await symlink(fixture.outside, fixture.path('e'));
  return fixture;
}

describe('a folder that is exchanged for a link between check and use', { timeout: 60_000 + ROUNDS * 1_000 }, () => {
  it('[REL-042] never lets anything outside be read, listed or resolved', async () => {
    const fixture = await openRaced();
    const swapper = new Swapper(fixture.path('d'), fixture.path('e'));
    await swapper.started();
    const seen = new Set<string>();
    const round = async () => {
      const uri = fixture.file('d/secret.txt');
      const read = await fixture.ask('resourceRead', { uri });
      seen.add(read.error ? String(read.error.code) : String((read.result as { data: string }).data));
      const listed = await fixture.ask('resourceList', { uri: fixture.file('d') });
      expect(JSON.stringify(listed)).not.toContain('only-outside');
      const found = await fixture.ask('resourceResolve', { uri: fixture.file('d/only-outside.txt') });
      expect([-32008, -32009]).toContain(found.error?.code);
    };
    await swapper.race(round, () => seen.size > 1);
    expect([...seen].filter((what) => !['INSIDE', '-32008', '-32009'].includes(what))).toEqual([]);
  });

  it('[REL-042] never lets anything be written, made, moved or deleted outside', async () => {
    const fixture = await openRaced();
    const swapper = new Swapper(fixture.path('d'), fixture.path('e'));
    await swapper.started();
    await swapper.race(async (round) => {
      const text = { data: 'WRITTEN', encoding: 'utf-8' };
      await fixture.ask('resourceWrite', { uri: fixture.file(`d/new-${round}`), ...text });
      await fixture.ask('resourceWrite', { uri: fixture.file('d/secret.txt'), ...text, mode: 'append' });
      await fixture.ask('resourceMkdir', { uri: fixture.file(`d/made-${round}/inner`) });
      await fixture.ask('resourceCopy', {
        source: fixture.file('own.txt'),
        destination: fixture.file(`d/copy-${round}`),
      });
      await fixture.ask('resourceDelete', { uri: fixture.file('d/only-outside.txt') });
      await fixture.ask('resourceMove', {
        source: fixture.file('d/secret.txt'),
        destination: fixture.file('taken.txt'),
      });
      await fixture.ask('resourceMove', {
        source: fixture.file('taken.txt'),
        destination: fixture.file('d/secret.txt'),
      });
    });
    expect((await readdir(fixture.outside)).sort()).toEqual(['only-outside.txt', 'secret.txt']);
    expect(await readFile(path.join(fixture.outside, 'secret.txt'), 'utf8')).toBe('OUTSIDE');
  });

  it('[REL-042] nor when the file itself is exchanged', async () => {
    const fixture = await openRaced();
    await symlink(path.join(fixture.outside, 'secret.txt'), fixture.path('link.txt'));
    const swapper = new Swapper(fixture.path('own.txt'), fixture.path('link.txt'));
    await swapper.started();
    await swapper.race(async () => {
      const { result } = await fixture.ask('resourceRead', { uri: fixture.file('own.txt') });
      // Where the file was missing for a moment, a new one was made.
      expect(['OWN', '', undefined]).toContain((result as { data: string } | undefined)?.data);
      await fixture.ask('resourceWrite', { uri: fixture.file('own.txt'), data: '', encoding: 'utf-8', mode: 'append' });
      await fixture.ask('resourceCopy', { source: fixture.file('own.txt'), destination: fixture.file('copied') });
    });
    expect(await readFile(path.join(fixture.outside, 'secret.txt'), 'utf8')).toBe('OUTSIDE');
    expect(['OWN', '']).toContain(await readFile(fixture.path('copied'), 'utf8').catch(() => ''));
  });

  it('[REL-042] nor is a link copied in the place of a file that was there when it was looked at', async () => {
    const folder = await tempFolder({ 'own.txt': 'OWN' });
    const outside = path.join(await tempFolder({ 'secret.txt': 'OUTSIDE' }), 'secret.txt');
    const held = await pinFolder(folder);
    const found = { held, names: [], assertRemovable: () => {} };
    const stats = await stat(path.join(folder, 'own.txt'), { bigint: true });
    const [from, to] = [
      { ...found, uri: 'from', name: 'own.txt', real: path.join(folder, 'own.txt'), stats },
      { ...found, uri: 'to', name: 'copied', real: path.join(folder, 'copied') },
    ];
    const files = {
      at: ({ uri }: { uri: string }, act: (entry: object) => unknown) => act(uri === 'from' ? from : to),
    };
    await rename(path.join(folder, 'own.txt'), path.join(folder, 'away.txt'));
    await symlink(outside, path.join(folder, 'own.txt'));
    await expect(copy(files as never, 'client', { source: 'from', destination: 'to' })).rejects.toThrow('ELOOP');
    expect(await readdir(folder)).toEqual(['away.txt', 'own.txt']);
    await held.close();
  });

  it.runIf(process.platform === 'linux')(
    '[REL-042] nor gives anything outside the permissions of a folder that is being copied',
    async () => {
      const names = Array.from({ length: 300 }, (_, index) => `d/${index}`);
      const folder = await tempFolder({ ...Object.fromEntries(names.map((name) => [name, 'x'])), 'to/other': '' });
      const outside = path.join(await tempFolder({ 'secret.txt': 'OUTSIDE' }), 'secret.txt');
      await chmod(outside, 0o600);
      const [source, target] = [await pinFolder(folder), await pinFolder(path.join(folder, 'to'))];
      const copied = copyTree({ folder: source, name: 'd' }, { folder: target, name: 'copy' });
      const copy = path.join(folder, 'to/copy');
      await expect.poll(() => readdir(copy).catch(() => []), { interval: 1 }).not.toEqual([]);
      await rename(copy, path.join(folder, 'to/moved'));
      await symlink(outside, copy);
      await copied;
      expect((await stat(outside)).mode & 0o777).toBe(0o600);
      await source.close();
      await target.close();
    },
  );
});
