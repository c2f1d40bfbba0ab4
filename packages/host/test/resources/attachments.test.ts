/** What a client brings for a message, by itself: in which pieces, and what it is told about it. */
import { UNWATCHED } from '@atrium/core/contracts/work.js';
import {
  ATTACH_METHOD,
  ATTACHMENT_MAX_BYTES,
  ATTACHMENT_NAME_MAX_CHARACTERS,
  type AttachResult,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { attachments } from '../../src/blobs/attachments.js';

const blobs = { put: vi.fn(async (bytes: Uint8Array) => String(bytes.length).padStart(64, '0')) };

function client(store: object | undefined = blobs) {
  const sender = {};
  const request = attachments(store as never).extensionRequests?.[ATTACH_METHOD];
  return (params: object) => request?.(sender as never, params as never, UNWATCHED) as Promise<AttachResult | null>;
}

const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes as string).toString('base64');
async function attach(bytes: Uint8Array | string, name = 'a.txt', type?: string) {
  const piece = { name, at: 0, text: base64(bytes), isLast: true };
  return (await client()({ ...piece, ...(type !== undefined && { type }) })) as AttachResult;
}

function png(width: number, height: number, more = 0) {
  const [side, length] = [Buffer.alloc(8), Buffer.from([0, 0, 0, 13])];
  side.writeUInt32BE(width, 0);
  side.writeUInt32BE(height, 4);
  const begin = [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), length, Buffer.from('IHDR'), side];
  return Buffer.concat([...begin, Buffer.from([8, 6, 0, 0, 0, 0, 0, 0, 0]), Buffer.alloc(more)]);
}

describe('what is attached', () => {
  it('[DAY-010] comes in pieces, each behind the one before', async () => {
    const send = client();
    const text = base64('a long text');
    expect(await send({ name: 'a.txt', at: 0, text: text.slice(0, 5), isLast: false })).toBeNull();
    expect(await send({ name: 'a.txt', at: 5, text: text.slice(5), isLast: true })).toMatchObject({
      attachment: { type: 'resource', label: 'a.txt', displayKind: 'document' },
    });
    expect(blobs.put.mock.lastCall?.[0].toString()).toBe('a long text');
    const again = { name: 'a.txt', at: 0, text: 'AAAA', isLast: false };
    for (const next of [
      { ...again, at: 5 },
      { ...again, at: 3 },
      { ...again, name: 'b.txt', at: 4 },
    ]) {
      await send(again);
      await expect(send(next)).rejects.toThrow('begin again');
      await expect(send({ ...again, at: 4 })).rejects.toThrow('begin again');
    }
    await send(again);
    await expect(client()({ ...again, at: 4 })).rejects.toThrow('begin again');
  });

  it.each<[string, object, string]>([
    ['has a name', { name: '' }, '/name'],
    ['has a name that is text', { name: 1 }, '/name'],
    ['has a place', { at: '0' }, '/at'],
    ['has text', { text: 7 }, '/text'],
    ['says whether it is the last', { isLast: 'yes' }, '/isLast'],
    ['is base64', { text: 'A*AA' }, 'base64'],
    ['is base64 from its beginning', { text: '*AAA' }, 'base64'],
    ['is base64 to its end', { text: 'AAA=A' }, 'base64'],
    ['is not empty', { text: '' }, 'is empty'],
  ])('[REL-098] %s', async (_, change, problem) => {
    const piece = { name: 'a.txt', at: 0, text: 'QUJD', isLast: true };
    await expect(client()({ ...piece, ...change })).rejects.toThrow(problem);
    expect(await client()(piece)).toMatchObject({ attachment: { label: 'a.txt' } });
  });

  it('[REL-098] has a greatest size, and needs a host with a folder for it', async () => {
    const most = Buffer.alloc(ATTACHMENT_MAX_BYTES, 'x');
    expect(await attach(most)).toMatchObject({ attachment: { sizeHint: most.length } });
    await expect(attach(Buffer.alloc(ATTACHMENT_MAX_BYTES + 1))).rejects.toThrow('16 MiB');
    await expect(attach(Buffer.alloc(ATTACHMENT_MAX_BYTES + 3))).rejects.toThrow('16 MiB');
    await expect(
      attachments(undefined).extensionRequests?.[ATTACH_METHOD]?.(
        {} as never,
        {
          name: 'a',
          at: 0,
          text: '',
          isLast: true,
        },
        UNWATCHED,
      ),
    ).rejects.toThrow('data folder');
  });

  it('[DAY-010] is called by its last name, as far as that can be seen and is short', async () => {
    const labels = ['/home/me/a.txt', 'C:\\b.txt', ' c\u202e.t\nxt ', 'd/', 'x'.repeat(300)];
    const shown = await Promise.all(labels.map(async (name) => (await attach('text', name)).attachment.label));
    expect(shown).toEqual(['a.txt', 'b.txt', 'c.txt', 'file', 'x'.repeat(ATTACHMENT_NAME_MAX_CHARACTERS)]);
  });

  it('[DAY-011] is told about when it is not what it seems, or no model sees it', async () => {
    const note = async (...given: Parameters<typeof attach>) => (await attach(...given)).note;
    const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0', 'latin1');
    const avif = Buffer.from('\0\0\0\x18ftypavif\0\0\0\0', 'latin1');
    expect(await note(heic, 'a.heic')).toContain('no model accepts image/heic');
    expect(await note(avif, 'a.avif')).toContain('no model accepts image/avif');
    expect(await note(png(100_000, 1), 'a.png')).toContain('no model sees it');
    expect(await note('plain', 'a.PNG')).toContain('called a picture, but it is text/plain');
    expect(await note('plain', 'a.jpg.txt')).toBeUndefined();
    expect(await note('plain', 'a.txt', 'image/png')).toContain('called a picture');
    expect(await note('<svg/>', 'a.svg', 'image/svg+xml')).toBeUndefined();
    expect(await note(png(2, 3), 'a.png')).toBeUndefined();
    expect(await note(png(2, 3), 'a.png', 'image/png')).toBeUndefined();
    expect(await note(png(2, 3), 'a.png', 'image/jpg')).toBeUndefined();
    expect(await note(png(2, 3), 'a.png', 'text/plain')).toBeUndefined();
    expect(await note(png(2, 3), 'a.jpeg', 'image/jpeg')).toContain('called image/jpeg, but it is image/png');
  });

  it('[DAY-011] is a picture when its bytes say so', async () => {
    expect((await attach(png(2, 3), 'x')).attachment).toMatchObject({ displayKind: 'image', contentType: 'image/png' });
    expect((await attach('words', 'x', 'image/png')).attachment).toMatchObject({
      ...{ displayKind: 'document', contentType: 'text/plain' },
    });
  });
});
