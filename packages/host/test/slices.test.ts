import { nextSlice, PARSED_AT_ONCE_CHARACTERS, parseInSlices } from '@atrium/core/util/slices.js';
import { describe, expect, it } from 'vitest';
import { turnCounter } from './support/large-session.js';

describe('work in slices', () => {
  it('[REL-058] each turn of the event loop lets only one go on, in the order they came', async () => {
    const turnNow = turnCounter();
    const seen: { worker: number; turn: number }[] = [];
    const work = async (worker: number) => {
      for (let step = 0; step < 5; step++) {
        await nextSlice();
        seen.push({ worker, turn: turnNow() });
      }
    };
    await Promise.all([0, 1, 2].map(work));
    expect(seen.map(({ worker }) => worker)).toEqual(Array.from({ length: 15 }, (_, index) => index % 3));
    expect(new Set(seen.map(({ turn }) => turn)).size).toBe(15);
  });
});

describe('a long JSON text', () => {
  const filler = 'x'.repeat(PARSED_AT_ONCE_CHARACTERS);

  it.each([
    ['strings with every kind of escape', ['"', '\\', '\\\\"', '\n\u2028\u0000', '🚀\ud800', 'a\\"b', '']],
    ['numbers and words', [0, -1.5e-7, 12345678901, true, false, null]],
    ['nesting', { a: { b: [[], {}, [{ c: [1, { d: null }] }]] }, '': 0, 'k"e\\y': [[[]]] }],
  ])('is what JSON.parse makes of it: %s', async (_name, value) => {
    const text = JSON.stringify([filler, value, { value }]);
    expect(await parseInSlices(text)).toEqual(JSON.parse(text));
    const spaced = JSON.stringify([filler, value], null, '\t ');
    expect(await parseInSlices(spaced)).toEqual(JSON.parse(spaced));
  });

  it('gives a member named __proto__ to nobody as a prototype', async () => {
    const parsed = (await parseInSlices(`["${filler}",{"__proto__":{"admin":true}}]`)) as [string, { admin?: true }];
    expect(parsed[1].admin).toBeUndefined();
    expect(Object.keys(parsed[1])).toEqual(['__proto__']);
  });

  it.each(['[1', '{"a" 1}', '{"a":1', '["x', '[1,]', '{"a":tru}', '[] []', '[1}'])(
    'is refused when it is no JSON: %s',
    async (end) => {
      await expect(parseInSlices(`${' '.repeat(PARSED_AT_ONCE_CHARACTERS)}${end}`)).rejects.toThrow(SyntaxError);
    },
  );

  it('[REL-058] lets the event loop turn while it is parsed', async () => {
    const turnNow = turnCounter();
    const items = Array.from({ length: 40 }, (_, index) => ({ index, text: 'y'.repeat(50_000) }));
    const start = turnNow();
    expect(await parseInSlices(JSON.stringify(items))).toEqual(items);
    expect(turnNow() - start).toBeGreaterThan(4);
  });
});
