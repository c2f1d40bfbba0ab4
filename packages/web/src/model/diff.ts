/** What differs between two texts, line by line, with a little of what surrounds it. */

interface Line {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** With its place in each text, from 0 on; where it is missing, that is where it would stand. */
export interface DiffLine extends Line {
  readonly before: number;
  readonly after: number;
}

/** Lines between two hunks that are not shown. */
export interface DiffGap {
  readonly kind: 'gap';
  readonly lines: number;
}

const CONTEXT_LINES = 3;
/** Above this many comparisons the middle is shown as replaced; nobody reads such a diff line by line. */
const COMPARISONS_MAX = 4_000_000;

/** Exactly: ends of lines count as well, unless both texts have those of Windows throughout. */
export function diffLines(before: string, after: string, isExact = false): readonly DiffLine[] {
  const end = isExact && !(isWindows(before) && isWindows(after)) ? '\n' : /\r?\n/;
  const [a, b] = [linesOf(before, end), linesOf(after, end)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let tail = 0;
  while (tail < a.length - start && tail < b.length - start && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const middle = differing(a.slice(start, a.length - tail), b.slice(start, b.length - tail));
  const same = (lines: readonly string[]) => lines.map((text): Line => ({ kind: 'same', text }));
  return placed([...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - tail))]);
}

function placed(lines: readonly Line[]): readonly DiffLine[] {
  let [before, after] = [0, 0];
  return lines.map((line) => ({
    ...line,
    before: line.kind === 'added' ? before : before++,
    after: line.kind === 'removed' ? after : after++,
  }));
}

/** Every line ends as on Windows, and there is one. */
function isWindows(text: string): boolean {
  return text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text);
}

function linesOf(text: string, end: string | RegExp): string[] {
  if (text === '') return [];
  const lines = text.split(end);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function differing(a: readonly string[], b: readonly string[]): Line[] {
  if (a.length * b.length > COMPARISONS_MAX) return [...marked(a, 'removed'), ...marked(b, 'added')];
  const common = commonLengths(a, b);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' });
      i++;
      j++;
    } else if ((common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0)) {
      lines.push({ kind: 'removed', text: a[i++] ?? '' });
    } else {
      lines.push({ kind: 'added', text: b[j++] ?? '' });
    }
  }
  return [...lines, ...marked(a.slice(i), 'removed'), ...marked(b.slice(j), 'added')];
}

/** At [i][j]: how many lines the rests from i and j have in common, in order. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint32Array[] {
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    const [row, below] = [table[i], table[i + 1]];
    if (!row || !below) continue;
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return table;
}

function marked(lines: readonly string[], kind: 'added' | 'removed'): Line[] {
  return lines.map((text) => ({ kind, text }));
}

/** Leaves out what is far from any change. */
export function hunks(lines: readonly DiffLine[]): readonly (DiffLine | DiffGap)[] {
  const near = nearChange(lines);
  const shown: (DiffLine | DiffGap)[] = [];
  let hidden = 0;
  lines.forEach((line, index) => {
    if (!near[index]) {
      hidden++;
      return;
    }
    if (hidden > 0) shown.push({ kind: 'gap', lines: hidden });
    hidden = 0;
    shown.push(line);
  });
  if (hidden > 0) shown.push({ kind: 'gap', lines: hidden });
  return shown;
}

function nearChange(lines: readonly DiffLine[]): boolean[] {
  const near = lines.map(() => false);
  lines.forEach(({ kind }, index) => {
    if (kind === 'same') return;
    for (let i = Math.max(0, index - CONTEXT_LINES); i <= index + CONTEXT_LINES && i < near.length; i++) near[i] = true;
  });
  return near;
}
