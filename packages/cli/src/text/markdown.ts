/**
 * Markdown for a terminal, line by line: a complete line comes out at once and never changes again, so that an answer
 * of any
 * length streams without being drawn twice.
 */
import { FILE_PLACE_IN_TEXT, isFileName } from '@atrium/protocol/ahp-1';
import { CodeColours, type CodePiece, styledPiece } from './highlight.js';
import { printableLines } from './printable.js';
import { PLAIN, type Style } from './style.js';
import { hardWrap, padded, sealed, widthOf, withoutStyles, wrap } from './width.js';

const RULE_COLUMNS_MAX = 40;
/** A longer table comes out in parts. */
const TABLE_ROWS_MAX = 200;

interface MarkdownOptions {
  readonly style: Style;
  readonly columns: number;
  /** The address behind the name of a file; undefined if it is unknown. */
  readonly fileAddress?: ((place: string) => string | undefined) | undefined;
}

export class MarkdownStream {
  readonly #style: Style;
  readonly #fileAddress: MarkdownOptions['fileAddress'];
  columns: number;
  /** The end of the text, after the last line break. */
  #rest = '';
  #fence: string | undefined;
  #colours = new CodeColours('');
  #table: string[] = [];
  #wasBlank = true;

  constructor({ style, columns, fileAddress }: MarkdownOptions) {
    this.#style = style;
    this.#fileAddress = fileAddress;
    this.columns = columns;
  }

  /** Takes more text; returns the complete lines. */
  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(printableLines(line)));
  }

  /** The incomplete rest, in its current form. */
  peek(): string[] {
    const table = this.#table.length > 0 ? markdownTable(this.#table, this.#options) : [];
    if (this.#rest === '') return table;
    const rest = printableLines(this.#rest);
    return [...table, ...(this.#fence === undefined ? this.#block(rest) : this.#code(this.#colours.peek(rest)))];
  }

  end(): string[] {
    const last = this.#rest === '' ? [] : this.#line(printableLines(this.#rest));
    this.#rest = '';
    return [...last, ...this.#endTable()];
  }

  get #options(): MarkdownOptions {
    return { style: this.#style, columns: this.columns, fileAddress: this.#fileAddress };
  }

  #line(line: string): string[] {
    const fence = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(line);
    if (this.#fence !== undefined) return this.#inFence(line, fence?.[1]);
    if (fence) {
      this.#fence = fence[1] ?? '';
      this.#colours = new CodeColours(fence[2] ?? '');
      return [...this.#endTable(), ...(fence[2] ? [this.#style.dim(`  ${fence[2]}`)] : [])];
    }
    if (/^\s*\|.*\|\s*$/.test(line) && this.#table.length < TABLE_ROWS_MAX) {
      this.#table.push(line);
      return [];
    }
    const table = this.#endTable();
    const isBlank = line.trim() === '';
    if (isBlank && this.#wasBlank && table.length === 0) return [];
    this.#wasBlank = isBlank;
    return [...table, ...this.#block(line)];
  }

  #inFence(line: string, marker: string | undefined): string[] {
    this.#wasBlank = false;
    const open = this.#fence ?? '';
    const closes = marker?.startsWith(open) && line.trim() === marker;
    if (!closes) return this.#code(this.#colours.next(line));
    this.#fence = undefined;
    return [];
  }

  #code(pieces: readonly CodePiece[]): string[] {
    const line = pieces.map((piece) => styledPiece(piece, this.#style)).join('');
    return sealed(hardWrap(line, this.columns - 2)).map((row) => `  ${row}`);
  }

  #endTable(): string[] {
    if (this.#table.length === 0) return [];
    const lines = markdownTable(this.#table, this.#options);
    this.#table = [];
    this.#wasBlank = false;
    return lines;
  }

  #block(line: string): string[] {
    const style = this.#style;
    const [, hashes, heading = ''] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? [];
    if (hashes) {
      const text = style.bold(this.#inline(heading));
      return this.#wrapped('', hashes.length === 1 ? style.underline(text) : text);
    }
    if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line))
      return [style.dim('─'.repeat(Math.min(RULE_COLUMNS_MAX, this.columns)))];
    const [, quote] = /^\s{0,3}>\s?(.*)$/.exec(line) ?? [];
    if (quote !== undefined) return this.#wrapped(style.dim('│ '), style.italic(this.#inline(quote)), style.dim('│ '));
    const [, indent = '', mark, item = ''] = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line) ?? [];
    if (mark) return this.#item(indent, mark, item);
    return this.#wrapped('', this.#inline(line));
  }

  #inline(text: string): string {
    return inline(text, this.#options);
  }

  #item(indent: string, mark: string, item: string): string[] {
    const [, box, text = item] = /^\[([ xX])\]\s+(.*)$/.exec(item) ?? [];
    const bullet = /\d/.test(mark) ? mark : '•';
    const sign = box === undefined ? bullet : box === ' ' ? '☐' : '☑';
    const lead = `${indent}${sign} `;
    return this.#wrapped(lead, this.#inline(text), ' '.repeat(lead.length));
  }

  #wrapped(lead: string, text: string, hanging = ''): string[] {
    const room = Math.max(10, this.columns - Math.max(widthOf(lead), widthOf(hanging)));
    return sealed(wrap(text, room)).map((line, index) => (index === 0 ? lead : hanging) + line);
  }
}

export function renderMarkdown(text: string, options: MarkdownOptions): string[] {
  const stream = new MarkdownStream(options);
  return [...stream.push(text), ...stream.end()];
}

const GAP = '  ';
const COLUMN_MIN = 4;

function markdownTable(lines: readonly string[], options: MarkdownOptions): string[] {
  const { style, columns } = options;
  const isRule = (line: string) => /^[\s|:-]+$/.test(line);
  const sides = cellsOf(lines.find(isRule) ?? '').map(sideOf);
  const rows = lines.filter((line) => !isRule(line)).map((line) => cellsOf(line).map((cell) => inline(cell, options)));
  const natural = naturalWidths(rows);
  const widths = fitted(natural, columns);
  const hasHeader = rows.length < lines.length;
  const isLegible = widths.every((width, at) => width >= Math.min(natural[at] ?? 0, LEGIBLE_MIN));
  if (!isLegible) return hasHeader ? records(rows.slice(1), rows[0] ?? [], options) : records(rows, [], options);
  return rows.flatMap((row, index) => {
    const cells = row.map((cell, at) => sealed(wrap(cell, widths[at] ?? COLUMN_MIN)));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) => {
      const line = cells.map((cell, of) => placed(cell[at] ?? '', widths[of] ?? COLUMN_MIN, sides[of])).join(GAP);
      return hasHeader && index === 0 ? style.bold(line.trimEnd()) : line.trimEnd();
    });
  });
}

/** Narrower columns cannot be read, so a table that would need them becomes a list. */
const LEGIBLE_MIN = 8;

/** The rows one below the other, each cell behind the name of its column. */
function records(
  rows: readonly (readonly string[])[],
  names: readonly string[],
  { style, columns }: MarkdownOptions,
): string[] {
  return rows.flatMap((row, index) => {
    const lines = row.flatMap((cell, at) => {
      if (cell === '') return [];
      const name = names[at] ? `${style.bold(`${withoutStyles(names[at])}:`)} ` : '';
      const [first = '', ...rest] = sealed(wrap(`${name}${cell}`, Math.max(1, columns - HANGING.length)));
      return [first, ...rest.map((line) => HANGING + line)];
    });
    return index === 0 ? lines : ['', ...lines];
  });
}

const HANGING = '  ';

type Side = 'left' | 'middle' | 'right';

/** `:--`, `:-:` and `--:` set the alignment of a column. */
function sideOf(rule: string): Side {
  if (!rule.endsWith(':')) return 'left';
  return rule.startsWith(':') ? 'middle' : 'right';
}

function placed(cell: string, width: number, side: Side = 'left'): string {
  const room = Math.max(0, width - widthOf(cell));
  const before = side === 'right' ? room : side === 'middle' ? Math.floor(room / 2) : 0;
  return padded(' '.repeat(before) + cell, width);
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

function naturalWidths(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? COLUMN_MIN, widthOf(cell));
  }
  return widths;
}

/** The widest column gives way until all fit. */
function fitted(widths: readonly number[], columns: number): number[] {
  const fitting = [...widths];
  const room = columns - GAP.length * (widths.length - 1);
  let surplus = fitting.reduce((sum, width) => sum + width, 0) - room;
  while (surplus > 0) {
    const widest = Math.max(...fitting);
    if (widest <= COLUMN_MIN) return fitting;
    fitting[fitting.indexOf(widest)] = widest - 1;
    surplus -= 1;
  }
  return fitting;
}

// Markdown within a line: bold, italic, code, links. A mark that does not close stays text.

/** Longer lines are not prose, and stay unchanged. */
const LINE_MAX_CHARACTERS = 5_000;

const TOKENS = [
  /(?<ticks>`+)(?<code>.+?)\k<ticks>(?!`)/,
  /!?\[(?<label>[^\][]*)\]\((?<url>[^()\s]+)(?:\s+"[^"]*")?\)/,
  /\*\*(?<bold>(?:[^*]|\*(?!\*))+)\*\*/,
  /(?<!\w)__(?<bold2>[^_]+)__(?!\w)/,
  /~~(?<strike>[^~]+)~~/,
  /(?<![\w*])\*(?<italic>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])/,
  /(?<![\w_])_(?<italic2>[^\s_](?:[^_]*[^\s_])?)_(?![\w_])/,
  /<(?<auto>https?:\/\/[^>\s]+)>/,
  /\\(?<escaped>[\\`*_{}[\]()#+.!~|>-])/,
  new RegExp(`(?<place>${FILE_PLACE_IN_TEXT.source})`),
];
const TOKEN = new RegExp(TOKENS.map(({ source }) => source).join('|'), 'g');

function inline(text: string, options: MarkdownOptions): string {
  if (text.length > LINE_MAX_CHARACTERS) return text;
  let result = '';
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    result += text.slice(from, match.index) + styled(match[0], match.groups ?? {}, options);
    from = match.index + match[0].length;
  }
  return result + text.slice(from);
}

type Groups = Readonly<Record<string, string | undefined>>;

function styled(whole: string, groups: Groups, options: MarkdownOptions): string {
  const { style } = options;
  const { code, label, url, bold = groups.bold2, strike, italic = groups.italic2, auto, escaped, place } = groups;
  if (code !== undefined) return codeSpan(code.length > 2 ? code.replace(/^ (.*) $/, '$1') : code, options);
  if (url !== undefined) return style.link(inline(label || url, { ...options, fileAddress: undefined }), url);
  if (bold !== undefined) return style.bold(inline(bold, options));
  if (strike !== undefined) return style.strike(inline(strike, options));
  if (italic !== undefined) return style.italic(inline(italic, options));
  if (place !== undefined) return fileLink(place, place, options);
  return auto === undefined ? (escaped ?? whole) : style.link(auto, auto);
}

function codeSpan(code: string, options: MarkdownOptions): string {
  const shown = options.style.cyan(code);
  return isFileName(code) ? fileLink(shown, code, options) : shown;
}

function fileLink(shown: string, place: string, { style, fileAddress }: MarkdownOptions): string {
  const address = style === PLAIN ? undefined : fileAddress?.(place);
  return address === undefined ? shown : style.file(shown, address);
}
