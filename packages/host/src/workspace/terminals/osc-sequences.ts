/**
 * Finds the operating system commands (OSC) in the output of a terminal: titles, folders, and the marks of shell
 * integration. Removes the marks, and passes everything else unchanged. A sequence may arrive in any number of pieces.
 */
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';

export const TITLE_MAX_CHARACTERS = 200;
/**
 * The longest escape sequence that is parsed: twice what a shell sends for the longest command line that it reports.
 */
export const SEQUENCE_MAX_CHARACTERS = 32 * 2 ** 10;
/** Marks of shell integration, of any vendor. No client ever sees them. */
const MARKS: ReadonlySet<number> = new Set([133, 633]);
/** Titles and folders. */
const LABELS: ReadonlySet<number> = new Set([0, 2, 7]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const BEGIN = /\x1b\]|\x9d/g;
/** The code and the character after it; without that character, the code may continue in the next piece. */
const CODE = /(\d{0,4})(;|[^;\d]|$)/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a bell or a "string terminator" ends; others break it off
const END = /\x07|\x9c|\x1b\\|\x1b(?!$)|[\x18\x1a]/g;
const ENDS: ReadonlySet<string> = new Set(['\x07', '\x9c', '\x1b\\']);
const CANCELS: ReadonlySet<string> = new Set(['\x18', '\x1a']);

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'osc'; readonly code: number; readonly body: string };

export class OscSplitter {
  /** The beginning of a sequence whose end has not come yet. */
  #held = '';

  push(chunk: string): Piece[] {
    const input = this.#held + chunk;
    this.#held = '';
    return joined(this.#split(input));
  }

  /** The output has ended. An unfinished sequence is text, unless it is the beginning of a mark. */
  end(): Piece[] {
    const rest = this.#held;
    this.#held = '';
    return rest === '' || MARKS.has(Number(/\d+/.exec(rest)?.[0])) ? [] : [{ kind: 'text', text: rest }];
  }

  *#split(input: string): Iterable<Piece> {
    const ends = endsIn(input);
    let from = 0;
    for (let begin = find(BEGIN, input, 0); begin; begin = find(BEGIN, input, from)) {
      if (begin.index > from) yield { kind: 'text', text: input.slice(from, begin.index) };
      const sequence = sequenceAt(input, { begin: begin.index, codeAt: begin.index + begin[0].length, ends });
      if (!sequence) return this.#hold(input.slice(begin.index));
      yield* sequence.pieces;
      from = sequence.end;
    }
    const isCut = input.endsWith('\x1b');
    if (isCut) this.#held = '\x1b';
    yield { kind: 'text', text: input.slice(from, isCut ? -1 : undefined) };
  }

  #hold(rest: string): void {
    this.#held = rest;
  }
}

interface Sequence {
  readonly pieces: readonly Piece[];
  /** Where it ends. */
  readonly end: number;
}

interface Begun {
  readonly begin: number;
  readonly codeAt: number;
  /** The first terminator at or after a place. */
  readonly ends: (from: number) => RegExpExecArray | null;
}

/** The sequence that begins here; undefined when its rest has not arrived yet. */
function sequenceAt(input: string, { begin, codeAt, ends }: Begun): Sequence | undefined {
  CODE.lastIndex = codeAt;
  const [, digits = '', follower = ''] = CODE.exec(input) ?? [];
  const isOver = input.length - begin > SEQUENCE_MAX_CHARACTERS;
  const passed: Sequence = { pieces: [{ kind: 'text', text: input.slice(begin, codeAt) }], end: codeAt };
  if (follower === '') return isOver || digits.length > 3 ? passed : undefined;
  const code = digits === '' ? Number.NaN : Number(digits);
  if (!MARKS.has(code) && !LABELS.has(code)) return passed;
  const end = ends(codeAt + digits.length);
  if (!end) return isOver ? passed : undefined;
  return complete(input, { begin, bodyAt: codeAt + digits.length + 1, code, end });
}

interface Found {
  readonly begin: number;
  readonly bodyAt: number;
  readonly code: number;
  readonly end: RegExpExecArray;
}

/** An escape that begins something else breaks the sequence off, and is parsed again. */
function complete(input: string, { begin, bodyAt, code, end }: Found): Sequence {
  const isWhole = ENDS.has(end[0]);
  const after = end.index + (isWhole || CANCELS.has(end[0]) ? end[0].length : 0);
  const shown: Piece[] = MARKS.has(code) ? [] : [{ kind: 'text', text: input.slice(begin, after) }];
  const pieces: Piece[] = isWhole ? [{ kind: 'osc', code, body: input.slice(bodyAt, end.index) }] : [];
  return { pieces: [...shown, ...pieces], end: after };
}

/**
 * Callers ask for increasing places. Searches for each terminator once, because thousands of sequences may share one,
 * or none.
 */
function endsIn(input: string): Begun['ends'] {
  let next: RegExpExecArray | null | undefined;
  return (from) => {
    if (next === undefined || (next && next.index < from)) next = find(END, input, from);
    return next;
  };
}

function find(pattern: RegExp, input: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(input);
}

/** Joins neighbouring texts and drops empty ones. */
function joined(pieces: Iterable<Piece>): Piece[] {
  const list: Piece[] = [];
  for (const piece of pieces) {
    const last = list.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text')
      list[list.length - 1] = { ...last, text: last.text + piece.text };
    else if (piece.kind !== 'text' || piece.text !== '') list.push(piece);
  }
  return list;
}

/**
 * The meaning of a terminal's sequences. Marks count only with the terminal's own secret, so that output cannot forge
 * them.
 */
export type Signal =
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'cwd'; readonly path: string }
  /** The shell is about to ask for a command. */
  | { readonly kind: 'prompt' }
  /** `isSure`: the shell knows that it runs this line; otherwise it is the last line in its history. */
  | { readonly kind: 'executed'; readonly commandLine: string; readonly isSure: boolean }
  | { readonly kind: 'finished'; readonly exitCode: number | undefined }
  /** The command that the terminal was opened for has ended, and all its output has arrived. */
  | { readonly kind: 'over'; readonly exitCode: number };

export function signalOf(code: number, body: string, nonce: string | undefined): Signal | undefined {
  if (code === 0 || code === 2) return { kind: 'title', title: cleanTitle(body) };
  if (code === 7) return folderIn(body);
  const fields = body.split(';');
  if (code !== 633 || nonce === undefined || fields.pop() !== nonce) return undefined;
  return markOf(fields);
}

/** Reduces a text to one line without control characters. */
export function cleanTitle(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes them
  const plain = text.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ').trim();
  return [...plain].slice(0, TITLE_MAX_CHARACTERS).join('');
}

function folderIn(uri: string): Signal | undefined {
  try {
    const { protocol, host, pathname } = new URL(uri);
    const isHere = host === '' || host === 'localhost' || host.toLowerCase() === hostname().toLowerCase();
    if (protocol !== 'file:' || !isHere) return undefined;
    return { kind: 'cwd', path: fileURLToPath(`file://${pathname}`) };
  } catch {
    return undefined;
  }
}

function markOf([mark, first = '', second = '']: readonly string[]): Signal | undefined {
  if (mark === 'A') return { kind: 'prompt' };
  if (mark === 'C') return { kind: 'executed', isSure: first === 'sure', commandLine: unescaped(second) };
  if (mark === 'D') return { kind: 'finished', exitCode: /^\d+$/.test(first) ? Number(first) : undefined };
  if (mark === 'X') return { kind: 'over', exitCode: Number(first) };
  if (mark === 'P' && first.startsWith('Cwd=')) return { kind: 'cwd', path: unescaped(first.slice('Cwd='.length)) };
  return undefined;
}

/** The scripts write `\\` for a backslash, and `\xNN` for characters that would end a field or the sequence. */
function unescaped(text: string): string {
  return text.replace(/\\(?:\\|x([\da-f]{2}))/gi, (_all, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
