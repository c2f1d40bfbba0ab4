/** The words of a text as search finds them: letters and digits, without case and accents. */

export interface WordAt {
  /** Without case and accents. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Words in this order: `foo_bar` is two. The last one may be only the beginning of a word. */
export interface Phrase {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

/** Scripts without spaces between words: each character counts as a word. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const WORD = new RegExp(`[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{Co}]\\p{M}*)+`, 'gu');
const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]\\p{M}*`, 'gu');
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');

export function* wordsOf(text: string): Generator<WordAt, void, undefined> {
  for (const match of text.matchAll(WORD)) {
    const [word] = match;
    yield { word: folded(word), start: match.index, end: match.index + word.length };
  }
}

const PLAIN = /^[a-z0-9]*$/;

function folded(word: string): string {
  const lower = word.toLowerCase();
  return PLAIN.test(lower) ? lower : lower.normalize('NFD').replace(/\p{M}/gu, '');
}

/** The same text with spaces around characters that count as words, for an index that splits at spaces. */
export function spaced(text: string): string {
  return HAS_UNSPACED.test(text) ? text.replace(UNSPACED_CHARACTER, ' $& ') : text;
}

/** The phrase in a text; undefined for a text without words. */
export function phraseOf(text: string, isPrefix = false): Phrase | undefined {
  const words = [...wordsOf(text)].map(({ word }) => word);
  return words.length === 0 ? undefined : { words, isPrefix };
}

export type TextSpan = readonly [start: number, end: number];

/** Where the phrase occurs in the words of a text. */
export function spansOf(phrase: Phrase, words: readonly WordAt[]): TextSpan[] {
  const { words: wanted, isPrefix } = phrase;
  const spans: TextSpan[] = [];
  for (let at = 0; at + wanted.length <= words.length; at += 1) {
    const fits = wanted.every((word, index) => {
      const here = words[at + index]?.word ?? '';
      return isPrefix && index === wanted.length - 1 ? here.startsWith(word) : here === word;
    });
    if (!fits) continue;
    const last = words[at + wanted.length - 1];
    spans.push([words[at]?.start ?? 0, last?.end ?? 0]);
    at += wanted.length - 1;
  }
  return spans;
}
