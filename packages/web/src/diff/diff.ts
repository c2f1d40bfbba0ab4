/** The diff of two texts by lines, with some context, and its pieces. */
import type { TextRange } from '@atrium/protocol/ahp-1';
import { diffArrays } from 'diff';

interface Line {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** A line with its position in each text, from 0 on; if one text lacks it, where it would be. */
export interface DiffLine extends Line {
  readonly before: number;
  readonly after: number;
}

/** The hidden lines between two hunks. */
export interface DiffGap {
  readonly kind: 'gap';
  readonly lines: number;
}

const CONTEXT_LINES = 3;
/** Above this many edits the diff shows the middle as replaced: it is too long to read line by line. */
const EDITS_MAX = 1_000;

/** `isExact`: line endings count as well, unless both texts have those of Windows throughout. */
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

/** True if the text has line endings, all of them those of Windows. */
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
  const parts = diffArrays([...a], [...b], { maxEditLength: EDITS_MAX });
  const replaced = [
    { value: a, removed: true, added: false },
    { value: b, removed: false, added: true },
  ];
  return (parts ?? replaced).flatMap(({ value, added, removed }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    return value.map((text): Line => ({ kind, text }));
  });
}

/** Leaves out lines far from any change. */
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

/** A run of changed lines without a gap, which an operation can revert together. */
export interface Piece {
  /** Removed lines have positions in the old text. */
  readonly side: 'before' | 'after';
  readonly range: TextRange;
}

/** The pieces by the index of their first line. */
export function piecesOf(lines: readonly (DiffLine | DiffGap)[]): ReadonlyMap<number, Piece> {
  const runs = new Map<number, DiffLine[]>();
  let run: DiffLine[] | undefined;
  for (const [index, line] of lines.entries()) {
    if (line.kind === 'gap' || line.kind === 'same') {
      run = undefined;
    } else if (run) {
      run.push(line);
    } else {
      run = [line];
      runs.set(index, run);
    }
  }
  return new Map([...runs].map(([index, changed]) => [index, pieceOf(changed)]));
}

function pieceOf(run: readonly DiffLine[]): Piece {
  const added = run.filter(({ kind }) => kind === 'added').map(({ after }) => after);
  if (added.length > 0) return { side: 'after', range: rangeOf(added) };
  return { side: 'before', range: rangeOf(run.map(({ before }) => before)) };
}

function rangeOf(lines: readonly number[]): TextRange {
  const [first = 0, last = first] = [lines[0], lines.at(-1)];
  return { start: { line: first, character: 0 }, end: { line: last + 1, character: 0 } };
}

/** `Line 7`, `Lines 7 to 9`, `Line 7 of before`, counted from 1. */
export function pieceWords({ side, range: { start, end } }: Piece): string {
  const lines = end.line - start.line === 1 ? `Line ${end.line}` : `Lines ${start.line + 1} to ${end.line}`;
  return side === 'before' ? `${lines} of before` : lines;
}
