/** Which blobs the sweep at the start of a host leaves, wherever in the log they are named. */
import { readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { NewEntry, ReadRange, TurnRange } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { defaultChatUri, sideContextUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { FileBlobStore } from '../../src/blobs/file-blob-store.js';
import { NamedInSessions } from '../../src/blobs/named-in-sessions.js';
import { SWEEP_PAGE_TURNS, sweep } from '../../src/blobs/sweep.js';
import { tempFolder } from '../support/temp-folder.js';

const SESSION = 'ahp-session:/s';

async function oldBlobs(...texts: string[]) {
  const blobs = new FileBlobStore(await tempFolder());
  const hashes: string[] = [];
  for (const text of texts) hashes.push(await blobs.put(Buffer.from(text)));
  for (const entry of await readdir(blobs.folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await utimes(path.join(entry.parentPath, entry.name), 1_000, 1_000);
  }
  return { blobs, hashes };
}

const naming = (hash = '') => JSON.stringify({ type: 'x', uri: `atrium-content:/${hash}` });

describe('a sweep', () => {
  it('leaves what is named in the archive, in its turns, and in the entries behind it, however many', async () => {
    const names = ['before', 'head', 'first turn', 'last turn', 'first entry', 'last entry', 'unnamed'];
    const { blobs, hashes } = await oldBlobs(...names);
    const [before, head, firstTurn, lastTurn, firstEntry, lastEntry] = hashes;
    const log = new MemoryLog();
    const entry = (action: string): NewEntry => ({ channel: SESSION, time: 0, action });
    // The archive stands for what came before it, so an entry in front of it names nothing any more.
    await log.append({ entries: [entry(naming(before))], durability: 'normal' });
    const turns = 2 * SWEEP_PAGE_TURNS + 1;
    const items = Array.from({ length: turns }, (_, index) => {
      const json = index === 0 ? naming(firstTurn) : index === turns - 1 ? naming(lastTurn) : '{}';
      return { id: `t${index}`, json };
    });
    const archive = { channel: SESSION, head: naming(head), turns: { start: 0, items } };
    await log.append({ entries: [], archives: [archive], durability: 'normal' });
    const behind = 2 * SWEEP_PAGE_TURNS + 1;
    const entries = Array.from({ length: behind }, (_, index) => {
      const action = index === 0 ? naming(firstEntry) : index === behind - 1 ? naming(lastEntry) : '{}';
      return entry(action);
    });
    await log.append({ entries, durability: 'normal' });
    const { signal } = new AbortController();
    expect(await sweep({ clock: systemClock, log, blobs, sessions: [SESSION], signal })).toBe(2);
    const left = await Promise.all(hashes.map((hash) => blobs.has(hash)));
    expect(left).toEqual([false, true, true, true, true, true, false]);
  });

  it('[UP-039] leaves what is named in the chats of a session, and in what side chats know beforehand', async () => {
    const { blobs, hashes } = await oldBlobs('default chat', 'listed chat', 'added chat', 'foreign chat', 'context');
    const log = new MemoryLog();
    const archive = (channel: string, head: object, hash?: string) => ({
      channel,
      head: JSON.stringify(head),
      turns: { start: 0, items: hash === undefined ? [] : [{ id: 't', json: naming(hash) }] },
    });
    const archives = [
      archive(SESSION, { chats: [{ resource: 'ahp-chat:/listed' }] }),
      archive(defaultChatUri(SESSION), {}, hashes[0]),
      archive('ahp-chat:/listed', {}, hashes[1]),
      archive('ahp-chat:/added', {}, hashes[2]),
      archive('ahp-chat:/foreign', {}, hashes[3]),
      archive(sideContextUri('ahp-chat:/listed'), {}, hashes[4]),
    ];
    await log.append({ entries: [], archives, durability: 'normal' });
    const action = JSON.stringify({ type: 'session/chatAdded', chat: { resource: 'ahp-chat:/added' } });
    await log.append({ entries: [{ channel: SESSION, time: 0, action }], durability: 'normal' });
    const { signal } = new AbortController();
    expect(await sweep({ clock: systemClock, log, blobs, sessions: [SESSION], signal })).toBe(1);
    expect(await Promise.all(hashes.map((hash) => blobs.has(hash)))).toEqual([true, true, true, false, true]);
  });

  it('removes nothing when it is stopped, or when the log cannot be read', async () => {
    const { blobs, hashes } = await oldBlobs('unnamed');
    const log = new MemoryLog();
    const entries = [{ channel: SESSION, time: 0, action: '{}' }];
    await log.append({ entries, durability: 'normal' });
    const parts = { clock: systemClock, log, blobs, sessions: [SESSION] };
    await expect(sweep({ ...parts, signal: AbortSignal.abort() })).rejects.toThrow('abort');
    const broken = {
      archiveHead: () => Promise.reject(new Error('damaged')),
      archivedTurnsText: async () => '',
      read: async () => [],
    };
    const { signal } = new AbortController();
    await expect(sweep({ ...parts, log: broken, signal })).rejects.toThrow('damaged');
    expect(await blobs.has(hashes[0] ?? '')).toBe(true);
  });
});

describe('the contents that sessions name', () => {
  const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(64));
  const uriOf = (hash = '') => `atrium-content:/${hash}`;

  /** A log that says what was read of it. */
  async function asking(chats: readonly string[] = []) {
    const log = new MemoryLog();
    const read: string[] = [];
    const watched = {
      archiveHead: (channel: string) => log.archiveHead(channel),
      archivedTurnsText: (channel: string, range: TurnRange) => log.archivedTurnsText(channel, range),
      read: (range: ReadRange) => {
        read.push(`${range.channel} ${range.after}`);
        return log.read(range);
      },
    };
    const write = (channel: string, hash = '') =>
      log.append({ entries: [{ channel, time: 0, action: naming(hash) }], durability: 'normal' });
    return { log, read, write, named: new NamedInSessions(watched, () => chats) };
  }

  it('[DEV-021] are those of the session, its default chat and its other chats, and of no other session', async () => {
    const { log, write, named } = await asking(['ahp-chat:/more']);
    const archive = { channel: defaultChatUri(SESSION), head: naming(one), turns: { start: 0, items: [] } };
    await log.append({ entries: [], archives: [archive], durability: 'normal' });
    await write(SESSION, two);
    await write('ahp-chat:/more', three);
    for (const hash of [one, two, three]) expect(await named.isNamed(uriOf(hash), [SESSION])).toBe(true);
    expect(await named.isNamed(uriOf(three), ['ahp-session:/other', SESSION])).toBe(true);
    expect(await named.isNamed(uriOf(one), ['ahp-session:/other'])).toBe(false);
    expect(await named.isNamed(uriOf(one), [])).toBe(false);
    expect(await named.isNamed('atrium-content:/x', [SESSION])).toBe(false);
    expect(await named.isNamed('file:///x', [SESSION])).toBe(false);
  });

  it('[DEV-021] are read once, and after that only what was stored since', async () => {
    const { read, write, named } = await asking();
    await write(SESSION, one);
    expect(await named.isNamed(uriOf(one), [SESSION])).toBe(true);
    expect(await named.isNamed(uriOf(two), [SESSION])).toBe(false);
    read.length = 0;
    await write(SESSION, two);
    expect(await named.isNamed(uriOf(two), [SESSION])).toBe(true);
    expect(read).toEqual([`${SESSION} 1`, `${SESSION} 2`]);
    expect(await named.isNamed(uriOf(one), [SESSION])).toBe(true);
  });

  it('[DEV-021] are in memory for 500 channels: the one that was read first is read again', async () => {
    const { read, write, named } = await asking();
    await write('ahp-session:/0', one);
    await write('ahp-session:/1', one);
    const ask = (name: number) => named.isNamed(uriOf(one), [`ahp-session:/${name}`]);
    const isReadAgain = async (name: number) => {
      read.length = 0;
      await ask(name);
      return read[0] === `ahp-session:/${name} 0`;
    };
    // Of a session that names it, the chat is not looked into; of every other one it is.
    for (let name = 0; name < 251; name += 1) await ask(name);
    expect(await isReadAgain(0)).toBe(false);
    await write('ahp-session:/251', one);
    await ask(251);
    expect(await isReadAgain(1)).toBe(false);
    expect(await isReadAgain(0)).toBe(true);
  });
});
