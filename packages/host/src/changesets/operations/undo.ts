/** Takes changes back, and puts back what was taken back. Both are remembered, so that neither is the last word. */
import { ErrorCode } from '@atrium/protocol';
import { count } from '../../tools/text.js';
import { RequestError } from '../../wire/request-error.js';
import type { BytePath } from '../byte-path.js';
import type { ContentStore } from '../content-store.js';
import { type Change, changeOf, inverse } from '../entry.js';
import type { Journal } from '../record/journal.js';
import type { TurnChanges, Undone } from '../record/journal-file.js';
import { type Applied, apply, refusedText } from '../revert/apply.js';
import type { Wanted } from '../revert/plan.js';
import { withoutRange } from '../revert/range.js';
import type { OperationTarget } from '../views/source.js';

export interface UndoParts {
  readonly root: string;
  readonly store: ContentStore;
  readonly journal: Journal;
  /** The URI of the view: what was taken back there is put back there. */
  readonly view: string;
}

/** Takes back what turns changed: everything, some files, or some lines of one. */
export async function revert(
  parts: UndoParts,
  turnIds: readonly string[],
  target: OperationTarget | undefined,
): Promise<string> {
  const { root, store, journal, view } = parts;
  const segments = selected(journal.segments(turnIds), target);
  const wanted = target?.lines
    ? await linesOf(store, segments, target.lines)
    : [...segments].map(([path, changes]) => ({ path, changes: changes.toReversed().map(inverse) }));
  const applied = await apply(root, wanted, store);
  if (applied.done.size === 0) throw nothingDone(applied);
  const done = wanted.filter(({ path }) => applied.done.has(path));
  const turns = target?.lines ? lastTurn(journal, turnIds, done) : byTurn(journal, turnIds, done);
  await journal.add({ kind: 'undone', id: crypto.randomUUID(), view, turns, applied: applied.changes });
  return outcome('Took back', applied);
}

/** Puts back what was taken back or thrown away last. */
export async function putBack({ root, store, journal, view }: UndoParts): Promise<string> {
  const undone = journal.lastUndone(view);
  if (!undone) throw new RequestError(ErrorCode.InvalidParams, '/operationId: there is nothing to put back');
  const wanted = undone.applied.map((change) => ({ path: change.path, changes: [inverse(change)] }));
  const applied = await apply(root, wanted, store);
  if (wanted.length > 0 && applied.done.size === 0) throw nothingDone(applied);
  await journal.add({ kind: 'redone', id: undone.id });
  const left = leftOf(undone, applied);
  if (left.applied.length > 0) await journal.add({ ...left, id: crypto.randomUUID() });
  return outcome('Put back', applied);
}

/** What could not be put back now may be another time. */
function leftOf(undone: Undone, { done }: Applied): Undone {
  const isLeft = ({ path }: Change) => !done.has(path);
  const turns = undone.turns.map(({ turnId, changes }) => ({ turnId, changes: changes.filter(isLeft) }));
  return { ...undone, turns, applied: undone.applied.filter(isLeft) };
}

export function outcome(did: string, { done, refused }: Applied): string {
  const left = refused.length > 0 ? ` Left alone: ${refusedText(refused)}.` : '';
  return `${did} ${count(done.size, 'file')}.${left}`;
}

export function nothingDone({ refused }: Applied): RequestError {
  const why = refused.length > 0 ? `nothing was changed: ${refusedText(refused)}` : 'there is nothing to take back';
  return new RequestError(ErrorCode.Conflict, why);
}

function selected(segments: Map<BytePath, readonly Change[]>, target: OperationTarget | undefined) {
  if (!target) return segments;
  return new Map(
    target.paths.flatMap((path) => (segments.has(path) ? [[path, segments.get(path) ?? []] as const] : [])),
  );
}

async function linesOf(
  store: ContentStore,
  segments: ReadonlyMap<BytePath, readonly Change[]>,
  lines: NonNullable<OperationTarget['lines']>,
): Promise<Wanted[]> {
  const [[path, [change, ...others]] = ['', []], ...files] = [...segments] as [BytePath, Change[]][];
  const { before, after } = change ?? {};
  if (!before || !after || others.length > 0 || files.length > 0) {
    const why = 'only lines of a file that was there before and after, and that nobody else changed in between';
    throw new RequestError(ErrorCode.InvalidParams, `/target/range: ${why}, can be taken back`);
  }
  const less = await withoutRange(store, { path, before, after }, lines);
  if (!less) throw new RequestError(ErrorCode.InvalidParams, '/target/range: nothing was changed there');
  return [{ path, changes: [changeOf(path, after, less)] }];
}

/** What is taken back is taken from the turns that did it, the newest first. */
function byTurn(journal: Journal, turnIds: readonly string[], done: readonly Wanted[]): TurnChanges[] {
  const paths = new Set(done.map(({ path }) => path));
  return turnIds.toReversed().flatMap((turnId) => {
    const own = [...journal.segments([turnId])].filter(([path]) => paths.has(path));
    const changes = own.flatMap(([, segments]) => segments.toReversed().map(inverse));
    return changes.length > 0 ? [{ turnId, changes }] : [];
  });
}

/** Lines are taken from the last turn that changed the file: what is left of all of them together stays right. */
function lastTurn(journal: Journal, turnIds: readonly string[], done: readonly Wanted[]): TurnChanges[] {
  const changes = done.flatMap((wanted) => wanted.changes);
  const owner = turnIds.findLast((turnId) => changes.every(({ path }) => journal.segments([turnId]).has(path)));
  return owner === undefined ? [] : [{ turnId: owner, changes }];
}
