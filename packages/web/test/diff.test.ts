/** Diffs: the pieces that can be taken back one by one, and coloured code cut into lines. */
import { expect, it } from 'vitest';
import { diffLines, hunks, piecesOf, pieceWords } from '../src/diff/diff.js';
import { highlighted, htmlLines } from '../src/markdown/highlight.js';

const words = (before: string, after: string) =>
  [...piecesOf(hunks(diffLines(before, after)))].map(([index, piece]) => [index, pieceWords(piece)]);

it('names each piece by its lines, on the side that has them', () => {
  expect(words('a\nb\nc\nd\ne', 'a\nB\nc\nd\nx\ny\ne')).toEqual([
    [1, 'Line 2'],
    [5, 'Lines 5 to 6'],
  ]);
  expect(words('a\nb\nc\nd', 'a\nd')).toEqual([[1, 'Lines 2 to 3 of before']]);
  expect(words('a\nb', 'a\nb\nc')).toEqual([[2, 'Line 3']]);
  expect(words('a\r\nb\r\n', 'a\nb\n')).toEqual([]);
});

it('counts lines across the gaps between pieces', () => {
  const lines = Array.from({ length: 40 }, (_, index) => String(index));
  const changed = lines.with(5, 'x').with(30, 'y').toSpliced(20, 1);
  expect(words(lines.join('\n'), changed.join('\n')).map(([, text]) => text)).toEqual([
    'Line 6',
    'Line 21 of before',
    'Line 30',
  ]);
});

it('ends a colour with its line, and begins it again in the next', () => {
  const html = '<span class="a">x &lt;\n<span class="b">y</span>\n\nz</span> end';
  expect(htmlLines(html)).toEqual([
    '<span class="a">x &lt;</span>',
    '<span class="a"><span class="b">y</span></span>',
    '<span class="a"></span>',
    '<span class="a">z</span> end',
  ]);
  expect(htmlLines('')).toEqual(['']);
});

it.each([
  ['css', '[a\rb]\np {}\n'],
  ['js', 'const a = css`[b\rc]`;\nrun();\n'],
  ['html', '<style>[a\u2028b]</style>\n<p>\n'],
])('[REL-051] leaves %s code plain whose lines the colours would move', async (language, code) => {
  expect(await highlighted(code, language)).toBeUndefined();
  expect(htmlLines((await highlighted(code.replace(/[\r\u2028]/, ' &<>"\''), language)) ?? '')).toHaveLength(3);
});
