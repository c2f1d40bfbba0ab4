/**
 * Changes files for people, and has it in the journal before the first one changes: if the host stops in the middle, what
 * was taken back or thrown away by then can still be put back.
 */
import type { BytePath } from '../../git/byte-path.js';
import { capture } from '../capture.js';
import type { ContentStore } from '../content-store.js';
import { type Change, isSame } from '../entry.js';
import type { Journal } from '../record/journal.js';
import type { JournalLine, UndoneMeaning, Writing } from '../record/journal-line.js';
import { type Applied, carryOut, changesIn, planAll } from '../revert/apply.js';
import type { Wanted } from '../revert/plan.js';
import { putEntry } from '../revert/put-entry.js';

export interface WriteParts {
  readonly root: string;
  readonly store: ContentStore;
  readonly journal: Journal;
}

/** What it means that these files are changed; absent where something is put back. */
export type MeaningOf = (done: ReadonlySet<BytePath>) => UndoneMeaning;

export async function writeFiles(
  { root, store, journal }: WriteParts,
  wanted: readonly Wanted[],
  meaningOf?: MeaningOf,
): Promise<Applied> {
  const plan = await planAll(root, wanted, store);
  if (plan.puts.length === 0) return { changes: [], done: new Set(), refused: plan.refused };
  const id = crypto.randomUUID();
  const meaning = meaningOf?.(new Set(plan.puts.map(({ path }) => path)));
  await journal.add({ kind: 'writing', id, planned: changesIn(plan), ...(meaning && { meaning }) });
  const applied = await carryOut(root, plan, store);
  await journal.add(lineFor(id, applied.changes, meaningOf?.(applied.done)));
  return applied;
}

/** Says that it is over. Where nothing was done, there is nothing to put back either. */
function lineFor(id: string, applied: readonly Change[], meaning: UndoneMeaning | undefined): JournalLine {
  const isAnything = applied.length > 0 || meaning?.turns.some(({ changes }) => changes.length > 0) || meaning?.staged;
  return meaning && isAnything ? { kind: 'undone', id, ...meaning, applied } : { kind: 'written', id };
}

/** Finds out how far it had come when the host stopped, and brings the journal up to that. */
export async function settle(parts: WriteParts): Promise<void> {
  for (const writing of parts.journal.unfinished) await settleOne(parts, writing);
}

async function settleOne({ root, store, journal }: WriteParts, { id, planned, meaning }: Writing): Promise<void> {
  const applied: Change[] = [];
  for (const change of planned) {
    const now = await capture(root, change.path, store);
    if (isSame(now, change.after)) applied.push(change);
    // It was moved aside, and nothing came in its place: what was there comes back.
    else if (!now && change.before) await putEntry(root, { path: change.path, target: change.before }, store);
  }
  const left = new Set(planned.filter((change) => !applied.includes(change)).map(({ path }) => path));
  await journal.add(lineFor(id, applied, applied.length > 0 ? meaning && without(meaning, left) : undefined));
}

/** The part of it that is not about these files. */
export function without(meaning: UndoneMeaning, paths: ReadonlySet<BytePath>): UndoneMeaning {
  const { view, turns, staged } = meaning;
  const isOther = ({ path }: { readonly path: BytePath }) => !paths.has(path);
  return {
    view,
    turns: turns.map(({ turnId, changes }) => ({ turnId, changes: changes.filter(isOther) })),
    ...(staged && { staged: staged.filter(isOther) }),
  };
}
