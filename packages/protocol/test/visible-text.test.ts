import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COMBINING_MARKS_MAX,
  isVisible,
  type VisibleTextMode,
  visibleSegments,
  visibleText,
} from '../src/common/visible-text.js';

const MODES: readonly VisibleTextMode[] = ['line', 'lines'];
const RUNS = 1_000;

/** What must never reach a display, said without the tables of the function. */
const NEVER = new RegExp(
  [
    '[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xa0\\xad\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f]',
    '[\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufeff\\uffa0\\ufff0-\\ufffc]',
    '[\\ufe00-\\ufe0f\\ud800-\\udfff\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]|\\u034f|\\p{M}{5}',
  ].join('|'),
  'u',
);
// biome-ignore lint/complexity/useRegexLiterals: the flag v is newer than the compiler's target
const EMOJI = new RegExp('\\p{RGI_Emoji}', 'gv');

const NASTY = [...'\\\\\\xxun\\rt{}1b0 a/;|é\n\r\t\0\b\x1b\x7f\x85\x9b'].concat(
  '\\x1b \\u{202e} \u202e \u2066 \u2069 \u200b \u200d \ufe0f \u00ad \u034f \u3164 \u00a0 \u3000 \u2028 \ud800 \udc00'.split(
    ' ',
  ),
  '\u0301 \u0336 \u20e3 \u{e0041} \u{e007f} \ufeff 👩 👩‍👧 🏴 1\ufe0f\u20e3 ❤\ufe0f א ش க் \u1039 \ufffc \u{f0000}'.split(
    ' ',
  ),
);
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...NASTY) }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
);

/** Reads the plain form back. */
function decoded(shown: string, mode: VisibleTextMode): string {
  const mark =
    mode === 'line' ? /\\(?:([\\nrt])|x([\da-f]{2})|u\{([\da-f]+)\})/g : /\\(?:([\\r])|x([\da-f]{2})|u\{([\da-f]+)\})/g;
  const short: Record<string, string> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };
  return shown.replace(mark, (_, letter, byte, code) =>
    letter === undefined ? String.fromCodePoint(Number.parseInt(byte ?? code, 16)) : (short[letter] ?? ''),
  );
}

describe.each(MODES)('any text in the mode %s', (mode) => {
  it('[REL-051] leaves nothing that is invisible or acts on a display', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        // A joiner of a whole emoji may stay; nothing else of its kind may.
        const shown = [visibleText(text, mode), ...visibleSegments(text, mode).map((each) => each.text)]
          .map((each) => each.replace(EMOJI, ' '))
          .join(' ');
        expect(NEVER.exec(shown)).toBeNull();
        if (mode === 'line') expect(shown).not.toMatch(/[\n\t]/);
      }),
      { numRuns: RUNS },
    );
  });

  it('[REL-051] can be read back from what is shown, so no two texts look the same', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(decoded(visibleText(text, mode), mode)).toBe(text);
        const read = visibleSegments(text, mode).map((each) => (each.marked ? decoded(each.text, 'line') : each.text));
        expect(read.join('')).toBe(text);
      }),
      { numRuns: RUNS },
    );
  });

  it('is in pieces that alternate between marked and not, none of them empty', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const segments = visibleSegments(text, mode);
        for (const [index, each] of segments.entries()) {
          expect(each.text).not.toBe('');
          expect(each.marked).not.toBe(segments[index - 1]?.marked);
        }
        expect(isVisible(text, mode)).toBe(segments.every((each) => !each.marked));
      }),
    );
  });
});

describe('what is shown of', () => {
  it.each([
    ['a command that hides its end behind an escape', 'ls -la \x1b]\ntouch PWNED', 'ls -la \\x1b]\\ntouch PWNED'],
    ['colours', '\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
    ['an overwritten line', 'rm -rf /\rls', 'rm -rf /\\rls'],
    ['erased characters', 'rm\b\bls', 'rm\\x08\\x08ls'],
    ['a control of eight bits', '\x9b2J', '\\x9b2J'],
    ['a reversed word', 'a\u202etxt.exe', 'a\\u{202e}txt.exe'],
    ['nothing between letters', 'r\u200bm', 'r\\u{200b}m'],
    ['blanks that are no space', 'a\u00a0b\u3000c\u2800d', 'a\\xa0b\\u{3000}c\\u{2800}d'],
    ['hidden tags', `x\u{e0041}`, 'x\\u{e0041}'],
    ['a lone half of a pair', 'x\ud83d', 'x\\u{d83d}'],
    ['a joiner between letters', 'a\u200db', 'a\\u{200d}b'],
    ['a selector behind a letter', 'a\ufe0f', 'a\\u{fe0f}'],
    ['a mark of another script', 'rm\u1039', 'rm\\u{1039}'],
  ])('%s', (_, text, shown) => {
    expect(visibleText(text, 'line')).toBe(shown);
    expect(isVisible(text, 'line')).toBe(false);
  });

  it.each([
    'naïve cafe\u0301',
    '日本語のファイル',
    'שלום',
    'فارسی',
    '👩‍👩‍👧‍👦 ❤\ufe0f 1\ufe0f\u20e3 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🇩🇪 👍🏽',
    'हिन्दी',
  ])('ordinary text is the text: %s', (text) => {
    expect(visibleSegments(text, 'line')).toEqual([{ text, marked: false }]);
  });

  it('line breaks and tabs: they stay on several lines, and are spelled out on one', () => {
    expect(visibleText('a\n\tb\r\n', 'lines')).toBe('a\n\tb\\r\n');
    expect(visibleText('a\n\tb\r\n', 'line')).toBe('a\\n\\tb\\r\\n');
  });

  it('a flood of marks on a letter: a few stay, the others are named', () => {
    const flood = `a${'\u0301'.repeat(COMBINING_MARKS_MAX + 2)}b`;
    expect(visibleSegments(flood, 'line')).toEqual([
      { text: `a${'\u0301'.repeat(COMBINING_MARKS_MAX)}`, marked: false },
      { text: '\\u{301}\\u{301}', marked: true },
      { text: 'b', marked: false },
    ]);
  });

  it('an escape and the same characters written out are different', () => {
    expect(visibleText('\x1b', 'line')).toBe('\\x1b');
    expect(visibleText('\\x1b', 'line')).toBe('\\\\x1b');
    expect(visibleText('C:\\dir\\', 'line')).toBe('C:\\dir\\');
    expect(visibleText("printf 'a\\n'", 'lines')).toBe("printf 'a\\n'");
    expect(visibleSegments('\\x1b\x1b', 'line')).toEqual([
      { text: '\\x1b', marked: false },
      { text: '\\x1b', marked: true },
    ]);
  });

  it('a large text with marks everywhere', () => {
    const piece = `${'a\u0301\u0302'.repeat(50)}${'\u200d'.repeat(50)}👩\u200d`;
    expect(visibleSegments(piece.repeat(2_000), 'lines')).toHaveLength(4 * 2_000);
  });
});
