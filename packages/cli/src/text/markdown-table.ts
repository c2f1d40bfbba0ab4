/** Tables of Markdown, with columns that fit. */
import { inline } from './inline.js';
import type { MarkdownOptions } from './markdown.js';
import { cut, padded, widthOf } from './width.js';

const GAP = '  ';
const COLUMN_MIN = 4;

export function markdownTable(lines: readonly string[], { style, columns }: MarkdownOptions): string[] {
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
