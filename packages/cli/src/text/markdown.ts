/**
 * Markdown for a terminal, line by line: what is complete is given out at once and never changes again, so that an
 * answer of any length streams without being drawn twice.
 */
import { inline } from './inline.js';
import { markdownTable } from './markdown-table.js';
import { printableLines } from './printable.js';
import type { Style } from './style.js';
import { hardWrap, sealed, widthOf, wrap } from './width.js';

const RULE_COLUMNS_MAX = 40;
/** A table that is longer is given out in parts. */
const TABLE_ROWS_MAX = 200;

export interface MarkdownOptions {
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
