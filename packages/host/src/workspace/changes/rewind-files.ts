/**
 * The files of a rewind: puts back what some turns changed, but only where a file is as the agent left it. A person's
 * own edit is never touched, not even by a merge: the restored content is always one that existed before, never a new
 * mix.
 */
import { createHash } from 'node:crypto';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import type { Work } from '@atrium/core/contracts/work.js';
import { mapSome } from '@atrium/core/util/scheduling.js';
import type { KeptFile, RewindFile } from '@atrium/protocol/ahp-1';
import { type BytePath, fileUri, located } from '../git/byte-path.js';
import { capture } from './capture.js';
import { type Change, changeOf, inverse, isSame } from './change.js';
import type { ChangeLog } from './change-log.js';
import { FILES_AT_ONCE, VIEW_MAX_FILES } from './limits.js';
import type { FileChanges } from './merge.js';
import type { Refusal } from './put-files.js';
import type { RecordedFiles } from './recorded-source.js';
import { byTurn, type UndoOptions, without, writeFiles } from './undo.js';

export interface RewindFilesOptions {
  readonly blobs: BlobStore;
  readonly files: RecordedFiles;
  changeLog(): Promise<ChangeLog>;
  /** The folders of the session, the first one first; empty if the first does not exist. */
  roots(): Promise<readonly string[]>;
  inProgress(): ReadonlySet<string>;
  /** Runs work that changes files; fails while the agent is at work. */
  quietly<T>(work: () => Promise<T>): Promise<T>;
}

/** What a rewind would put back, and what would stay. */
export interface RewindFilesPlan {
  readonly files: readonly RewindFile[];
  readonly kept: readonly KeptFile[];
  /** How many are not listed. */
  readonly more: number;
  /** Why turns may have changed more than is recorded. */
  readonly gaps: readonly string[];
  /** Equal for two plans that would do the same. */
  readonly digest: string;
}

export interface RewoundFiles {
  readonly done: number;
  readonly kept: readonly KeptFile[];
}

const CHANGED = 'it has been changed since';
const NOTHING: RewoundFiles = { done: 0, kept: [] };

export class RewindFiles {
  constructor(private readonly options: RewindFilesOptions) {}

  quietly<T>(work: () => Promise<T>): Promise<T> {
    return this.options.quietly(work);
  }

  async plan(turnIds: readonly string[]): Promise<RewindFilesPlan> {
    const [root] = await this.options.roots();
    if (root === undefined) return { files: [], kept: [], more: 0, gaps: [], digest: 'none' };
    const changeLog = await this.options.changeLog();
    const { wanted, refused } = await this.#strict(changeLog, turnIds);
    const files: RewindFile[] = [];
    this.options.files.begin();
    for (const each of wanted.slice(0, VIEW_MAX_FILES)) files.push(await this.#shown(root, each));
    const kept = refused.slice(0, VIEW_MAX_FILES).map((file) => keptFile(root, file));
    return {
      files,
      kept,
      more: wanted.length - files.length + refused.length - kept.length,
      gaps: changeLog.gaps(turnIds, this.options.inProgress()),
      digest: digestOf(wanted, refused),
    };
  }

  /** Puts back what it can. Called again after a crash, it continues with the rest. */
  async putBack(turnIds: readonly string[], view: string, work: Work): Promise<RewoundFiles> {
    const undo = await this.#undoOptions(view, work);
    if (!undo) return NOTHING;
    const { wanted, refused } = await this.#strict(undo.changeLog, turnIds);
    const applied = await writeFiles(undo, wanted, (paths) => {
      const done = wanted.filter(({ path }) => paths.has(path));
      return { view, turns: byTurn(undo.changeLog, turnIds, done) };
    });
    const kept = [...refused, ...applied.refused].map((file) => keptFile(undo.root, file));
    const done = undo.changeLog.undone(view).reduce((sum, { applied: { length } }) => sum + length, 0);
    return { done, kept };
  }

  /** Reverses what `putBack` did under this name. Called again after a crash, it continues with the rest. */
  async undo(view: string, work: Work): Promise<RewoundFiles> {
    const undo = await this.#undoOptions(view, work);
    if (!undo) return NOTHING;
    const { changeLog, root } = undo;
    let done = 0;
    const kept: KeptFile[] = [];
    for (const undone of changeLog.undone(view).toReversed()) {
      const looks = await mapSome(undone.applied, FILES_AT_ONCE, (change) => this.#reverse(root, change));
      const applied = await writeFiles(
        undo,
        looks.flatMap((look) => ('changes' in look ? look : [])),
      );
      const refused = [...looks.flatMap((look) => ('why' in look ? look : [])), ...applied.refused];
      const left = undone.applied.filter(({ path }) => !applied.done.has(path));
      const rest = { ...without(undone, applied.done), kind: 'undone', applied: left } as const;
      // Files that are not reversed stay put back, under a name that no undo looks for.
      const stays = left.length > 0 ? [{ ...rest, id: crypto.randomUUID(), view: `${view}/kept` }] : [];
      await changeLog.addAll([{ kind: 'redone', id: undone.id }, ...stays]);
      done += applied.done.size;
      kept.push(...refused.map((file) => keptFile(root, file)));
    }
    return { done, kept };
  }

  /** The change that reverses putting back one file. */
  async #reverse(root: string, change: Change): Promise<FileChanges | Refusal> {
    const { path } = change;
    const place = located(root, path);
    const current = await capture(place.root, place.path, this.options.blobs);
    const isOurs = isSame(current, change.after) || isSame(current, change.before);
    return isOurs ? { path, changes: [inverse(change)] } : { path, why: CHANGED };
  }

  async #undoOptions(view: string, work: Work): Promise<UndoOptions | undefined> {
    const [root, ...further] = await this.options.roots();
    if (root === undefined) return undefined;
    const { blobs } = this.options;
    return { root, further, blobs, view, work, changeLog: await this.options.changeLog() };
  }

  async #strict(changeLog: ChangeLog, turnIds: readonly string[]): Promise<Strict> {
    const roots = await this.options.roots();
    const segments = [...changeLog.segments(turnIds)].sort(([a], [b]) => (a < b ? -1 : 1));
    const looks = await mapSome(segments, FILES_AT_ONCE, ([path, changes]) => this.#check(roots, path, changes));
    return {
      wanted: looks.flatMap((look) => ('changes' in look ? look : [])),
      refused: looks.flatMap((look) => ('why' in look ? look : [])),
    };
  }

  async #check(
    roots: readonly string[],
    path: BytePath,
    changes: readonly Change[],
  ): Promise<FileChanges | Refusal | Record<never, never>> {
    const [change, ...others] = changes;
    const place = located(roots[0] ?? '', path);
    if (!change) return {};
    if (!roots.includes(place.root)) return { path, why: 'its folder no longer belongs to the session' };
    if (others.length > 0) return { path, why: 'something else changed it between the turns' };
    const current = await capture(place.root, place.path, this.options.blobs);
    // It has been put back already.
    if (isSame(current, change.before)) return {};
    if (!isSame(current, change.after)) return { path, why: current ? CHANGED : 'it has been deleted since' };
    if (change.before?.isLost) return { path, why: 'its content before was not kept' };
    return { path, changes: [inverse(change)] };
  }

  async #shown(root: string, { path, changes }: FileChanges): Promise<RewindFile> {
    const { before, after } = changes[0] ?? {};
    const { file } = await this.options.files.shown(root, changeOf(path, before, after));
    const { diff } = file.edit;
    const does = !after ? 'delete' : before ? 'change' : 'create';
    return { uri: fileUri(root, path), does, ...(diff && { added: diff.added ?? 0, removed: diff.removed ?? 0 }) };
  }
}

interface Strict {
  readonly wanted: readonly FileChanges[];
  readonly refused: readonly Refusal[];
}

function keptFile(root: string, { path, why }: Refusal): KeptFile {
  return { uri: fileUri(root, path), why };
}

function digestOf(wanted: readonly FileChanges[], refused: readonly Refusal[]): string {
  const sides = wanted.map(({ path, changes: [change] }) => [path, change?.before?.hash, change?.after?.hash]);
  const all = JSON.stringify([sides, refused.map(({ path }) => path)]);
  return createHash('sha256').update(all).digest('base64url');
}
