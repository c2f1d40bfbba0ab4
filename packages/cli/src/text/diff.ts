/** What changed between two texts, line by line, with a little of what is around it. */

/** Beyond this many comparisons the middle counts as replaced as a whole. */
const COMPARISONS_MAX = 1_000_000;
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

/** The longest common subsequence, by the textbook. */
function compared(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (old.length * fresh.length > COMPARISONS_MAX) return [...old.map(removed), ...fresh.map(added)];
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      lines.push({ kind: 'same', text: old[i] ?? '' });
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(removed(old[i++] ?? ''));
    else lines.push(added(fresh[j++] ?? ''));
  }
  return [...lines, ...old.slice(i).map(removed), ...fresh.slice(j).map(added)];
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
