/**
 * Measures text on a terminal, and cuts and wraps it to a width. Styles (escape sequences) take no columns.
 * Why this is not a library: docs/decisions/0032.
 */

/** Our own styles and links; text from outside has lost its sequences before it comes here. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character of styles
const SEQUENCES = /\u001b(?:\[[\d;]*m|\]8;;[^\u0007\u001b]*(?:\u0007|\u001b\\))/g;
/** Letters of East Asian scripts and pictures take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const ZERO = /^[\p{Mn}\p{Me}\u200b-\u200f]$/u;
/** Text in which every character has one column. */
const ASCII = /^[\u0020-\u007e]*$/;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** The segmenter takes ever longer per character the longer a text is, so it gets pieces of about this size. */
const PIECE_CHARACTERS = 256;
/** A piece ends here at the latest, even if that cuts a grapheme in two. */
const PIECE_MAX_CHARACTERS = 4_096;
/** A grapheme always ends before one of these: no earlier character joins with them. */
const BEGINS_ALONE = /[\u0020-\u007e\u3041-\u3098\u30a1-\u30ff\u4e00-\u9fff]/;

export function withoutStyles(text: string): string {
  return text.replace(SEQUENCES, '');
}

export function widthOf(text: string): number {
  const bare = text.includes('\u001b') ? withoutStyles(text) : text;
  if (ASCII.test(bare)) return bare.length;
  let width = 0;
  for (const grapheme of graphemesOf(bare)) width += graphemeWidth(grapheme);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (ZERO.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

export function graphemesOf(text: string): string[] {
  if (ASCII.test(text)) return [...text];
  const found: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = pieceEnd(text, from);
    for (const { segment } of segmenter.segment(text.slice(from, end))) found.push(segment);
    from = end;
  }
  return found;
}

function pieceEnd(text: string, from: number): number {
  if (text.length - from <= PIECE_CHARACTERS) return text.length;
  const most = Math.min(text.length, from + PIECE_MAX_CHARACTERS);
  const found = text.slice(from + PIECE_CHARACTERS, most).search(BEGINS_ALONE);
  if (found >= 0) return from + PIECE_CHARACTERS + found;
  const isPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(most - 1, most + 1));
  return isPair ? most - 1 : most;
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** The text up to a width, with … if something is missing. Closes open styles. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 1) return '';
  const [first = ''] = hardWrap(text, width - 1);
  return `${first}…${openLink(first) === undefined ? '' : LINK_END}${first.includes('\u001b') ? '\u001b[0m' : ''}`;
}

/** Lines of at most this width, broken between words if possible. Styles continue after a break. */
export function wrap(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(/(?<= )(?=[^ ])/)) {
    const size = widthOf(word.trimEnd());
    if (used > 0 && used + size > width) {
      lines.push(line.trimEnd());
      line = '';
      used = 0;
    }
    if (size > width) {
      const pieces = hardWrap(word, width);
      line = pieces.pop() ?? '';
      lines.push(...pieces);
      used = widthOf(line);
    } else {
      line += word;
      used += widthOf(word);
    }
  }
  return [...lines, line.trimEnd()];
}

/** Lines of exactly this width, broken anywhere. */
export function hardWrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const piece of pieces(text)) {
    const size = piece.startsWith('\u001b') ? 0 : graphemeWidth(piece);
    if (used + size > Math.max(1, width)) {
      lines.push(line);
      line = '';
      used = 0;
    }
    line += piece;
    used += size;
  }
  return [...lines, line];
}

/** Styles and graphemes, in order. */
function pieces(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (const match of text.matchAll(SEQUENCES)) {
    found.push(...graphemesOf(text.slice(from, match.index)), match[0]);
    from = match.index + match[0].length;
  }
  return [...found, ...graphemesOf(text.slice(from))];
}

const LINK_END = '\u001b]8;;\u001b\\';

/** The address of the link that a line leaves open. */
function openLink(line: string, before?: string): string | undefined {
  let open = before;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character of links
  for (const [, address] of line.matchAll(/\u001b\]8;;([^\u0007\u001b]*)(?:\u0007|\u001b\\)/g))
    open = address === '' ? undefined : address;
  return open;
}

/** Which code ends which style. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ...['1', '2'].map((code) => [code, '22'] as const),
  ...[['3', '23'] as const, ['4', '24'] as const, ['7', '27'] as const, ['9', '29'] as const],
  ...['31', '32', '33', '34', '36'].map((code) => [code, '39'] as const),
]);

/** Makes each line complete: closes styles at a break, and opens them again after it. */
export function sealed(lines: readonly string[]): string[] {
  if (lines.length < 2 || !lines.some((line) => line.includes('\u001b'))) return [...lines];
  let open: string[] = [];
  let link: string | undefined;
  return lines.map((line) => {
    const linked = link === undefined ? '' : `\u001b]8;;${link}\u001b\\`;
    const before = linked + open.map((code) => `\u001b[${code}m`).join('');
    link = openLink(line, link);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character of styles
    for (const [, code = ''] of line.matchAll(/\u001b\[(\d+)m/g)) {
      if (ENDS.has(code)) open.push(code);
      else open = open.filter((each) => ENDS.get(each) !== code);
    }
    return `${before}${line}${link === undefined ? '' : LINK_END}${open.length > 0 ? '\u001b[0m' : ''}`;
  });
}
