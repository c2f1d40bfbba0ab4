import { describe, expect, it } from 'vitest';
import { chosenEncoding } from '../../../src/server/static-files.js';

describe('the encoding of a file', () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, br', 'br'],
    ['deflate', undefined],
    ['*', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['br;q=0.1;x=1, gzip;q=0.2', 'gzip'],
    ['br ; q=1.000 , gzip', 'br'],
    ['br;q=1.001, gzip;q=0.001', 'gzip'],
    ['br;q=-1', undefined],
    ['br;q=0.1234', undefined],
    ['xq=1;br', undefined],
    ['br;xq=1', undefined],
    ['identity, br;q=0.9', undefined],
    ['identity;q=0.5, br;q=0.5', 'br'],
    ['identity;q=0.5, br;q=0.4', undefined],
  ])('for %j is %s', (header, expected) => {
    expect(chosenEncoding(header, ['br', 'gzip'])).toBe(expected);
  });

  it('is one that there is', () => {
    expect([chosenEncoding('br, gzip', ['gzip']), chosenEncoding('br', ['gzip']), chosenEncoding('*', [])]).toEqual([
      ...['gzip', undefined],
      undefined,
    ]);
  });
});
