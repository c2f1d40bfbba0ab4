import { createHash } from 'node:crypto';
import type { ResponsePart, ToolCallResult, ToolResultContent, Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import type { BlobStore } from '../../src/contracts/blobs.js';
import { isLarge, shownResult, wholeContent, wholeTurns } from '../../src/tool-calls/large-results.js';
import {
  BLOB_MAX_BYTES,
  INLINE_DATA_MAX_BYTES,
  INLINE_TEXT_MAX_CHARACTERS,
  PREVIEW_MAX_CHARACTERS,
} from '../../src/tool-calls/limits.js';

function memory() {
  const stored = new Map<string, Buffer>();
  const blobs = {
    put: async (bytes: Uint8Array) => {
      const hash = createHash('sha256').update(bytes).digest('hex');
      stored.set(hash, Buffer.from(bytes));
      return hash;
    },
    get: async (hash: string) => stored.get(hash),
  };
  return { blobs: blobs as unknown as BlobStore, stored };
}

const text = (length: number, letter = 'x') => ({ type: 'text', text: letter.repeat(length) }) as ToolResultContent;
const data = (bytes: number) =>
  ({
    ...{ type: 'embeddedResource', contentType: 'image/png' },
    data: Buffer.alloc(bytes, 1).toString('base64'),
  }) as ToolResultContent;
const image = { type: 'fileEdit' } as unknown as ToolResultContent;
const result = (content?: ToolResultContent[], structuredContent?: object) =>
  ({
    ...{ success: true, pastTenseMessage: 'Done' },
    ...(content && { content }),
    ...(structuredContent && { structuredContent }),
  }) as ToolCallResult;

describe('a result of a tool', () => {
  it('[REL-098] is large when its texts, its data or its structure are', () => {
    const half = INLINE_TEXT_MAX_CHARACTERS / 2;
    expect([result(), result([]), result([image])].map(isLarge)).toEqual([false, false, false]);
    expect(isLarge(result([text(half), text(half)]))).toBe(false);
    expect(isLarge(result([text(half), image, text(half + 1)]))).toBe(true);
    expect(isLarge(result([data(INLINE_DATA_MAX_BYTES)]))).toBe(INLINE_DATA_MAX_BYTES % 3 !== 0);
    expect(isLarge(result([data(INLINE_DATA_MAX_BYTES - 3)]))).toBe(false);
    expect(isLarge(result([data(INLINE_DATA_MAX_BYTES), data(9)]))).toBe(true);
    const room = INLINE_TEXT_MAX_CHARACTERS - JSON.stringify({ a: '' }).length;
    expect(isLarge(result([], { a: 'x'.repeat(room) }))).toBe(false);
    expect(isLarge(result([], { a: 'x'.repeat(room + 1) }))).toBe(true);
  });

  it('[REL-098] begins the end of a long text with a whole line, unless its lines are too long', async () => {
    const end = (PREVIEW_MAX_CHARACTERS * 3) / 4;
    const endOf = async (last: string) => {
      const long = { type: 'text', text: 'a'.repeat(INLINE_TEXT_MAX_CHARACTERS) + last } as ToolResultContent;
      const { content = [] } = await shownResult(memory().blobs, result([long]));
      return (content as { text: string }[])[0]?.text.split('kept aside.]\n')[1];
    };
    expect([PREVIEW_MAX_CHARACTERS, last('', end).length]).toEqual([4_096, end]);
    expect(await endOf(last('', end))).toBe('b'.repeat(end - 1));
    expect(await endOf(last('c'.repeat(end / 2 - 1), end))).toBe('b'.repeat(end / 2));
    expect(await endOf(last('c'.repeat(end / 2), end))).toBe(last('c'.repeat(end / 2), end));
    expect(await endOf('b'.repeat(end))).toBe('b'.repeat(end));
  });

  /** A text of so many characters: its first line, and one more. */
  function last(first: string, length: number): string {
    return `${first}\n`.padEnd(length, 'b');
  }

  it('[REL-098] shows the end of a long text, too: a command says last what came of it', async () => {
    const { blobs } = memory();
    const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index}`).join('\n');
    const long = { type: 'text', text: `${lines}\nAssertionError: 😀` } as ToolResultContent;
    const { content = [] } = await shownResult(blobs, result([long]));
    const [preview] = content as { text: string }[];
    expect(preview?.text).toMatch(
      /^line 0\nline 1\n[\s\S]*\n\[Cut here: [^\n]+\]\nline \d+\n[\s\S]*\nAssertionError: 😀$/,
    );
    expect(preview?.text.length).toBeLessThan(PREVIEW_MAX_CHARACTERS + 100);
    expect(await wholeContent(blobs, content)).toEqual([long]);
  });

  it('[REL-098] does not split a character where its end begins', async () => {
    const { blobs } = memory();
    for (const shift of ['', 'x']) {
      const long = { type: 'text', text: `${shift}${'😀'.repeat(INLINE_TEXT_MAX_CHARACTERS)}` } as ToolResultContent;
      const { content = [] } = await shownResult(blobs, result([long]));
      const { text: shown = '' } = content[0] as { text?: string };
      expect(Buffer.from(shown).toString()).toBe(shown);
    }
  });

  it('[REL-098] is shown with the beginning of a long text, and the name of the whole', async () => {
    const { blobs, stored } = memory();
    const long = text(INLINE_TEXT_MAX_CHARACTERS + 1);
    const { content = [], ...rest } = await shownResult(blobs, result([image, long, text(3)]));
    expect(rest).toEqual({ success: true, pastTenseMessage: 'Done' });
    expect(content.map(({ type }) => type)).toEqual(['fileEdit', 'text', 'resource', 'text']);
    expect(content[1]).toMatchObject({ text: expect.stringMatching(/^x+\n\[Cut here.+\]\nx+$/) });
    expect(content[2]).toMatchObject({ uri: expect.stringMatching(/^atrium-content:\//), contentType: 'text/plain' });
    expect([...stored.values()].map(String)).toEqual([(long as { text: string }).text]);
    expect(await wholeContent(blobs, content)).toEqual([image, long, text(3)]);
  });

  it('[REL-098] has room for so much text in all; what comes later is cut, unless a preview would be no shorter', async () => {
    const { blobs } = memory();
    const parts = [
      text(INLINE_TEXT_MAX_CHARACTERS, 'a'),
      text(PREVIEW_MAX_CHARACTERS + 1, 'b'),
      text(PREVIEW_MAX_CHARACTERS, 'c'),
    ];
    const { content = [] } = await shownResult(blobs, result(parts));
    expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'resource', 'text']);
    expect([content[0], content[3]]).toEqual([parts[0], parts[2]]);
    expect(await wholeContent(blobs, content)).toEqual(parts);
    const twice = await shownResult(
      blobs,
      result([text(INLINE_TEXT_MAX_CHARACTERS), text(INLINE_TEXT_MAX_CHARACTERS)]),
    );
    expect(twice.content?.map(({ type }) => type)).toEqual(['text', 'text', 'resource']);
  });

  it('[REL-098] has room for so many bytes; other blocks are named', async () => {
    const { blobs } = memory();
    const parts = [data(INLINE_DATA_MAX_BYTES - 1), data(1), data(1)];
    const { content = [] } = await shownResult(blobs, result(parts));
    expect(content.map(({ type }) => type)).toEqual(['embeddedResource', 'embeddedResource', 'resource']);
    expect(content[2]).toMatchObject({ contentType: 'image/png' });
    expect(await wholeContent(blobs, content)).toEqual(parts);
  });

  it('[REL-098] keeps a structure that is short, and names a long one', async () => {
    const { blobs, stored } = memory();
    expect(await shownResult(blobs, result(undefined, { a: 1 }))).toEqual({ ...result([], { a: 1 }) });
    const long = { a: 'x'.repeat(INLINE_TEXT_MAX_CHARACTERS) };
    const shown = await shownResult(blobs, result([text(1)], long));
    expect(shown.content).toMatchObject([{ type: 'text' }, { type: 'resource', contentType: 'application/json' }]);
    expect('structuredContent' in shown).toBe(false);
    expect([...stored.values()].map((bytes) => JSON.parse(String(bytes)))).toEqual([long]);
  });

  it('[REL-098] that no store would take is left out, and says so', async () => {
    const { blobs, stored } = memory();
    const { content } = await shownResult(blobs, result([data(BLOB_MAX_BYTES + 1)]));
    expect(content).toEqual([
      { type: 'text', text: expect.stringMatching(/^\[Left out: image\/png of .* too large\.\]$/) },
    ]);
    expect(stored.size).toBe(0);
    expect((await shownResult(blobs, result([data(BLOB_MAX_BYTES)]))).content).toMatchObject([{ type: 'resource' }]);
  });
});

describe('what an agent remembers', () => {
  const call = (status: string, content?: object[]) =>
    ({ kind: 'toolCall', toolCall: { status, ...(content && { content }) } }) as unknown as ResponsePart;
  const turn = (...responseParts: ResponsePart[]) => ({ id: 't', responseParts }) as unknown as Turn;

  it('has the whole text in place of its preview, wherever that stands', async () => {
    const { blobs } = memory();
    const hash = await blobs.put(Buffer.from('whole'));
    const named = { type: 'resource', uri: `atrium-content:/${hash}` } as ToolResultContent;
    const preview = {
      type: 'text',
      text: 'who\n[Cut here: the whole of it is kept aside.]',
    } as ToolResultContent;
    const [whole, other] = ['whole', 'other'].map((text) => ({ type: 'text', text }) as ToolResultContent);
    expect(await wholeContent(blobs, [preview, named])).toEqual([whole]);
    expect(await wholeContent(blobs, [other, other, preview, named, other] as never)).toEqual([
      other,
      other,
      whole,
      other,
    ]);
  });

  it('has every blob in its place again, and everything else as it is', async () => {
    const { blobs } = memory();
    const hash = await blobs.put(Buffer.from('whole'));
    const named = { type: 'resource', uri: `atrium-content:/${hash}` };
    const lost = { type: 'resource', uri: `atrium-content:/${'0'.repeat(64)}` };
    const foreign = { type: 'resource', uri: 'file:/x' };
    const turns = [
      turn(call('completed', [{ type: 'text', text: 'a' }])),
      turn(call('running', [named]), call('completed')),
    ];
    expect(await wholeTurns(blobs, turns)).toEqual(turns);
    expect((await wholeTurns(blobs, turns))[0]).toBe(turns[0]);
    const markdown = { kind: 'markdown' } as unknown as ResponsePart;
    const [whole] = await wholeTurns(blobs, [
      turn(markdown, call('completed', [named, lost, foreign]), call('running', [named]), call('completed', [foreign])),
    ]);
    const embedded = { type: 'embeddedResource', data: Buffer.from('whole').toString('base64') };
    expect(whole?.responseParts).toEqual([
      markdown,
      call('completed', [{ ...embedded, contentType: 'application/octet-stream' }, lost, foreign]),
      call('running', [named]),
      call('completed', [foreign]),
    ]);
  });
});
