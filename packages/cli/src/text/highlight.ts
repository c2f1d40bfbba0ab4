/**
 * Colours code line by line, as it comes: comments, strings, numbers and the words of the language. A line never
 * changes once
 * it is on the screen, so from one line to the next this remembers only an open comment or string.
 */
import type { Style } from './style.js';

/** Longer lines are data: they stay plain. */
export const HIGHLIGHT_LINE_MAX_CHARACTERS = 2_000;

interface Language {
  readonly words: ReadonlySet<string>;
  /** The marks that begin a comment up to the end of the line. */
  readonly lineComments: readonly string[];
  readonly blockComment?: readonly [open: string, close: string];
  /** Of these, the ones in `long` go over several lines. */
  readonly quotes: readonly string[];
  readonly long?: readonly string[];
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const C_COMMENTS = { lineComments: ['//'], blockComment: ['/*', '*/'] } as const;

const SCRIPT: Language = {
  words: words(
    'abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export ' +
      'extends false finally for from function get if implements import in instanceof interface is keyof let namespace never new null ' +
      'number of override private protected public readonly return satisfies set static string super switch this throw true try type ' +
      'typeof undefined unknown var void while yield',
  ),
  ...C_COMMENTS,
  quotes: ['"', "'", '`'],
  long: ['`'],
};
const C_LIKE: Language = {
  words: words(
    'abstract auto bool boolean break byte case catch chan char class const continue def default defer delete do double dyn else enum ' +
      'explicit extends extern false final finally float fn for foreach fun func go goto if impl implements import in include inline int ' +
      'interface internal let long loop map match mod module move mut namespace new nil null nullptr object open operator override ' +
      'package private protected pub public range ref return sealed select self short signed sizeof static str string struct super ' +
      'switch template this throw throws trait true try type typedef typename union unsafe unsigned use using val var virtual void ' +
      'volatile when where while yield',
  ),
  ...C_COMMENTS,
  quotes: ['"', "'", '`'],
  long: ['`'],
};
const PYTHON: Language = {
  words: words(
    'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda ' +
      'match None nonlocal not or pass raise return self True try while with yield',
  ),
  lineComments: ['#'],
  quotes: ['"""', "'''", '"', "'"],
  long: ['"""', "'''"],
};
const SHELL: Language = {
  words: words(
    'begin break case continue do done elif else end esac exit export fi for function if in local return set shift source then trap ' +
      'true false until unless while def class module require rescue ensure nil self yield',
  ),
  lineComments: ['#'],
  quotes: ['"', "'"],
};
const DATA: Language = { words: words('true false null yes no on off'), lineComments: ['#', '//'], quotes: ['"', "'"] };
const SQL: Language = {
  words: words(
    'select from where insert into values update set delete create table index view drop alter add column primary key foreign references ' +
      'not null and or in is like between join left right inner outer full on group by order having limit offset union all distinct as ' +
      'case when then else end begin commit rollback with exists default unique check',
  ),
  lineComments: ['--'],
  blockComment: ['/*', '*/'],
  quotes: ["'", '"'],
};
const STYLES: Language = {
  words: words('important'),
  lineComments: [],
  blockComment: ['/*', '*/'],
  quotes: ['"', "'"],
};
const MARKUP: Language = { words: words(''), lineComments: [], blockComment: ['<!--', '-->'], quotes: ['"', "'"] };

const LANGUAGES: readonly (readonly [names: string, language: Language])[] = [
  ['js jsx ts tsx mjs cjs mts cts javascript typescript vue svelte', SCRIPT],
  ['c h cc cpp hpp cs csharp java kt kotlin go rs rust swift php scala dart zig objc groovy proto', C_LIKE],
  ['py python pyi', PYTHON],
  ['sh bash zsh fish shell console rb ruby make makefile dockerfile docker perl pl elixir ex', SHELL],
  ['json jsonc json5 yaml yml toml ini conf env properties', DATA],
  ['sql', SQL],
  ['css scss less', STYLES],
  ['html xml svg', MARKUP],
];

const BY_NAME = new Map(LANGUAGES.flatMap(([names, language]) => names.split(' ').map((name) => [name, language])));

type Kind = 'plain' | 'word' | 'string' | 'number' | 'comment' | 'added' | 'removed';

export interface CodePiece {
  readonly text: string;
  readonly kind: Kind;
}

interface Open {
  readonly close: string;
  readonly kind: Kind;
}

export class CodeColours {
  readonly #language: Language | undefined;
  readonly #isDiff: boolean;
  /** The comment or string that the last line left open. */
  #open: Open | undefined;

  constructor(name: string) {
    this.#language = BY_NAME.get(name.toLowerCase());
    this.#isDiff = name === 'diff' || name === 'patch';
  }

  /** Returns the line in pieces. */
  next(line: string): readonly CodePiece[] {
    const { pieces, open } = this.#pieces(line, this.#open);
    this.#open = open;
    return pieces;
  }

  /** The same for an incomplete line; does not affect the next call. */
  peek(line: string): readonly CodePiece[] {
    return this.#pieces(line, this.#open).pieces;
  }

  #pieces(line: string, before: Open | undefined): { pieces: CodePiece[]; open: Open | undefined } {
    if (this.#isDiff) return { pieces: [{ text: line, kind: diffKind(line) }], open: undefined };
    if (!this.#language || line.length > HIGHLIGHT_LINE_MAX_CHARACTERS)
      return { pieces: [{ text: line, kind: 'plain' }], open: before };
    return piecesOf(line, this.#language, before);
  }
}

function diffKind(line: string): Kind {
  if (/^(?:\+(?!\+\+ )|>)/.test(line)) return 'added';
  if (/^(?:-(?!-- )|<)/.test(line)) return 'removed';
  return line.startsWith('@@') ? 'word' : 'plain';
}

function piecesOf(
  line: string,
  language: Language,
  before: Open | undefined,
): { pieces: CodePiece[]; open: Open | undefined } {
  const pieces: CodePiece[] = [];
  let open = before;
  let at = 0;
  while (at < line.length) {
    const rest = line.slice(at);
    const next = open ? insideOf(rest, open) : nextOf(rest, language);
    pieces.push({ text: next.text, kind: next.kind });
    open = next.open;
    at += next.text.length;
  }
  return { pieces, open };
}

interface Next extends CodePiece {
  readonly open: Open | undefined;
}

function insideOf(rest: string, open: Open): Next {
  const end = endOf(rest, 0, open.close);
  const text = end < 0 ? rest : rest.slice(0, end);
  return { text, kind: open.kind, open: end < 0 ? open : undefined };
}

function nextOf(rest: string, { words: known, lineComments, blockComment, quotes, long = [] }: Language): Next {
  const comment = lineComments.find((mark) => rest.startsWith(mark));
  if (comment !== undefined) return { text: rest, kind: 'comment', open: undefined };
  if (blockComment && rest.startsWith(blockComment[0]))
    return opened(rest, blockComment[0], blockComment[1], 'comment', true);
  const quote = quotes.find((mark) => rest.startsWith(mark));
  if (quote !== undefined) return opened(rest, quote, quote, 'string', long.includes(quote));
  const [word] = /^[\p{L}_$][\p{L}\p{N}_$-]*/u.exec(rest) ?? [];
  if (word !== undefined) {
    const isKnown = known.has(word) || known.has(word.toLowerCase());
    return { text: word, kind: isKnown ? 'word' : 'plain', open: undefined };
  }
  const [number] = /^\d[\w.]*/.exec(rest) ?? [];
  if (number !== undefined) return { text: number, kind: 'number', open: undefined };
  return {
    text: /^\s+/.exec(rest)?.[0] ?? String.fromCodePoint(rest.codePointAt(0) ?? 0),
    kind: 'plain',
    open: undefined,
  };
}

function opened(rest: string, mark: string, close: string, kind: Kind, isLong: boolean): Next {
  const end = endOf(rest, mark.length, close);
  if (end >= 0) return { text: rest.slice(0, end), kind, open: undefined };
  // A quote that does not close is an apostrophe.
  return isLong ? { text: rest, kind, open: { close, kind } } : { text: mark, kind: 'plain', open: undefined };
}

/** The position after the closing mark; a backslash escapes it. */
function endOf(text: string, from: number, close: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text.startsWith(close, at)) return at + close.length;
  }
  return -1;
}

export function styledPiece({ text, kind }: CodePiece, style: Style): string {
  if (kind === 'word') return style.blue(text);
  if (kind === 'string' || kind === 'added') return style.green(text);
  if (kind === 'number') return style.yellow(text);
  if (kind === 'removed') return style.red(text);
  return kind === 'comment' ? style.dim(text) : text;
}
