/**
 * Undo: reverses changes, and puts back what was undone. The change log records the intent before the first file
 * changes, so that a host that stops in the middle can still put everything back.
 */

import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { UNWATCHED, type Work } from '@atrium/core/contracts/work.js';
import { count } from '@atrium/core/util/text.js';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { type BytePath, located } from '../git/byte-path.js';
import { capture } from './capture.js';
import { type Change, changeOf, inverse, isSame } from './change.js';
import type { ChangeLog, TurnChanges, Undone, UndoneMeaning, Writing } from './change-log.js';
import type { OperationTarget } from './changeset-views.js';
import { type FileChanges, withoutRange } from './merge.js';
import { type Applied, carryOut, changesIn, type Plan, planAll, putEntry, refusedText } from './put-files.js';

export interface UndoOptions extends WriteFilesOptions {
  /** The URI of the view: what was undone there can be put back there. */
  readonly view: string;
}

/** Undoes what turns changed: everything, some files, or some lines of one file. */
export async function revert(
  options: UndoOptions,
  turnIds: readonly string[],
  target: OperationTarget | undefined,
): Promise<string> {
  const { blobs, changeLog, view } = options;
  const segments = selected(changeLog.segments(turnIds), target);
  const wanted = target?.lines
    ? await linesOf(blobs, segments, target.lines)
    : [...segments].map(([path, changes]) => ({ path, changes: changes.toReversed().map(inverse) }));
  const turnsOf = target?.lines ? lastTurn : byTurn;
  const applied = await writeFiles(options, wanted, (paths) => {
    const done = wanted.filter(({ path }) => paths.has(path));
    return { view, turns: turnsOf(changeLog, turnIds, done) };
  });
  if (applied.done.size === 0) throw nothingDone(applied);
  return outcome('Took back', applied);
}

export interface PutBack extends Applied {
  readonly undone: Undone;
  readonly message: string;
}

/** Puts back the last undo or discard. Files that cannot be put back now may be put back later. */
export async function putBack(options: UndoOptions): Promise<PutBack> {
  const { changeLog, view } = options;
  const undone = changeLog.lastUndone(view);
  if (!undone) throw new RequestError(ErrorCode.InvalidParams, '/operationId: there is nothing to put back');
  const wanted = undone.applied.map((change) => ({ path: change.path, changes: [inverse(change)] }));
  const applied = await writeFiles(options, wanted);
  if (wanted.length > 0 && applied.done.size === 0) throw nothingDone(applied);
  await changeLog.add({ kind: 'redone', id: undone.id });
  const left = undone.applied.filter(({ path }) => !applied.done.has(path));
  const rest = { ...without(undone, applied.done), kind: 'undone', id: crypto.randomUUID(), applied: left } as const;
  if (left.length > 0) await changeLog.add(rest);
  return { ...applied, undone, message: outcome('Put back', applied) };
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
  blobs: BlobStore,
  segments: ReadonlyMap<BytePath, readonly Change[]>,
  lines: NonNullable<OperationTarget['lines']>,
): Promise<FileChanges[]> {
  const [[path, [change, ...others]] = ['', []], ...files] = [...segments] as [BytePath, Change[]][];
  const { before, after } = change ?? {};
  if (!before || !after || others.length > 0 || files.length > 0) {
    const why = 'only lines of a file that existed before and after, and that no one else changed in between';
    throw new RequestError(ErrorCode.InvalidParams, `/target/range: ${why}, can be taken back`);
  }
  const less = await withoutRange(blobs, { path, before, after }, lines);
  if (!less) throw new RequestError(ErrorCode.InvalidParams, '/target/range: nothing was changed there');
  return [{ path, changes: [changeOf(path, after, less)] }];
}

/** Attributes an undo to the turns that made the changes, the newest first. */
export function byTurn(changeLog: ChangeLog, turnIds: readonly string[], done: readonly FileChanges[]): TurnChanges[] {
  const paths = new Set(done.map(({ path }) => path));
  return turnIds.toReversed().flatMap((turnId) => {
    const own = [...changeLog.segments([turnId])].filter(([path]) => paths.has(path));
    const changes = own.flatMap(([, segments]) => segments.toReversed().map(inverse));
    return changes.length > 0 ? [{ turnId, changes }] : [];
  });
}

/** Attributes undone lines to the last turn that changed the file; the sum over all turns stays right. */
function lastTurn(changeLog: ChangeLog, turnIds: readonly string[], done: readonly FileChanges[]): TurnChanges[] {
  const changes = done.flatMap((wanted) => wanted.changes);
  const owner = turnIds.findLast((turnId) => changes.every(({ path }) => changeLog.segments([turnId]).has(path)));
  return owner === undefined ? [] : [{ turnId: owner, changes }];
}

export interface WriteFilesOptions {
  /** The first folder of the session. */
  readonly root: string;
  /** The further folders; absent if none of them is concerned. */
  readonly further?: readonly string[];
  readonly blobs: BlobStore;
  readonly changeLog: ChangeLog;
  readonly work?: Work;
}

/** The meaning of changing these files; absent when an undo is being reversed. */
export type MeaningOf = (done: ReadonlySet<BytePath>) => UndoneMeaning;

export async function writeFiles(
  { root, further = [], blobs, changeLog, work = UNWATCHED }: WriteFilesOptions,
  wanted: readonly FileChanges[],
  meaningOf?: MeaningOf,
): Promise<Applied> {
  const plan = await planIn([root, ...further], wanted, blobs);
  if (plan.puts.length === 0) return { changes: [], done: new Set(), refused: plan.refused };
  const id = crypto.randomUUID();
  const meaning = meaningOf?.(new Set(plan.puts.map(({ path }) => path)));
  await changeLog.add({ kind: 'writing', id, planned: changesIn(plan), ...(meaning && { meaning }) });
  const applied = await carryOut(root, plan, blobs, work);
  await end(changeLog, id, applied.changes, meaningOf?.(applied.done));
  return applied;
}

/** A folder that no longer belongs to the session stays as it is, because the session does not work there any more. */
async function planIn(
  [first = '', ...further]: readonly string[],
  wanted: readonly FileChanges[],
  blobs: BlobStore,
): Promise<Plan> {
  const isThere = ({ path }: FileChanges) => [first, ...further].includes(located(first, path).root);
  const plan = await planAll(first, wanted.filter(isThere), blobs);
  const gone = wanted.filter((file) => !isThere(file)).map(({ path }) => ({ path, why: FOLDER_GONE }));
  return { ...plan, refused: [...plan.refused, ...gone] };
}

const FOLDER_GONE = 'its folder does not exist, or no longer belongs to the session';

/** If nothing was done, there is nothing to put back either. */
async function end(
  changeLog: ChangeLog,
  id: string,
  applied: readonly Change[],
  meaning: UndoneMeaning | undefined,
): Promise<void> {
  const isAnything = applied.length > 0 || meaning?.turns.some(({ changes }) => changes.length > 0) || meaning?.staged;
  await (meaning && isAnything ? changeLog.add({ kind: 'undone', id, ...meaning, applied }) : changeLog.end(id));
}

/** Finds out how far an interrupted writing had come when the host stopped, and updates the change log accordingly. */
export async function settle(options: WriteFilesOptions): Promise<void> {
  for (const writing of options.changeLog.unfinished) await settleOne(options, writing);
}

async function settleOne(
  { root, blobs, changeLog }: WriteFilesOptions,
  { id, planned, meaning }: Writing,
): Promise<void> {
  const applied: Change[] = [];
  for (const change of planned) {
    const place = located(root, change.path);
    const now = await capture(place.root, place.path, blobs);
    if (isSame(now, change.after)) applied.push(change);
    // The host had moved the file aside and put nothing in its place.
    else if (!now && change.before) await putEntry(root, { path: change.path, target: change.before }, blobs);
  }
  const left = new Set(planned.filter((change) => !applied.includes(change)).map(({ path }) => path));
  await end(changeLog, id, applied, applied.length > 0 ? meaning && without(meaning, left) : undefined);
}

/** The meaning without these files. */
export function without(meaning: UndoneMeaning, paths: ReadonlySet<BytePath>): UndoneMeaning {
  const { view, turns, staged } = meaning;
  const isOther = ({ path }: { readonly path: BytePath }) => !paths.has(path);
  return {
    view,
    turns: turns.map(({ turnId, changes }) => ({ turnId, changes: changes.filter(isOther) })),
    ...(staged && { staged: staged.filter(isOther) }),
  };
}
