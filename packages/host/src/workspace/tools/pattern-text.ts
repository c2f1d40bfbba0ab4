/**
 * What a regular expression cannot do without: a plain text that stands in everything it fits. Programs with another
 * idea of patterns can look for that first. It sees only what is plain to see, and rather nothing than too much.
 */

/** A shorter text stands in too many files to be worth it. */
export const KNOWN_TEXT_MIN_CHARACTERS = 3;

/** Groups may be optional or forbidden, so they are passed over, and so is what stands for one of several letters. */
export function textInEveryMatch(source: string): string | undefined {
  // Either side would do; and some escapes stand for letters that are not written here.
  if (source.includes('|') || /\\[^\W\ddDwWsSbBnrtfv]|\\\d/.test(source)) return undefined;
  const texts = [...source.matchAll(TOKEN)].reduce(withToken, { depth: 0, runs: [''] }).runs;
  const longest = texts.reduce((best, text) => (text.length > best.length ? text : best), '');
  return longest.length < KNOWN_TEXT_MIN_CHARACTERS ? undefined : longest;
}

/** One piece of a pattern at a time: an escape, a class, a repetition, or a single character. */
const TOKEN = /\\(?<escaped>.)|\[(?:\\.|[^\]\\])*\]|(?<repeated>[*?]|\{\d+(?:,\d*)?\})|(?<single>.)/gs;

interface Seen {
  /** How many groups are open. */
  readonly depth: number;
  /** Texts without a gap; the last one may still grow. */
  readonly runs: readonly string[];
}

function withToken(seen: Seen, { groups }: RegExpExecArray): Seen {
  const { depth, runs } = seen;
  const { escaped, repeated, single } = groups ?? {};
  if (single === '(') return { depth: depth + 1, runs: [...runs, ''] };
  if (single === ')') return { depth: depth - 1, runs: [...runs, ''] };
  if (depth > 0) return seen;
  const text = runs.at(-1) ?? '';
  // It may be repeated no times at all.
  if (repeated !== undefined) return { depth, runs: [...runs.slice(0, -1), text.slice(0, -1), ''] };
  const letter = plainLetter(escaped, single);
  return { depth, runs: letter === undefined ? [...runs, ''] : [...runs.slice(0, -1), text + letter] };
}

function plainLetter(escaped: string | undefined, single: string | undefined): string | undefined {
  if (escaped !== undefined) return /[\x21-\x7e]/.test(escaped) && /\W/.test(escaped) ? escaped : undefined;
  return single !== undefined && /[\x20-\x7e]/.test(single) && !'^$.+{}[]'.includes(single) ? single : undefined;
}
