/**
 * Records what an agent changes in the folders of a session, and nothing that people change meanwhile. The recorder
 * takes a snapshot of each folder before a call that may write, and another when the call has ended. If the tool names
 * its file, it captures only that file.
 */

import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import type { GateCall } from '@atrium/core/contracts/extension.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { isInside, shownPath } from '@atrium/core/util/paths.js';
import { mapSome } from '@atrium/core/util/scheduling.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { type BytePath, fromText, inFolder } from '../git/byte-path.js';
import { resolveTarget } from '../tools/text-files.js';
import { capture } from './capture.js';
import { type Change, changeOf, type Entry, isSame } from './change.js';
import type { ChangeLog } from './change-log.js';
import { FolderSnapshots, type Found, type SnapshotFolderOptions } from './folder-snapshots.js';
import { FILES_AT_ONCE, SESSION_MAX_BYTES, SESSION_MAX_CHANGES, STEP_MAX_FILES } from './limits.js';

export interface RecorderOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folders of the session, the first one first; empty if the first does not exist. */
  folders(): Promise<readonly SnapshotFolderOptions[]>;
  changeLog(): Promise<ChangeLog>;
  /** The contents that the session's changes name. */
  readonly blobs: BlobStore;
  /** The change log has something new. */
  changed(): void;
}

export class Recorder {
  readonly #options: RecorderOptions;
  /** By the real paths of the folders. */
  readonly #snapshots = new Map<string, FolderSnapshots>();
  #preparing: Promise<void> = Promise.resolve();
  /** Snapshots, and changes for people, run one after another. */
  #order: Promise<unknown> = Promise.resolve();
  /** Resolves when the host has finished changing files for a person. */
  #quiet: Promise<unknown> = Promise.resolve();
  /** The ids of the recordings under way. */
  readonly inProgress = new Set<string>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Prepares snapshots of the present folders. */
  prepare(): void {
    this.#preparing = this.#options.folders().then(
      (folders) => {
        for (const { root } of folders) this.#snapshotsOf(root).prepare();
      },
      (error) => void this.#failed(error),
    );
  }

  #snapshotsOf(root: string): FolderSnapshots {
    const folder = async () => (await this.#options.folders()).find((each) => each.root === root);
    const snapshots = this.#snapshots.get(root) ?? new FolderSnapshots({ clock: this.#options.clock, folder });
    this.#snapshots.set(root, snapshots);
    return snapshots;
  }

  /** Waits until everything that has begun so far is in the change log. */
  async close(): Promise<void> {
    await this.#preparing;
    await Promise.all([...this.#snapshots.values()].map((snapshots) => snapshots.close()));
    await this.#order;
  }

  /** Changes files for a person: refuses while a recording is under way, and delays new recordings until it is done. */
  quietly<T>(work: () => Promise<T>): Promise<T> {
    if (this.inProgress.size > 0) throw new RequestError(ErrorCode.TurnInProgress, BUSY);
    const mine = this.#inOrder(work);
    this.#quiet = mine.catch(() => {});
    return mine;
  }

  /** Runs a call of a tool that may write. */
  async around<T>(call: GateCall, run: () => Promise<T>): Promise<T> {
    const file = await namedFile(call, async () => (await this.#options.folders()).map(({ root }) => root));
    if (file === 'elsewhere') return this.#unrecorded(call.turnId, run);
    if (file) return this.#aroundFile(call.turnId, file, run);
    const end = await this.begin(call.turnId);
    try {
      return await run();
    } finally {
      await end();
    }
  }

  /** Changes are recorded only in the folders of a session; the gap says that something is missing. */
  async #unrecorded<T>(turnId: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } finally {
      await this.#note(turnId, { changes: [], gap: ELSEWHERE }).catch((error) => this.#failed(error));
      this.#options.changed();
    }
  }

  /** Begins a recording, which the caller ends. Changes during a dropped recording are not attributed to the agent. */
  async begin(turnId: string): Promise<EndRecording> {
    const id = crypto.randomUUID();
    this.inProgress.add(id);
    const begun = await this.#inOrder(() => this.#begin(turnId, id));
    return async (how = 'keep') => {
      await this.#inOrder(() => this.#end({ turnId, id, begun, how }));
      this.inProgress.delete(id);
      this.#options.changed();
    };
  }

  async #begin(turnId: string, id: string): Promise<Begun> {
    try {
      await this.#preparing;
      const folders = await this.#options.folders();
      if (folders.length === 0) throw new Error('the folder does not exist');
      const begun = await Promise.all(folders.map(({ root }, index) => this.#beginIn(root, index === 0)));
      const why = await this.#noteBegun(turnId, id);
      return { folders: begun, ...(why !== undefined && { why }) };
    } catch (error) {
      return { folders: [], why: this.#failed(error) };
    }
  }

  async #beginIn(root: string, isFirst: boolean): Promise<BegunFolder> {
    const snapshots = this.#snapshotsOf(root);
    const why = await snapshots.begin().then(
      () => undefined,
      (error) => this.#failed(error),
    );
    return { root, isFirst, snapshots, why };
  }

  /** Records that a recording has begun; returns why not, if that fails. */
  async #noteBegun(turnId: string, id: string): Promise<string | undefined> {
    try {
      await (await this.#options.changeLog()).add({ kind: 'begun', turnId, id });
      return undefined;
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #end({ turnId, id, begun, how }: Ending): Promise<void> {
    try {
      if (how === 'keep') return await this.#store(turnId, await this.#found(begun), id);
      for (const { snapshots } of begun.folders) snapshots.drop();
      await (await this.#options.changeLog()).end(id);
    } catch (error) {
      const gap = notRecorded(begun.why ?? this.#failed(error));
      await this.#store(turnId, { changes: [], gap }, id).catch((worse) => this.#failed(worse));
    } finally {
      await this.#forgetFolders().catch((error) => this.#failed(error));
    }
  }

  /**
   * The changes in all folders, as many as are kept. Snapshots are taken at the same time, contents stored one after
   * another.
   */
  async #found({ folders, why }: Begun): Promise<Found> {
    const changeLog = await this.#options.changeLog();
    const found = new Map<BegunFolder, Found>();
    let keeping: Promise<void> = Promise.resolve();
    let files = 0;
    const keep = async (folder: BegunFolder, given: Found) => {
      const limited = withinLimits(inSession(folder, given), { changeLog, files });
      files += limited.changes.length;
      found.set(folder, limited);
      await this.#keep(limited.changes);
    };
    await Promise.all(
      folders.map(async (folder) => {
        const ended = folder.snapshots.end((given) => {
          keeping = keeping.then(() => keep(folder, given));
          return keeping;
        });
        await ended.catch((error) => {
          const gap = notRecorded(folder.why ?? this.#failed(error));
          found.set(folder, inSession(folder, { changes: [], gap }));
        });
      }),
    );
    const gaps = folders.flatMap((folder) => {
      const missed = folder.why !== undefined && inSession(folder, { changes: [], gap: notRecorded(folder.why) }).gap;
      return [missed || found.get(folder)?.gap || []].flat();
    });
    const all = [...new Set([...(why === undefined ? [] : [notRecorded(why)]), ...gaps])];
    const changes = folders.flatMap((folder) => found.get(folder)?.changes ?? []);
    return { changes, ...(all.length > 0 && { gap: all.join('; ') }) };
  }

  /** Forgets folders that no longer belong to the session. */
  async #forgetFolders(): Promise<void> {
    if (this.inProgress.size > 1) return;
    const roots = new Set((await this.#options.folders()).map(({ root }) => root));
    for (const [root, snapshots] of this.#snapshots) {
      if (roots.has(root)) continue;
      this.#snapshots.delete(root);
      await snapshots.close();
    }
  }

  /** Waits for no snapshot, but for changes that the host makes for a person. */
  async #aroundFile<T>(turnId: string, file: NamedFile, run: () => Promise<T>): Promise<T> {
    const id = crypto.randomUUID();
    this.inProgress.add(id);
    try {
      await this.#quiet;
      return await this.#recorded(turnId, file, run);
    } finally {
      this.inProgress.delete(id);
      this.#options.changed();
    }
  }

  async #recorded<T>(turnId: string, { root, path, name }: NamedFile, run: () => Promise<T>): Promise<T> {
    const before = await capture(root, path, this.#options.blobs);
    try {
      return await run();
    } finally {
      const after = await capture(root, path, this.#options.blobs);
      if (!isSame(before, after)) await this.#note(turnId, { changes: [changeOf(name, before, after)] });
    }
  }

  /** Records what a call that names its file changed. The session has its contents already. */
  async #note(turnId: string, found: Found): Promise<void> {
    const changeLog = await this.#options.changeLog();
    await this.#store(turnId, withinLimits(found, { changeLog, files: 0 }), crypto.randomUUID());
  }

  async #store(turnId: string, { changes, gap }: Found, id: string): Promise<void> {
    const changeLog = await this.#options.changeLog();
    if (changes.length === 0 && gap === undefined) return changeLog.end(id);
    await changeLog.add({ kind: 'step', turnId, id, changes, ...(gap !== undefined && { gap }) });
  }

  /** Snapshot blobs are dropped with the host; the session needs those of changed files. */
  async #keep(changes: readonly Change[]): Promise<void> {
    const [folder] = await this.#options.folders();
    const entries = changes.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
    await mapSome(entries, FILES_AT_ONCE, async ({ hash, isLost }) => {
      if (folder && !isLost) await this.#options.blobs.copyFrom(folder.blobs, hash);
    });
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#order.then(work);
    this.#order = mine.catch(() => {});
    return mine;
  }

  #failed(error: unknown): string {
    const message = error instanceof Error ? error.message : String(error);
    this.#options.logger.log('warn', 'changes could not be recorded', { error: message });
    return message;
  }
}

export type EndRecording = (how?: 'keep' | 'drop') => Promise<void>;

interface Ending {
  readonly turnId: string;
  readonly id: string;
  readonly begun: Begun;
  readonly how: 'keep' | 'drop';
}

/** A recording under way, in the folders that existed at its beginning. */
interface Begun {
  readonly folders: readonly BegunFolder[];
  /** Why it did not begin properly; absent if it did. */
  readonly why?: string;
}

interface BegunFolder {
  readonly root: string;
  readonly isFirst: boolean;
  readonly snapshots: FolderSnapshots;
  /** Why there is no snapshot of it. Another call may have taken one since, and finds what changed after that. */
  readonly why: string | undefined;
}

/** The changes of one folder, with paths as the session knows them. */
function inSession({ root, isFirst }: BegunFolder, { changes, gap }: Found): Found {
  if (isFirst) return { changes, ...(gap !== undefined && { gap }) };
  const named = changes.map((change) => ({ ...change, path: inFolder(root, change.path) }));
  return { changes: named, ...(gap !== undefined && { gap: `${gap} (in ${root})` }) };
}

function notRecorded(why: string): string {
  return `a call was not recorded: ${why}`;
}

const ELSEWHERE = 'a call changed a file that is in no folder of the session';

const BUSY = 'the agent is changing files now: wait, or cancel its turn first';

interface NamedFile {
  readonly root: string;
  /** In that folder. */
  readonly path: BytePath;
  /** In the session. */
  readonly name: BytePath;
}

/** Tools of the host that change only the file that they name. */
const NAMES_ITS_FILE: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/** Undefined when the call names no file, or an impossible one; the tool will report a bad path. */
async function namedFile(
  { toolName, owner, input, workingDirectory, workingDirectories }: GateCall,
  rootsOf: () => Promise<readonly string[]>,
): Promise<NamedFile | 'elsewhere' | undefined> {
  if (owner !== undefined || !NAMES_ITS_FILE.has(toolName) || !isRecord(input)) return undefined;
  const roots = await rootsOf();
  const target = await resolveTarget(workingDirectories ?? workingDirectory, String(input.path)).catch(() => undefined);
  if (roots.length === 0 || !target) return undefined;
  const root = roots.find((each) => isInside(each, target.real));
  if (root === undefined) return 'elsewhere';
  const path = fromText(shownPath(root, target.real));
  return { root, path, name: root === roots[0] ? path : inFolder(root, path) };
}

const TOO_MANY = `a call changed more than ${STEP_MAX_FILES} files`;
const FULL = `${SESSION_MAX_BYTES / 2 ** 30} GiB of contents are stored for this session already; it can store no more`;
const NO_MORE = `${SESSION_MAX_CHANGES} changes are recorded for this session already; it can record no more`;

/** How much is recorded already: of the session, and of this call in other folders. */
interface Recorded {
  readonly changeLog: ChangeLog;
  readonly files: number;
}

/** As many changes of a call as a session may record. The gap says what is missing. */
function withinLimits({ changes, gap }: Found, { changeLog: { bytes, size }, files }: Recorded): Found {
  const most = Math.max(0, STEP_MAX_FILES - files);
  if (size > SESSION_MAX_CHANGES) return { changes: [], gap: NO_MORE };
  if (bytes > SESSION_MAX_BYTES) return { changes: changes.slice(0, most).map(withoutContents), gap: FULL };
  if (changes.length > most) return { changes: changes.slice(0, most), gap: TOO_MANY };
  return { changes, ...(gap !== undefined && { gap }) };
}

function withoutContents({ path, before, after }: Change): Change {
  const lose = (entry: Entry | undefined) => entry && { ...entry, isLost: true as const };
  return changeOf(path, lose(before), lose(after));
}
