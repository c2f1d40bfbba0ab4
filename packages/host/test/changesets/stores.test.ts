/** Contents by hash: they stay, or go all at once when nobody needs them. And how changes of a file are put together. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileBlobStore } from '../../src/blobs/file-blob-store.js';
import { Captures } from '../../src/workspace/changes/capture.js';
import { type Change, changeOf, type Entry, netOf, segmentsOf } from '../../src/workspace/changes/change.js';
import { SnapshotBlobs } from '../../src/workspace/changes/change-storage.js';
import { SNAPSHOTS_MAX_BYTES } from '../../src/workspace/changes/limits.js';
import { parseViewUri, viewUri } from '../../src/workspace/changes/uri.js';
import { edit } from '../support/changes-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

describe('a store', () => {
  it('keeps a content once, gives it to another store, and finds nothing under what is no hash', async () => {
    const [one, other] = [new FileBlobStore(await tempFolder()), new FileBlobStore(await tempFolder())];
    const hash = await one.put(Buffer.from('x'));
    expect(await one.put(Buffer.from('x'))).toBe(hash);
    await other.copyFrom(one, hash);
    expect(String(await other.get(hash))).toBe('x');
    expect(await one.get('../../etc/passwd')).toBeUndefined();
    expect((await readdir(path.join(one.folder, hash.slice(0, 2)))).length).toBe(1);
  });

  it('drops what was only looked at when it is too much, but not while somebody looks', async () => {
    const [folder, store] = [await tempFolder({ 'a.txt': 'a' }), new SnapshotBlobs(await tempFolder())];
    await new Promise((resolve) => setTimeout(resolve, 60));
    const captures = new Captures(folder, store);
    const release = await store.hold();
    const hash = (await captures.capture('a.txt'))?.hash ?? '';
    // As large as it would have to be, without being it.
    const large = { length: SNAPSHOTS_MAX_BYTES + 1 } as Uint8Array;
    await store.put(large).catch(() => {});
    expect(await store.has(hash)).toBe(true);
    release();
    (await store.hold())();
    expect(await store.has(hash)).toBe(false);
    expect((await captures.capture('a.txt'))?.hash).toBe(hash);
    expect(await store.has(hash)).toBe(true);
  });

  it('reads a file again only when it may have changed', async () => {
    const folder = await tempFolder({ 'a.txt': 'a' });
    const store = new SnapshotBlobs(await tempFolder());
    const captures = new Captures(folder, store);
    const first = await captures.capture('a.txt');
    // Right after a change, times do not tell: it is read again.
    await edit(folder, 'a.txt', 'b');
    expect((await captures.capture('a.txt'))?.hash).not.toBe(first?.hash);
    expect(await captures.capture('nothing')).toBeUndefined();
  });
});

describe('changes of one file', () => {
  const state = (name: string): Entry => ({ kind: 'file', hash: name, bytes: 1 });
  const step = (before: string, after: string): Change =>
    changeOf('f', before === '-' ? undefined : state(before), after === '-' ? undefined : state(after));
  const folded = (...steps: readonly [string, string][]) =>
    [...segmentsOf(steps.map(([before, after]) => step(before, after))).values()]
      .flat()
      .map(({ before, after }) => `${before?.hash ?? '-'}>${after?.hash ?? '-'}`);

  it.each([
    [
      [
        ['a', 'b'],
        ['b', 'c'],
      ],
      ['a>c'],
    ],
    [
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      [],
    ],
    [
      [
        ['-', 'b'],
        ['b', '-'],
      ],
      [],
    ],
    [
      [
        ['a', 'b'],
        ['x', 'c'],
      ],
      ['a>b', 'x>c'],
    ],
    [
      [
        ['a', 'b'],
        ['x', 'c'],
        ['c', 'x'],
        ['b', 'a'],
      ],
      [],
    ],
    [
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
      ['a>b'],
    ],
    [[['a', 'a']], []],
  ] as [[string, string][], string[]][])('%j become %j', (steps, expected) => {
    expect(folded(...steps)).toEqual(expected);
  });

  it('show from the first state to the last, and nothing when these are the same', () => {
    expect(netOf([step('a', 'b'), step('x', 'c')])).toEqual(step('a', 'c'));
    expect(netOf([step('a', 'b'), step('x', 'a')])).toBeUndefined();
  });
});

describe('names of views', () => {
  it('[AHP-223] are found again for every session and every turn, and only as a template gives them', () => {
    for (const session of ['ahp-session:/9f-1', 'ahp-session:/a/b', 'copilot:/x y', 'ahp-session:/']) {
      for (const name of [{ kind: 'turn', turnId: 'a/b %' }, { kind: 'session' }] as const) {
        expect(parseViewUri(viewUri(session, name))).toEqual({ session, name });
      }
    }
    for (const uri of ['ahp-changeset:/a/turn/%zz', 'ahp-changeset:/a/turn/', 'ahp-changeset:/a', 'ahp-changeset:']) {
      expect(parseViewUri(uri), uri).toBeUndefined();
    }
  });
});
