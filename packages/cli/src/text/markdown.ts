/**
 * Markdown for a terminal, line by line: a complete line is given out at once and never changes again, so that an
 * answer of any length streams without being drawn twice.
 */
import { printableLines } from './printable.js';
import type { Style } from './style.js';
import { cut, hardWrap, padded, sealed, widthOf, wrap } from './width.js';

const RULE_COLUMNS_MAX = 40;
/** A table that is longer is given out in parts. */
const TABLE_ROWS_MAX = 200;

interface MarkdownOptions {
  readonly style: Style;
  readonly columns: number;
}

export class MarkdownStream {
  readonly #style: Style;
  columns: number;
  /** The end of the text, behind the last line break. */
  #rest = '';
  #fence: string | undefined;
  #table: string[] = [];
  #wasBlank = true;

  constructor({ style, columns }: MarkdownOptions) {
    this.#style = style;
    this.columns = columns;
  }

  /** Takes more text; gives the lines that are complete. */
  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(printableLines(line)));
  }

  /** What stands behind the complete lines, as it looks now. */
  peek(): string[] {
    const table = this.#table.length > 0 ? markdownTable(this.#table, this.#options) : [];
    if (this.#rest === '') return table;
    const rest = printableLines(this.#rest);
    return [...table, ...(this.#fence === undefined ? this.#block(rest) : this.#code(rest))];
  }

  end(): string[] {
    const last = this.#rest === '' ? [] : this.#line(printableLines(this.#rest));
    this.#rest = '';
    return [...last, ...this.#endTable()];
  }

  get #options(): MarkdownOptions {
    return { style: this.#style, columns: this.columns };
  }

  #line(line: string): string[] {
    const fence = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(line);
    if (this.#fence !== undefined) return this.#inFence(line, fence?.[1]);
    if (fence) {
      this.#fence = fence[1] ?? '';
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
    if (!closes) return this.#code(line);
    this.#fence = undefined;
    return [];
  }

  #code(line: string): string[] {
    return hardWrap(line, this.columns - 2).map((piece) => `  ${this.#style.cyan(piece)}`);
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
      const text = style.bold(inline(heading, style));
      return this.#wrapped('', hashes.length === 1 ? style.underline(text) : text);
    }
    if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line))
      return [style.dim('─'.repeat(Math.min(RULE_COLUMNS_MAX, this.columns)))];
    const [, quote] = /^\s{0,3}>\s?(.*)$/.exec(line) ?? [];
    if (quote !== undefined) return this.#wrapped(style.dim('│ '), style.italic(inline(quote, style)), style.dim('│ '));
    const [, indent = '', mark, item = ''] = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line) ?? [];
    if (mark) return this.#item(indent, mark, item);
    return this.#wrapped('', inline(line, style));
  }

  #item(indent: string, mark: string, item: string): string[] {
    const [, box, text = item] = /^\[([ xX])\]\s+(.*)$/.exec(item) ?? [];
    const bullet = /\d/.test(mark) ? mark : '•';
    const sign = box === undefined ? bullet : box === ' ' ? '☐' : '☑';
    const lead = `${indent}${sign} `;
    return this.#wrapped(lead, inline(text, this.#style), ' '.repeat(lead.length));
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

function markdownTable(lines: readonly string[], { style, columns }: MarkdownOptions): string[] {
  const rows = lines
    .filter((line) => !/^[\s|:-]+$/.test(line))
    .map((line) => cellsOf(line).map((cell) => inline(cell, style)));
  const widths = fitted(naturalWidths(rows), columns);
  const hasHeader = rows.length < lines.length;
  return rows.map((row, index) => {
    const line = row.map((cell, at) => padded(cut(cell, widths[at] ?? COLUMN_MIN), widths[at] ?? COLUMN_MIN)).join(GAP);
    return hasHeader && index === 0 ? style.bold(line.trimEnd()) : line.trimEnd();
  });
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

// Markdown within a line: bold, italic, code, links. A mark that does not close stays as it is written.

/** Longer lines are not prose: they are shown as they are. */
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
];
const TOKEN = new RegExp(TOKENS.map(({ source }) => source).join('|'), 'g');

function inline(text: string, style: Style): string {
  if (text.length > LINE_MAX_CHARACTERS) return text;
  let result = '';
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    result += text.slice(from, match.index) + styled(match[0], match.groups ?? {}, style);
    from = match.index + match[0].length;
  }
  return result + text.slice(from);
}

type Groups = Readonly<Record<string, string | undefined>>;

function styled(whole: string, groups: Groups, style: Style): string {
  const { code, label, url, bold = groups.bold2, strike, italic = groups.italic2, auto, escaped } = groups;
  if (code !== undefined) return style.cyan(code.length > 2 ? code.replace(/^ (.*) $/, '$1') : code);
  if (url !== undefined) return style.link(inline(label || url, style), url);
  if (bold !== undefined) return style.bold(inline(bold, style));
  if (strike !== undefined) return style.strike(inline(strike, style));
  if (italic !== undefined) return style.italic(inline(italic, style));
  return auto === undefined ? (escaped ?? whole) : style.link(auto, auto);
}
