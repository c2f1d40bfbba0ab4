/** A file that another program changes between the look at it and its replacement. */
import { appendFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ResourceWriteParams } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { realPathOf } from '../../src/workspace/files/client-roots.js';
import type { FileAccess, PinnedEntry } from '../../src/workspace/files/file-access.js';
import { openPlain, pinFolder, READING } from '../../src/workspace/files/pinned-folder.js';
import { etagOf } from '../../src/workspace/files/read.js';
import { writeFile as write } from '../../src/workspace/files/write.js';
import { tempFolder } from '../support/temp-folder.js';

const CONFLICT = -32011;
const DENIED = -32009;

/** Writes to `f`, which says `old`. The other program acts once the host has looked at the file. */
async function raced(params: Partial<ResourceWriteParams>, other: (file: string) => Promise<unknown>) {
  const folder = await realPathOf(await tempFolder({ f: 'old', spare: 'spare' }));
  const file = path.join(folder, 'f');
  const held = await pinFolder(folder);
  let looks = 0;
  const check = async () => {
    looks += 1;
    if (looks === 2) await other(file);
  };
  const entry = {
    ...{ uri: 'file:///f', real: file, names: ['f'], name: 'f', isDeadLink: false },
    ...{ directory: undefined, stats: undefined, held: { ...held, check } },
  } as unknown as PinnedEntry;
  const files = { at: (_asked: unknown, act: (entry: PinnedEntry) => Promise<unknown>) => act(entry) };
  const given = { uri: 'file:///f', data: 'new', encoding: 'utf-8', ...params } as ResourceWriteParams;
  const code = await write(files as unknown as FileAccess, 'c', given).then(
    () => 'ok',
    (error) => error.code,
  );
  await held.close();
  const names = (await readdir(folder)).filter((name) => name !== 'spare');
  return [code, names.includes('f') ? await readFile(file, 'utf8') : undefined, names.length] as const;
}

async function etag(): Promise<string> {
  const folder = await pinFolder(await realPathOf(await tempFolder({ f: 'old' })));
  const file = await openPlain(folder, 'f', READING);
  return etagOf(file).finally(() => Promise.all([file.handle.close(), folder.close()]));
}

const appends = (file: string) => appendFile(file, ' and more');

describe('a file that another program changes meanwhile', () => {
  it('[AHP-075] is not replaced where a version was named', async () => {
    expect(await raced({ ifMatch: await etag() }, appends)).toEqual([CONFLICT, 'old and more', 1]);
    expect(await raced({ ifMatch: await etag() }, (file) => rm(file))).toEqual([CONFLICT, undefined, 0]);
    expect(await raced({ ifMatch: await etag() }, async () => {})).toEqual(['ok', 'new', 1]);
  });

  it('[AHP-073] is not replaced by what was made of the old one', async () => {
    expect(await raced({ mode: 'insert', position: 1 }, appends)).toEqual([CONFLICT, 'old and more', 1]);
    expect(await raced({ position: 1 }, appends)).toEqual([CONFLICT, 'old and more', 1]);
    expect(await raced({ mode: 'append', position: 1 }, appends)).toEqual([CONFLICT, 'old and more', 1]);
  });

  it('[AHP-070] is replaced as a whole where nothing was said about it', async () => {
    expect(await raced({}, appends)).toEqual(['ok', 'new', 1]);
  });

  it('[AHP-073] is appended to, with what the other appended', async () => {
    expect(await raced({ mode: 'append' }, appends)).toEqual(['ok', 'old and morenew', 1]);
    const exchange = (file: string) => rename(path.join(path.dirname(file), 'spare'), file);
    expect(await raced({ mode: 'append' }, exchange)).toEqual([DENIED, 'spare', 1]);
  });

  it('[AHP-070] [AHP-101] that is to be new fails when the other has made it', async () => {
    const folder = await realPathOf(await tempFolder({}));
    const held = await pinFolder(folder);
    let looks = 0;
    const check = async () => {
      looks += 1;
      if (looks === 2) await writeFile(path.join(folder, 'f'), 'theirs');
    };
    const entry = { uri: 'file:///f', real: path.join(folder, 'f'), names: ['f'], held: { ...held, check } };
    const files = { at: (_asked: unknown, act: (entry: PinnedEntry) => Promise<unknown>) => act(entry as never) };
    const params = { uri: 'file:///f', data: 'new', encoding: 'utf-8', createOnly: true } as ResourceWriteParams;
    await expect(write(files as unknown as FileAccess, 'c', params)).rejects.toMatchObject({ code: 'EEXIST' });
    await held.close();
    expect([await readdir(folder), await readFile(path.join(folder, 'f'), 'utf8')]).toEqual([['f'], 'theirs']);
  });
});
