import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { BLOB_MAX_BYTES } from '@atrium/core/tool-calls/limits.js';
import { describe, expect, it, vi } from 'vitest';
import { FileBlobStore } from '../../src/blobs/file-blob-store.js';
import { blobReader, putImported } from '../../src/blobs/named-blobs.js';
import { SWEEP_PAGE_TURNS, sweep } from '../../src/blobs/sweep.js';
import { tempFolder } from '../support/temp-folder.js';

const HOUR_MS = 60 * 60 * 1_000;
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const fileOf = (store: FileBlobStore, hash: string) => path.join(store.folder, hash.slice(0, 2), hash.slice(2));

async function store() {
  return new FileBlobStore(path.join(await tempFolder(), 'blobs'));
}

async function made(store: FileBlobStore, text: string, ageMs: number) {
  const hash = await store.put(Buffer.from(text));
  const time = new Date(Date.now() - ageMs);
  await utimes(fileOf(store, hash), time, time);
  return hash;
}

describe('a blob', () => {
  it('is found under its hash, for its owner only, and nothing else is', async () => {
    const blobs = await store();
    const hash = await blobs.put(Buffer.from('text'));
    expect(hash).toBe(hashOf('text'));
    expect([await blobs.has(hash), await blobs.has(hashOf('other'))]).toEqual([true, false]);
    expect((await blobs.get(hash))?.toString()).toBe('text');
    expect((await stat(fileOf(blobs, hash))).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(fileOf(blobs, hash)))).mode & 0o777).toBe(0o700);
    await writeFile(path.join(blobs.folder, 'secret'), 'secret');
    for (const name of ['', '../blobs/secret', `${hash}/`, `${hash}0`, `x${hash}`, hash.toUpperCase(), hashOf('other')])
      expect(await blobs.get(name)).toBeUndefined();
  });

  it('is one file however often it is stored, and young again', async () => {
    const blobs = await store();
    const hash = await made(blobs, 'text', HOUR_MS);
    const before = await stat(fileOf(blobs, hash));
    await blobs.put(Buffer.from('text'));
    const after = await stat(fileOf(blobs, hash));
    expect(after.ino).toBe(before.ino);
    await Promise.all([blobs.put(Buffer.from('text')), blobs.put(Buffer.from('text'))]);
    expect(after.mtimeMs).toBeGreaterThan(Date.now() - HOUR_MS / 2);
    expect(await readdir(path.dirname(fileOf(blobs, hash)))).toHaveLength(1);
  });

  it('is young again when it is touched, if it is there', async () => {
    const blobs = await store();
    const hash = await made(blobs, 'text', HOUR_MS);
    expect([await blobs.touch(hash), await blobs.touch(hashOf('other')), await blobs.touch('../x')]).toEqual([
      ...[true, false, false],
    ]);
    expect((await stat(fileOf(blobs, hash))).mtimeMs).toBeGreaterThan(Date.now() - HOUR_MS / 2);
  });

  it('goes when it is old enough, once', async () => {
    const blobs = await store();
    const hash = await made(blobs, 'text', 2_000);
    const { mtimeMs } = await stat(fileOf(blobs, hash));
    expect(await blobs.olderThan(mtimeMs)).toEqual([]);
    expect(await blobs.delete(hash, mtimeMs)).toBe(false);
    expect(await blobs.olderThan(mtimeMs + 1)).toEqual([hash]);
    expect(await blobs.delete(hash, mtimeMs + 1)).toBe(true);
    expect(await blobs.delete(hash, mtimeMs + 1)).toBe(false);
    expect(await blobs.has(hash)).toBe(false);
  });

  it('that was not finished is old as well; foreign files are not its own', async () => {
    const blobs = await store();
    expect(await blobs.olderThan(Date.now())).toEqual([]);
    const draft = `${hashOf('draft')}.${crypto.randomUUID()}`;
    const names = [draft, `${hashOf('a')}.tmp`, `${hashOf('b')}0`, `x${hashOf('c')}`];
    for (const name of names) {
      await mkdir(path.join(blobs.folder, name.slice(0, 2)), { recursive: true });
      await writeFile(path.join(blobs.folder, name.slice(0, 2), name.slice(2)), '');
    }
    await writeFile(path.join(blobs.folder, 'file'), '');
    expect(await blobs.olderThan(Date.now() + HOUR_MS)).toEqual([draft]);
  });

  it('is copied from another store on the disk without its bytes being read, or with them', async () => {
    const [from, to] = [await store(), await store()];
    const hash = await from.put(Buffer.from('text'));
    await to.copyFrom(from, hash);
    await to.copyFrom(from, hash);
    expect((await stat(fileOf(to, hash))).ino).toBe((await stat(fileOf(from, hash))).ino);
    const memory = { get: async (asked: string) => (asked === hashOf('more') ? Buffer.from('more') : undefined) };
    await to.copyFrom(memory as unknown as BlobStore, hashOf('more'));
    expect((await to.get(hashOf('more')))?.toString()).toBe('more');
    await expect(to.copyFrom(memory as unknown as BlobStore, hashOf('none'))).rejects.toThrow('there is no blob');
    await expect(to.copyFrom(from, hashOf('none'))).rejects.toMatchObject({ code: 'ENOENT', syscall: 'copyfile' });
    await expect(to.copyFrom(from, hashOf('none'))).rejects.toThrow('ENOENT');
    expect(await readdir(path.dirname(fileOf(to, hashOf('none'))))).toEqual([]);
  });

  it('that cannot be written leaves nothing half done', async () => {
    const blobs = await store();
    const hash = hashOf('text');
    const folder = path.dirname(fileOf(blobs, hash));
    // A folder in the place of the blob: the draft can be written, but not renamed.
    await mkdir(path.join(fileOf(blobs, hash), 'inner'), { recursive: true });
    vi.spyOn(blobs, 'has').mockResolvedValueOnce(false);
    await expect(blobs.put(Buffer.from('text'))).rejects.toThrow();
    expect(await readdir(folder)).toHaveLength(1);
  });
});

describe('a blob that a client reads', () => {
  it('has a type by how it begins', async () => {
    const blobs = await store();
    const hash = await blobs.put(Buffer.from('%PDF-1.7'));
    const { read, scheme } = blobReader(blobs);
    expect(scheme).toBe('atrium-content:');
    expect(await read(`atrium-content:/${hash}`)).toMatchObject({ contentType: 'application/pdf' });
    expect(await read('atrium-content:/nothing')).toBeUndefined();
  });
});

describe('a blob that a client brings', () => {
  const base64 = Buffer.from('text').toString('base64');
  const uri = `atrium-content:/${hashOf('text')}`;

  it('is stored with its last piece', async () => {
    const blobs = await store();
    const sender = {};
    await putImported(blobs, { uri, at: 0, text: base64.slice(0, 3), isLast: false }, sender);
    expect(await blobs.has(hashOf('text'))).toBe(false);
    await putImported(blobs, { uri, at: 3, text: base64.slice(3), isLast: true }, sender);
    expect(await readFile(fileOf(blobs, hashOf('text')), 'utf8')).toBe('text');
  });

  it.each<[string, object]>([
    ['no name', { uri: undefined }],
    ['a foreign name', { uri: 'file:/x' }],
    ['another name', { uri: `atrium-content:/${hashOf('other')}` }],
    ['no place', { at: '0' }],
    ['no text', { text: 1 }],
    ['no end', { isLast: 'true' }],
    ['a gap', { at: 7 }],
  ])('is refused with %s', async (_, change) => {
    const blobs = await store();
    const params = { uri, at: 0, text: base64, isLast: true, ...change };
    await expect(putImported(blobs, params, {})).rejects.toBeInstanceOf(RequestError);
    expect(await blobs.olderThan(Date.now() + HOUR_MS)).toEqual([]);
  });

  it('[REL-098] is as large as a blob may be, and not one byte larger', async () => {
    const blobs = await store();
    const put = (bytes: Buffer) => {
      const hash = createHash('sha256').update(bytes).digest('hex');
      const params = { uri: `atrium-content:/${hash}`, at: 0, text: bytes.toString('base64'), isLast: true };
      return putImported(blobs, params, {});
    };
    await expect(put(Buffer.alloc(BLOB_MAX_BYTES))).resolves.toBeUndefined();
    await expect(put(Buffer.alloc(BLOB_MAX_BYTES + 1))).rejects.toThrow('at most');
  });

  it('is refused where there is no folder for it', async () => {
    const params = { uri, at: 0, text: base64, isLast: true };
    await expect(putImported(undefined, params, {})).rejects.toThrow('no folder');
  });
});

describe('a sweep', () => {
  /** A log of sessions with these texts in archive heads, archived turns and entries. */
  function logOf(sessions: Record<string, { head?: string; turns?: string[]; actions?: string[] }>) {
    return {
      archiveHead: vi.fn(async (session: string) => {
        const { head, turns = [] } = sessions[session] ?? {};
        return head === undefined ? undefined : { head, turnCount: turns.length, seq: 5 };
      }),
      archivedTurnsText: vi.fn(async (session: string, { start, end }: { start: number; end: number }) =>
        (sessions[session]?.turns ?? []).slice(start, end).join(''),
      ),
      read: vi.fn(async ({ channel, after, limit }: { channel: string; after: number; limit: number }) => {
        const { actions = [], head } = sessions[channel] ?? {};
        const first = head === undefined ? 1 : 6;
        const entries = actions.map((action, index) => ({ seq: first + index, action }));
        return entries.filter(({ seq }) => seq > after).slice(0, limit);
      }),
    };
  }

  const clock = { now: () => Date.now(), after: () => () => {} };
  const named = (hash: string) => `{"uri":"atrium-content:/${hash}"}`;

  async function swept(blobs: FileBlobStore, sessions: Parameters<typeof logOf>[0]) {
    const log = logOf(sessions);
    const options = { clock, blobs, signal: new AbortController().signal };
    const removed = await sweep({ ...options, log: log as never, sessions: Object.keys(sessions) });
    return { removed, log };
  }

  it('removes what is old and named nowhere, and nothing else', async () => {
    const blobs = await store();
    const old = 2 * HOUR_MS;
    const [head, turn, late, action, paged] = await Promise.all(
      ['head', 'turn', 'late', 'action', 'paged'].map((text) => made(blobs, text, old)),
    );
    const unnamed = await made(blobs, 'unnamed', old);
    const young = await made(blobs, 'young', HOUR_MS - 60_000);
    const pages = Array.from({ length: SWEEP_PAGE_TURNS }, () => '{}');
    const { removed } = await swept(blobs, {
      a: { head: named(head ?? ''), turns: [named(turn ?? ''), ...pages, named(late ?? '')] },
      b: { actions: [named(action ?? ''), ...pages, named(paged ?? '')] },
    });
    expect(removed).toBe(1);
    expect(await blobs.has(unnamed)).toBe(false);
    expect((await blobs.olderThan(Date.now() + HOUR_MS)).sort()).toEqual(
      [head, turn, late, action, paged, young].sort(),
    );
  });

  it('reads no further than it must', async () => {
    const blobs = await store();
    const hash = await made(blobs, 'text', 2 * HOUR_MS);
    const { removed, log } = await swept(blobs, { a: { actions: [named(hash)] }, b: { actions: ['{}'] } });
    expect(removed).toBe(0);
    expect(log.archiveHead).toHaveBeenCalledExactlyOnceWith('a');
    expect((await swept(await store(), { a: { actions: ['{}'] } })).log.archiveHead).not.toHaveBeenCalled();
  });

  it('removes nothing when it is broken off, or cannot read', async () => {
    const blobs = await store();
    const hash = await made(blobs, 'text', 2 * HOUR_MS);
    const log = logOf({ a: { actions: ['{}'] } });
    const options = { clock, blobs, log: log as never, sessions: ['a'] };
    await expect(sweep({ ...options, signal: AbortSignal.abort() })).rejects.toThrow();
    log.read.mockRejectedValueOnce(new Error('unreadable'));
    await expect(sweep({ ...options, signal: new AbortController().signal })).rejects.toThrow('unreadable');
    expect(await blobs.has(hash)).toBe(true);
  });
});
