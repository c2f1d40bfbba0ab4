import { describe, expect, it } from 'vitest';
import { printable, printableLines, printableOutput } from '../../src/text/printable.js';
import { COLOURED, PLAIN, styleFor } from '../../src/text/style.js';
import { table } from '../../src/text/table.js';
import { cut, graphemesOf, hardWrap, padded, widthOf, wrap } from '../../src/text/width.js';

describe('the width of text', () => {
  it('counts columns, not characters', () => {
    expect(widthOf('abc')).toBe(3);
    expect(widthOf('日本')).toBe(4);
    expect(widthOf('\u{17000}')).toBe(2);
    expect(widthOf('👍🏽')).toBe(2);
    expect(widthOf('é')).toBe(1);
    expect(widthOf('\u001b[1mbold\u001b[22m')).toBe(4);
  });

  it('cuts, pads and wraps by columns', () => {
    expect(cut('日本語', 5)).toBe('日本…');
    expect(cut('short', 5)).toBe('short');
    expect(padded('日', 4)).toBe('日  ');
    expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(hardWrap('日本語', 3)).toEqual(['日', '本', '語']);
  });

  it('takes apart a long text as it does a short one, in time that grows with it', () => {
    const short = '日本 a 👍🏽 e\u0301 👩‍👩‍👧‍👦 ';
    expect(graphemesOf(short.repeat(20_000))).toHaveLength(20_000 * graphemesOf(short).length);
    expect(graphemesOf('👍🏽'.repeat(20_000)).join('')).toBe('👍🏽'.repeat(20_000));
  });

  it('makes tables whose last column gives way', () => {
    expect(
      table(
        [
          ['A', 'B'],
          ['long', 'text that is too long'],
        ],
        12,
      ),
    ).toBe('A     B\nlong  text …');
  });
});

describe('text from outside', () => {
  it('[REL-051] has no control characters left, and nothing left out', () => {
    expect(printable('a\nb\u0007c')).toBe('a b\\x07c');
    expect(printableLines('a\r\nb\tc\u001b[31md\u0000')).toBe('a\nb    c\\x1b[31md\\x00');
    expect(printableLines('ls \u001b]0;\ntouch PWNED')).toBe('ls \\x1b]0;\ntouch PWNED');
    expect(printableLines('👩‍👧')).toBe('👩‍👧');
  });

  it('has no colours of a program, and all of its words', () => {
    expect(printableOutput('\u001b[31mred\u001b[0m\r\n50%\r100%\u001b]0;title\u0007')).toBe('red\n50%\n100%');
    expect(printableOutput('a\u001b]b\nc\u001bPd')).toBe('a\\x1b]b\nc\\x1bPd');
  });

  it('has colours only where somebody wants them', () => {
    expect(styleFor({ isTTY: true }, {})).toBe(COLOURED);
    expect(styleFor({ isTTY: false }, {})).toBe(PLAIN);
    expect(styleFor({ isTTY: true }, { NO_COLOR: '1' })).toBe(PLAIN);
    expect(styleFor({ isTTY: true }, { TERM: 'dumb' })).toBe(PLAIN);
  });
});
