/** The pieces of a diff: lines in a row that were changed together, and can be taken back together. */
import type { TextRange } from '@atrium/protocol';
import type { DiffGap, DiffLine } from '../model/diff.js';

export interface Piece {
  /** Lines that are only gone are named where they were. */
  readonly side: 'before' | 'after';
  readonly range: TextRange;
}

/** By the index of the line that each piece begins with. */
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

/** `Line 7`, `Lines 7 to 9`, `Line 7 of before`: as people count. */
export function pieceWords({ side, range: { start, end } }: Piece): string {
  const lines = end.line - start.line === 1 ? `Line ${end.line}` : `Lines ${start.line + 1} to ${end.line}`;
  return side === 'before' ? `${lines} of before` : lines;
}
