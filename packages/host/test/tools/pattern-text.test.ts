import { describe, expect, it } from 'vitest';
import { textInEveryMatch } from '../../src/workspace/tools/search-files.js';

describe('the text that every match of a pattern holds', () => {
  it.each([
    ['lamp', 'lamp'],
    ['^import \\{', 'import {'],
    ['foo\\.bar', 'foo.bar'],
    ['\\bfunction\\s+\\w+', 'function'],
    ['abcd+e', 'abcd'],
    ['abcd*efg', 'abc'],
    ['abcd?efgh', 'efgh'],
    ['abcd{0,2}', 'abc'],
    ['(abc)?defg', 'defg'],
    ['abc(?!defghi)', 'abc'],
    ['x[abc|def]yzw', undefined],
    ['[lamp]moon', 'moon'],
    ['lamp|moon', undefined],
    ['\\x41lamp', undefined],
    ['\\u0041lamp', undefined],
    ['(lamp)\\1', undefined],
    ['ab', undefined],
    ['.*', undefined],
    ['Straße', 'Stra'],
    ['a{b}cdef', 'cdef'],
  ])('%s: %s', (pattern, text) => expect(textInEveryMatch(pattern)).toBe(text));

  it('is in every match, whatever the pattern', () => {
    const pieces = [
      'a',
      'b',
      'ab',
      'abc',
      '.',
      '\\.',
      '\\w',
      '\\d',
      '[ab]',
      '[^a]',
      '(ab)',
      '(?:abc)',
      '(?=ab)',
      '(?!b)',
    ];
    const repeats = ['', '', '', '?', '*', '+', '{2}', '{0,1}', '+?', '*?'];
    let seed = 7;
    const pick = <T>(list: readonly T[]): T => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return list[Math.floor((seed / 2 ** 31) * list.length)] as T;
    };
    let checked = 0;
    for (let round = 0; round < 20_000; round++) {
      const pattern = Array.from({ length: 5 }, () => pick(pieces) + pick(repeats)).join('');
      const text = Array.from({ length: 16 }, () => pick(['a', 'b', 'ab', 'abc', 'ABC', '.', '1'])).join('');
      const known = tryAll(pattern);
      const match = known && new RegExp(pattern, 'i').exec(text)?.[0];
      if (!known || match === undefined) continue;
      checked += 1;
      expect([pattern, match.toLowerCase().includes(known)]).toEqual([pattern, true]);
    }
    expect(checked).toBeGreaterThan(100);
  });
});

/** A lookahead may not be repeated in every way; what is no pattern is never searched for. */
function tryAll(pattern: string): string | undefined {
  try {
    new RegExp(pattern);
    return textInEveryMatch(pattern);
  } catch {
    return undefined;
  }
}
