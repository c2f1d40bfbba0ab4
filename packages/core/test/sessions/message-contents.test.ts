import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  MESSAGE_ATTACHMENTS_MAX,
  MESSAGE_CONTENTS_MAX,
  type Message,
  type MessageAttachment,
  PICTURE_SIZE,
  type Turn,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BlobStore } from '../../src/contracts/blobs.js';
import type { Chat } from '../../src/sessions/chat.js';
import {
  attachedContent,
  attachedExcerpts,
  ContentBudget,
  EXCERPT_MAX_CHARACTERS,
  EXCERPTS_MAX_CHARACTERS,
  FILE_EXCERPT_MAX_BYTES,
  isKept,
  PICTURES_MAX,
  PICTURES_MAX_BYTES,
  prepareContents,
  readableContents,
  readableTurns,
} from '../../src/sessions/message-contents.js';
import { INLINE_DATA_MAX_BYTES } from '../../src/tool-calls/limits.js';
import { contentFacts } from '../../src/util/content-types.js';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const LARGE = Buffer.concat([PIXEL, Buffer.alloc(INLINE_DATA_MAX_BYTES)]);
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');

/** A store in memory that knows what was touched. */
function store() {
  const stored = new Map<string, Buffer>();
  const touched: string[] = [];
  const blobs = {
    put: async (bytes: Uint8Array) => {
      const hash = createHash('sha256').update(bytes).digest('hex');
      stored.set(hash, Buffer.from(bytes));
      return hash;
    },
    get: async (hash: string) => stored.get(hash),
    touch: async (hash: string) => {
      touched.push(hash);
      return stored.has(hash);
    },
  } as unknown as BlobStore;
  return { blobs, stored, touched };
}

const messageWith = (...attachments: MessageAttachment[]): Message => {
  return { text: 'look', origin: { kind: 'user' }, attachments };
};
const embedded = (bytes: Buffer, contentType: string, label = 'it'): MessageAttachment => {
  return { type: 'embeddedResource', label, contentType, data: bytes.toString('base64') };
};
const named = (hash: string, contentType?: string, label = 'it'): MessageAttachment => {
  return { type: 'resource', label, uri: `atrium-content:/${hash}`, ...(contentType && { contentType }) };
};
const attachmentsIn = (taken: object) => (taken as { message: Message }).message.attachments ?? [];

describe('a message that comes with contents [DAY-010]', () => {
  it('names a blob for what it carried, once, with the size of the picture', async () => {
    const { blobs, stored } = store();
    const given = messageWith(embedded(LARGE, 'image/png', 'a'), embedded(LARGE, 'image/png', 'b'));
    const attachments = attachmentsIn(await prepareContents(given, blobs));
    expect([...stored.keys()]).toHaveLength(1);
    expect(attachments[0]).toEqual({
      ...{ type: 'resource', label: 'a', contentType: 'image/png', sizeHint: LARGE.length },
      uri: `atrium-content:/${[...stored.keys()][0]}`,
      _meta: { [PICTURE_SIZE]: { width: 1, height: 1 } },
    });
  });

  it('keeps small contents, and all of them on a host that stores none', async () => {
    const { blobs, stored } = store();
    const small = embedded(PIXEL, 'image/png');
    expect(attachmentsIn(await prepareContents(messageWith(small), blobs))).toEqual([small]);
    const edge = Buffer.alloc(INLINE_DATA_MAX_BYTES);
    await prepareContents(messageWith(embedded(edge, 'a/b')), blobs);
    expect(stored.size).toBe(0);
    await prepareContents(messageWith(embedded(Buffer.alloc(edge.length + 1), 'a/b')), blobs);
    expect(stored.size).toBe(1);
    const large = embedded(LARGE, 'image/png');
    expect(attachmentsIn(await prepareContents(messageWith(large), undefined))).toEqual([large]);
  });

  it('says what the bytes are, whatever it was told [DAY-011]', async () => {
    const { blobs } = store();
    const hash = await blobs.put(SVG);
    const lies = messageWith(embedded(SVG, 'image/png'), named(hash, 'image/png'), embedded(PIXEL, 'text/html'));
    const types = attachmentsIn(await prepareContents(lies, blobs)).map(
      (one) => 'contentType' in one && one.contentType,
    );
    expect(types).toEqual(['text/plain', 'text/plain', 'image/png']);
    const claimed = { ...named(hash), _meta: { [PICTURE_SIZE]: { width: 9, height: 9 }, own: 1 } } as MessageAttachment;
    expect(attachmentsIn(await prepareContents(messageWith(claimed), blobs))[0]).toMatchObject({ _meta: { own: 1 } });
    expect(JSON.stringify(await prepareContents(messageWith(claimed), blobs))).not.toContain(PICTURE_SIZE);
  });

  it('is refused when what it names is gone, and touches what is there', async () => {
    const { blobs, touched } = store();
    const hash = await blobs.put(LARGE);
    expect(await prepareContents(messageWith(named('0'.repeat(64))), blobs)).toEqual({
      refused: 'the content of it is no longer stored: attach it again',
    });
    await prepareContents(messageWith(named(hash)), blobs);
    await isKept(messageWith(named(hash)), blobs);
    expect(touched.slice(1)).toEqual([hash, hash]);
    expect(await isKept(messageWith(named('0'.repeat(64))), blobs)).toHaveProperty('refused');
    expect(await isKept(messageWith(named(hash)), undefined)).toHaveProperty('refused');
  });

  it.each([
    ['contents', embedded(PIXEL, 'image/png'), MESSAGE_CONTENTS_MAX],
    ['attachments', { type: 'resource', label: 'f', uri: 'file:///f' } as MessageAttachment, MESSAGE_ATTACHMENTS_MAX],
  ])('has so many %s, and not one more', async (_what, one, max) => {
    const { blobs } = store();
    const full = Array.from({ length: max }, () => one);
    for (const check of [prepareContents, isKept]) {
      expect(await check(messageWith(...full), blobs)).toHaveProperty('message');
      const { refused } = (await check(messageWith(...full, one), blobs)) as { refused: string };
      expect(refused).toContain(`a message may have at most ${max}`);
    }
    const many = Array.from({ length: 10_000 }, () => one);
    expect(await prepareContents(messageWith(...many), blobs)).toHaveProperty('refused');
  });
});

describe('what an agent gets [DAY-011] [DAY-012]', () => {
  it('pictures as pictures, with the type of their bytes', async () => {
    const { blobs } = store();
    const hash = await blobs.put(LARGE);
    const { message, notes } = await readableContents(messageWith(named(hash, 'text/plain', 'dot.png')), blobs);
    expect(message.attachments).toEqual([embedded(LARGE, 'image/png', 'dot.png')]);
    expect(notes).toEqual([]);
  });

  it('words about a picture that no model takes, and people are told', async () => {
    const { blobs } = store();
    const bomb = Buffer.from(PIXEL);
    bomb.writeUInt32BE(60_000, 16);
    const hash = await blobs.put(bomb);
    const { message, notes } = await readableContents(messageWith(named(hash, 'image/png', 'bomb.png')), blobs);
    expect(message.attachments?.[0]).toMatchObject({ type: 'simple', label: 'bomb.png' });
    expect(notes).toEqual([expect.stringContaining('bomb.png is not shown to the model: it has 60000 × 1 pixels')]);
  });

  it('the beginning of a text, with where the rest is', async () => {
    const { blobs } = store();
    const text = 'x'.repeat(EXCERPT_MAX_CHARACTERS);
    const whole = await blobs.put(Buffer.from(text));
    const longer = await blobs.put(Buffer.from(`${text}y`));
    const { message } = await readableContents(messageWith(named(whole), named(longer)), blobs);
    const [one, other] = (message.attachments ?? []).map(
      (each) => 'modelRepresentation' in each && each.modelRepresentation,
    );
    expect(one).toContain(`it (text/plain, 16 KiB):\n<content>\n${text}\n</content>`);
    expect(one).toMatch(/<\/content>$/);
    expect(other).toContain(`[Cut after ${EXCERPT_MAX_CHARACTERS} of ${EXCERPT_MAX_CHARACTERS + 1} characters.`);
    expect(other).toContain(`path "atrium-content:/${longer}"`);
    expect(other).not.toContain('y\n</content>');
  });

  it('the name of everything else, never its bytes', async () => {
    const { blobs } = store();
    const hash = await blobs.put(Buffer.from([0, 1, 2, 3]));
    const gone = named('0'.repeat(64), undefined, 'gone.txt');
    const { message } = await readableContents(messageWith(named(hash, 'application/x-thing', 'a.bin'), gone), blobs);
    expect(message.attachments).toEqual([
      {
        ...{ type: 'simple', label: 'a.bin' },
        modelRepresentation: `a.bin (application/x-thing, 4 bytes): a binary file, kept as atrium-content:/${hash}.`,
      },
      expect.objectContaining({ modelRepresentation: expect.stringContaining('is no longer stored') }),
    ]);
  });

  it('no more than there is room for', () => {
    const budget = new ContentBudget();
    expect(budget.takesPicture(PICTURES_MAX_BYTES)).toBe(true);
    expect(budget.takesPicture(1)).toBe(false);
    const few = new ContentBudget();
    expect(Array.from({ length: PICTURES_MAX + 1 }, () => few.takesPicture(1)).lastIndexOf(true)).toBe(
      PICTURES_MAX - 1,
    );
    const texts = Array.from({ length: 6 }, () => budget.excerptOf('z'.repeat(20_000)).length);
    expect(texts.reduce((sum, length) => sum + length, 0)).toBe(EXCERPTS_MAX_CHARACTERS);
  });

  it('of history, the newest pictures', async () => {
    const { blobs } = store();
    const message = messageWith(embedded(PIXEL, 'image/png'));
    const turns = Array.from({ length: PICTURES_MAX + 1 }, (_, index) => ({ id: `t${index}`, message }) as Turn);
    const kinds = (await readableTurns(turns, blobs)).map((turn) => turn.message.attachments?.[0]?.type);
    expect(kinds[0]).toBe('simple');
    expect(kinds.slice(1).every((kind) => kind === 'embeddedResource')).toBe(true);
  });
});

describe('a file of the folder that a message names [DAY-012]', () => {
  it('is told by how it begins, unless it is no text, too far away, or forbidden', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'atrium-excerpt-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const folder = path.join(root, 'work');
    await mkdir(folder);
    await writeFile(path.join(root, 'secret.txt'), 'SECRET');
    await symlink(path.join(root, 'secret.txt'), path.join(folder, 'link.txt'));
    await writeFile(path.join(folder, 'a.txt'), 'short');
    await writeFile(path.join(folder, 'long.txt'), `${'é'.repeat(30)}\n`.repeat(FILE_EXCERPT_MAX_BYTES / 32));
    await writeFile(path.join(folder, 'b.bin'), Buffer.from([1, 0, 2]));
    const file = (name: string): MessageAttachment => {
      return { type: 'resource', label: name, uri: pathToFileURL(path.join(folder, name)).href };
    };
    const names = ['a.txt', 'long.txt', 'b.bin', 'link.txt', '../secret.txt', 'gone.txt', '.'];
    const texts = await attachedExcerpts(messageWith(...names.map(file)), folder);
    expect(texts).toHaveLength(2);
    expect(texts[0]).toBe('Attached file a.txt, 5 bytes:\n<content>\nshort\n</content>');
    expect(texts[1]).toContain('[It goes on: read the file for the rest.]');
    expect(texts[1]).not.toContain('\uFFFD');
    expect(texts.join('')).not.toContain('SECRET');
  });
});

describe('many files of the folder that a message names [DAY-012]', () => {
  it('are told as far as there is room for all of them', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-excerpts-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = path.join(folder, 'a.txt');
    await writeFile(file, 'x'.repeat(FILE_EXCERPT_MAX_BYTES));
    const attachment: MessageAttachment = { type: 'resource', label: 'a.txt', uri: pathToFileURL(file).href };
    const [one = ''] = await attachedExcerpts(messageWith(attachment), folder);
    const length = /<content>\n(x*)/.exec(one)?.[1]?.length ?? 0;
    const most = Math.ceil(EXCERPTS_MAX_CHARACTERS / length);
    const texts = await attachedExcerpts(messageWith(...Array(most + 2).fill(attachment)), folder);
    expect(texts).toHaveLength(most);
  });
});

describe('a content that a tool reads [DAY-012]', () => {
  it('is one that a message of the chat names, and no other', async () => {
    const { blobs } = store();
    const [mine, older, other] = [await blobs.put(SVG), await blobs.put(PIXEL), await blobs.put(LARGE)];
    const turnOf = (hash: string) =>
      ({ id: hash, message: messageWith(named(hash)), responseParts: [] }) as unknown as Turn;
    const chat = {
      state: { turns: [turnOf(mine)] },
      turnCount: () => 2,
      turnsBetween: async (start: number, end: number) => [turnOf(older), turnOf(mine)].slice(start, end),
    } as unknown as Chat;
    const read = (hash: string) => attachedContent(chat, blobs, `atrium-content:/${hash}`);
    expect(await read(mine)).toEqual(SVG);
    expect(await read(older)).toEqual(PIXEL);
    expect(await read(other)).toBeUndefined();
    expect(await attachedContent(chat, blobs, 'atrium-content:/../x')).toBeUndefined();
    expect(await attachedContent(chat, undefined, `atrium-content:/${mine}`)).toBeUndefined();
  });

  it('is looked for in what steered a turn, in the turn that runs, and in the last 500 that are no longer in memory', async () => {
    const { blobs } = store();
    const uri = `atrium-content:/${await blobs.put(SVG)}`;
    const message = { text: '', origin: { kind: 'user' } };
    const naming = { message: { ...message, attachments: [{ type: 'resource', label: 'x', uri }] }, responseParts: [] };
    const plain = { message, responseParts: [] };
    const steered = { message, responseParts: [{ kind: 'systemNotification', content: 'x', _meta: { uri } }] };
    const said = { message, responseParts: [{ kind: 'markdown', content: `"${uri}"` }] };
    const longer = { message, responseParts: [{ kind: 'systemNotification', content: `${uri}0` }] };
    const found = async (state: { turns: object[]; activeTurn?: object }, older: readonly object[] = []) => {
      const read: [number, number][] = [];
      const turnsBetween = async (from: number, to: number) => {
        read.push([from, to]);
        return older.slice(from, to);
      };
      const turnCount = () => older.length + state.turns.length;
      const bytes = await attachedContent({ state, turnCount, turnsBetween } as never, blobs, uri);
      return { isFound: bytes !== undefined, read };
    };
    for (const [turn, isFound] of [
      [naming, true],
      [steered, true],
      [plain, false],
      [said, false],
      [longer, false],
    ] as const) {
      expect(await found({ turns: [plain, turn] })).toMatchObject({ isFound });
      expect(await found({ turns: [plain], activeTurn: turn })).toMatchObject({ isFound });
    }
    const older = (count: number, at: number) =>
      Array.from({ length: count }, (_, index) => (index === at ? naming : plain));
    expect(await found({ turns: [plain] }, older(70, 0))).toEqual({
      isFound: true,
      read: [
        [20, 70],
        [0, 20],
      ],
    });
    expect(await found({ turns: [plain] }, older(70, 69))).toEqual({ isFound: true, read: [[20, 70]] });
    expect(await found({ turns: [] }, older(501, 1))).toMatchObject({ isFound: true });
    const beyond = await found({ turns: [] }, older(501, 0));
    expect(beyond.isFound).toBe(false);
    expect(beyond.read).toHaveLength(10);
    expect(beyond.read.at(-1)).toEqual([1, 51]);
  });
});

describe('the type of a content [DAY-011]', () => {
  it.each([
    [PIXEL, 'text/html', 'image/png'],
    [SVG, 'image/svg+xml', 'image/svg+xml'],
    [SVG, 'image/jpeg', 'text/plain'],
    [Buffer.from('{}'), 'application/json', 'application/json'],
    [Buffer.from('{}'), 'a/b; charset=x', 'text/plain'],
    [Buffer.from([0, 1]), 'text/html', 'application/octet-stream'],
    [Buffer.from([0, 1]), 'image/webp', 'application/octet-stream'],
    [Buffer.from([0, 1]), 'audio/wav', 'audio/wav'],
    [Buffer.from('%PDF-1.7\0'), 'image/png', 'application/pdf'],
    [Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1'), 'image/png', 'application/octet-stream'],
  ])('%#: called %s, it is %s', (bytes, claimed, type) => expect(contentFacts(bytes, claimed).contentType).toBe(type));
});
