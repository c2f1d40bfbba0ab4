import { describe, expect, it } from 'vitest';
import { JsonParts, LazyList, PART_CHARACTERS, RawJson } from '../../src/util/json-parts.js';

/** Strings of one piece and a bit are the longest pieces that a part can end with. */
const PART_MAX_CHARACTERS = 2 * PART_CHARACTERS;

async function partsOf(value: unknown): Promise<string[]> {
  const parts = new JsonParts(value);
  const texts: string[] = [];
  for (;;) {
    const { text, isLast } = await parts.next();
    texts.push(text);
    if (isLast) return texts;
  }
}

function lazy<T>(...pages: T[][]): LazyList<T> {
  return new LazyList(async function* () {
    for (const page of pages) yield page;
  });
}

const LONG = 'She said "no" … 🚀🚀\n\u0000\ud800 and went on\\. '.repeat(40_000);

describe('a value in parts', () => {
  it.each([
    ['small values', [1, null, true, 'x', { a: undefined, b: [undefined, Number.NaN], ['__proto__']: 1 }, [], {}]],
    ['a long string', LONG],
    ['a string of surrogate pairs at every offset', ['x', 'xx', 'xxx'].map((start) => start + '🚀'.repeat(100_000))],
    [
      'many small items',
      Array.from({ length: 50_000 }, (_, index) => ({ index, text: `item ${index}`, no: undefined })),
    ],
    ['deep nesting around a long string', { a: [{ b: { c: [LONG, { d: LONG }] } }], after: 1 }],
    ['an object with a long list of empty ones', { empty: Array.from({ length: 40_000 }, () => ({})), last: [] }],
  ])('is the text of JSON.stringify: %s', async (_name, value) => {
    expect((await partsOf(value)).join('') === JSON.stringify(value)).toBe(true);
  });

  it('[REL-058] no part is much longer than the limit, also inside one string', async () => {
    const parts = await partsOf({ text: LONG, raw: new RawJson(JSON.stringify(LONG)), items: lazy([LONG], [LONG]) });
    expect(parts.length).toBeGreaterThan((4 * LONG.length) / PART_MAX_CHARACTERS);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(PART_MAX_CHARACTERS);
  });

  it('no part ends in the middle of a character', async () => {
    const text = '🚀'.repeat(PART_CHARACTERS);
    for (const part of await partsOf([`x${text}`, new RawJson(JSON.stringify(text))])) {
      expect(Buffer.from(part).toString() === part).toBe(true);
    }
  });

  it('takes text over as it is, wherever it stands', async () => {
    const value = { list: [new RawJson('{"a": 1}'), { deep: [[[{ raw: new RawJson('[ ]') }]]] }] };
    expect((await partsOf(value)).join('')).toBe('{"list":[{"a": 1},{"deep":[[[{"raw":[ ]}]]]}]}');
  });

  it('passes bytes on as they are, each at the end of a part', async () => {
    const bytes = Buffer.from('{"é":1},{"🚀":2}');
    const list = lazy<unknown>([new RawJson(bytes), 'x'], [new RawJson(bytes)]);
    const parts = new JsonParts({ list }, { before: '<', after: '>' });
    expect(parts.atOnce()).toBeUndefined();
    expect([await parts.next(), await parts.next(), await parts.next()]).toEqual([
      { text: '<{"list":[', bytes, isLast: false },
      { text: ',"x",', bytes, isLast: false },
      { text: ']}>', isLast: true },
    ]);
  });

  it('reads a lazy list while it is written, page by page, and changes each item when it is due', async () => {
    const events: string[] = [];
    const list = new LazyList(async function* () {
      for (const page of [['a', 'b'], [], ['c']]) {
        events.push(`page ${page}`);
        yield page;
      }
    });
    const changed = list.map((item) => item.toUpperCase()).map((item) => ({ item }));
    const text = (await partsOf({ list: changed, empty: lazy(), nothing: lazy([]) })).join('');
    expect(text).toBe('{"list":[{"item":"A"},{"item":"B"},{"item":"C"}],"empty":[],"nothing":[]}');
    expect(events).toEqual(['page a,b', 'page ', 'page c']);
  });

  it('is given at once when it is small and nothing has to be waited for', () => {
    expect(new JsonParts({ a: 1 }, { before: '<', after: '>' }).atOnce()).toBe('<{"a":1}>');
    expect(new JsonParts(LONG).atOnce()).toBeUndefined();
    expect(new JsonParts(lazy(['a'])).atOnce()).toBeUndefined();
  });

  it('loses nothing when it was first asked for at once', async () => {
    const parts = new JsonParts({ list: lazy(['a']), text: LONG });
    expect(parts.atOnce()).toBeUndefined();
    let text = '';
    for (let isLast = false; !isLast; ) {
      const part = await parts.next();
      text += part.text;
      ({ isLast } = part);
    }
    expect(text === JSON.stringify({ list: ['a'], text: LONG })).toBe(true);
  });

  it('fails when a page cannot be read', async () => {
    const broken = new LazyList(async function* () {
      yield ['a'];
      throw new Error('unreadable');
    });
    await expect(partsOf(broken)).rejects.toThrow('unreadable');
    expect(() => JSON.stringify(broken)).toThrow(TypeError);
  });
});
