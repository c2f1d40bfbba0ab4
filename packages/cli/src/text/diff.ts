/** The difference of two texts, line by line: shortened for a screen, or in unified format for `git apply`. */
import { diffArrays } from 'diff';

/** Beyond this many edits the middle counts as replaced as a whole. */
const EDITS_MAX = 1_000;
const SHOWN_CONTEXT_LINES = 2;

export type DiffLine = { readonly kind: 'same' | 'added' | 'removed' | 'gap'; readonly text: string };

export function diffLines(before: string, after: string): DiffLine[] {
  return shortened(comparedLines(linesOf(before), linesOf(after)));
}

/** All lines of both, in order. Equal lines at both ends cost nothing. */
function comparedLines(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  const room = Math.min(old.length, fresh.length) - head;
  while (tail < room && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail += 1;
  const middle = compared(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [...old.slice(0, head).map(same), ...middle, ...old.slice(old.length - tail).map(same)];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function compared(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const parts = diffArrays([...old], [...fresh], { maxEditLength: EDITS_MAX });
  const replaced = [
    { value: old, removed: true, added: false },
    { value: fresh, removed: false, added: true },
  ];
  return (parts ?? replaced).flatMap(({ value, added, removed }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    return value.map((text): DiffLine => ({ kind, text }));
  });
}

/** Keeps only the lines near a change. */
function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach(({ kind }, index) => {
    if (kind === 'same') return;
    const end = Math.min(lines.length - 1, index + SHOWN_CONTEXT_LINES);
    for (let at = Math.max(0, index - SHOWN_CONTEXT_LINES); at <= end; at += 1) near[at] = true;
  });
  const result: DiffLine[] = [];
  lines.forEach((line, index) => {
    if (near[index]) result.push(line);
    else if (result.at(-1)?.kind !== 'gap' && result.length > 0) result.push({ kind: 'gap', text: '' });
  });
  if (result.at(-1)?.kind === 'gap') result.pop();
  return result;
}

// The unified format.

const UNIFIED_CONTEXT_LINES = 3;
/** The end of a last line that has no line break is a difference, too. */
const NO_END = '\n\\ No newline at end of file';

interface Sides {
  /** Undefined if the file did not exist. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The lines of the difference, with its head. `names` are the paths in the head. */
export function unifiedDiff(
  { before, after }: Sides,
  names: { readonly old: string; readonly fresh: string },
): string[] {
  const lines = comparedLines(markedLines(before ?? ''), markedLines(after ?? ''));
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

function markedLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, last + NO_END];
}

/** Groups changes near each other under one line that says where they are. */
function hunksOf(lines: readonly DiffLine[]): string[] {
  const changed = lines.flatMap(({ kind }, index) => (kind === 'same' ? [] : [index]));
  const result: string[] = [];
  let at = { index: 0, old: 1, fresh: 1 };
  for (let next = 0; next < changed.length; ) {
    const from = Math.max(0, (changed[next] ?? 0) - UNIFIED_CONTEXT_LINES);
    let last = changed[next] ?? 0;
    while (next < changed.length && (changed[next] ?? 0) - last <= 2 * UNIFIED_CONTEXT_LINES)
      last = changed[next++] ?? 0;
    const end = Math.min(lines.length, last + UNIFIED_CONTEXT_LINES + 1);
    const start = passed(at, lines.slice(at.index, from));
    const part = lines.slice(from, end);
    at = passed(start, part);
    result.push(headOf(start, at), ...part.flatMap(({ kind, text }) => `${SIGNS[kind]}${text}`.split('\n')));
  }
  return result;
}

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', removed: '-', gap: ' ' };

interface DiffPosition {
  readonly index: number;
  readonly old: number;
  readonly fresh: number;
}

function passed({ index, old, fresh }: DiffPosition, lines: readonly DiffLine[]): DiffPosition {
  const count = (other: DiffLine['kind']) => lines.filter(({ kind }) => kind !== other).length;
  return { index: index + lines.length, old: old + count('added'), fresh: fresh + count('removed') };
}

/** An empty side counts from the line before it. */
function headOf(start: DiffPosition, end: DiffPosition): string {
  const side = (from: number, to: number) => `${to === from ? from - 1 : from},${to - from}`;
  return `@@ -${side(start.old, end.old)} +${side(start.fresh, end.fresh)} @@`;
}
