/** A difference as every tool reads it: with the places of its lines, good for `git apply`. */
import { comparedLines, type DiffLine } from './diff.js';

const CONTEXT_LINES = 3;
/** The end of a last line that has no line break is a difference, too. */
const NO_END = '\n\\ No newline at end of file';

export interface Sides {
  /** Undefined when there was no such file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The lines of the difference, with its head. `names` are paths as they stand in the head. */
export function unifiedDiff(
  { before, after }: Sides,
  names: { readonly old: string; readonly fresh: string },
): string[] {
  const lines = comparedLines(linesOf(before ?? ''), linesOf(after ?? ''));
  const hunks = hunksOf(lines);
  return [
    `diff --git a/${names.old} b/${names.fresh}`,
    ...(before === undefined ? ['new file mode 100644'] : []),
    ...(after === undefined ? ['deleted file mode 100644'] : []),
    ...(names.old === names.fresh ? [] : [`rename from ${names.old}`, `rename to ${names.fresh}`]),
    ...(hunks.length === 0 ? [] : [before === undefined ? '--- /dev/null' : `--- a/${names.old}`]),
    ...(hunks.length === 0 ? [] : [after === undefined ? '+++ /dev/null' : `+++ b/${names.fresh}`]),
    ...hunks,
  ];
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, last + NO_END];
}

/** Changes that are near each other stand together, under one line that says where they are. */
function hunksOf(lines: readonly DiffLine[]): string[] {
  const changed = lines.flatMap(({ kind }, index) => (kind === 'same' ? [] : [index]));
  const result: string[] = [];
  let at = { index: 0, old: 1, fresh: 1 };
  for (let next = 0; next < changed.length; ) {
    const from = Math.max(0, (changed[next] ?? 0) - CONTEXT_LINES);
    let last = changed[next] ?? 0;
    while (next < changed.length && (changed[next] ?? 0) - last <= 2 * CONTEXT_LINES) last = changed[next++] ?? 0;
    const end = Math.min(lines.length, last + CONTEXT_LINES + 1);
    const start = passed(at, lines.slice(at.index, from));
    const part = lines.slice(from, end);
    at = passed(start, part);
    result.push(headOf(start, at), ...part.flatMap(({ kind, text }) => `${SIGNS[kind]}${text}`.split('\n')));
  }
  return result;
}

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', removed: '-', gap: ' ' };

interface Place {
  readonly index: number;
  readonly old: number;
  readonly fresh: number;
}

function passed({ index, old, fresh }: Place, lines: readonly DiffLine[]): Place {
  const count = (other: DiffLine['kind']) => lines.filter(({ kind }) => kind !== other).length;
  return { index: index + lines.length, old: old + count('added'), fresh: fresh + count('removed') };
}

/** An empty side is counted from the line before it. */
function headOf(start: Place, end: Place): string {
  const side = (from: number, to: number) => `${to === from ? from - 1 : from},${to - from}`;
  return `@@ -${side(start.old, end.old)} +${side(start.fresh, end.fresh)} @@`;
}
