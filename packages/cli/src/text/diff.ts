/** What changed between two texts, line by line, with a little of what is around it. */
import { diffArrays } from 'diff';

/** Beyond this many edits the middle counts as replaced as a whole. */
const EDITS_MAX = 1_000;
const CONTEXT_LINES = 2;

export type DiffLine = { readonly kind: 'same' | 'added' | 'removed' | 'gap'; readonly text: string };

export function diffLines(before: string, after: string): DiffLine[] {
  return shortened(comparedLines(linesOf(before), linesOf(after)));
}

/** All lines of both, in order; what is the same at both ends costs nothing. */
export function comparedLines(old: readonly string[], fresh: readonly string[]): DiffLine[] {
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

/** Only what is near a change stays. */
function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach(({ kind }, index) => {
    if (kind === 'same') return;
    const end = Math.min(lines.length - 1, index + CONTEXT_LINES);
    for (let at = Math.max(0, index - CONTEXT_LINES); at <= end; at += 1) near[at] = true;
  });
  const result: DiffLine[] = [];
  lines.forEach((line, index) => {
    if (near[index]) result.push(line);
    else if (result.at(-1)?.kind !== 'gap' && result.length > 0) result.push({ kind: 'gap', text: '' });
  });
  if (result.at(-1)?.kind === 'gap') result.pop();
  return result;
}
