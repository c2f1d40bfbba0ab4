/**
 * Records what an agent changes, and nothing that people change meanwhile. Before a call that may write, the recorder takes
 * a snapshot of the folder, and another one when the call is over. Where the tool names its file, it captures only that
 * file.
 */

import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import type { GateCall } from '@atrium/core/contracts/extension.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { isInside, shownPath } from '@atrium/core/util/paths.js';
import { mapSome } from '@atrium/core/util/scheduling.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { type BytePath, fromText } from '../git/byte-path.js';
import { resolveTarget } from '../tools/text-files.js';
import { capture } from './capture.js';
import { type Change, changeOf, type Entry, isSame } from './change.js';
import type { ChangeLog } from './change-log.js';
import { FolderSnapshots, type FolderSnapshotsOptions, type Found } from './folder-snapshots.js';
import { FILES_AT_ONCE, SESSION_MAX_BYTES, SESSION_MAX_CHANGES, STEP_MAX_FILES } from './limits.js';

export interface RecorderOptions extends FolderSnapshotsOptions {
  readonly logger: Logger;
  changeLog(): Promise<ChangeLog>;
  /** The contents that changes of the session name. */
  readonly blobs: BlobStore;
  /** Something new is in the change log. */
  changed(): void;
}

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #snapshots: FolderSnapshots;
  /** Snapshots, and changes for people, come one after the other. */
  #order: Promise<unknown> = Promise.resolve();
  /** What the host changes for a person now. */
  #quiet: Promise<unknown> = Promise.resolve();
  /** The ids of the recordings that have begun and are not over. */
  readonly underWay = new Set<string>();

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#snapshots = new FolderSnapshots(options);
  }

  prepare(): void {
    this.#snapshots.prepare();
  }

  /** Waits until everything that has begun so far is in the change log. */
  async close(): Promise<void> {
    await this.#snapshots.close();
    await this.#order;
  }

  /** Changes files for a person: refuses while a recording is under way, and no recording begins before it is over. */
  quietly<T>(work: () => Promise<T>): Promise<T> {
    if (this.underWay.size > 0) throw new RequestError(ErrorCode.TurnInProgress, BUSY);
    const mine = this.#inOrder(work);
    this.#quiet = mine.catch(() => {});
    return mine;
  }

  /** Runs a call of a tool that may write. */
  async around<T>(call: GateCall, run: () => Promise<T>): Promise<T> {
    const file = await namedFile(call, async () => (await this.#options.folder())?.root);
    if (file === 'elsewhere') return this.#unrecorded(call.turnId, run);
    if (file) return this.#aroundFile(call.turnId, file, run);
    const end = await this.begin(call.turnId);
    try {
      return await run();
    } finally {
      await end();
    }
  }

  /** Changes are recorded in the first folder of a session only: the gap says that something is left out. */
  async #unrecorded<T>(turnId: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } finally {
      await this.#note(turnId, { changes: [], gap: ELSEWHERE }).catch((error) => this.#failed(error));
      this.#options.changed();
    }
  }

  /** Begins a recording; the caller ends it. What changed in one that is dropped was not the agent's doing. */
  async begin(turnId: string): Promise<EndRecording> {
    const id = crypto.randomUUID();
    this.underWay.add(id);
    const why = await this.#inOrder(() => this.#begin(turnId, id));
    return async (how = 'keep') => {
      await this.#inOrder(() => this.#end({ turnId, id, why, how }));
      this.underWay.delete(id);
      this.#options.changed();
    };
  }

  /** Says why nothing can be recorded; undefined when it can. */
  async #begin(turnId: string, id: string): Promise<string | undefined> {
    try {
      await this.#snapshots.begin();
      await (await this.#options.changeLog()).add({ kind: 'begun', turnId, id });
      return undefined;
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #end({ turnId, id, why, how }: Ending): Promise<void> {
    // Another call may have taken a snapshot since, and knows what came then.
    const missed = why !== undefined && { gap: notRecorded(why) };
    try {
      if (how === 'keep') return await this.#snapshots.end((found) => this.#note(turnId, { ...found, ...missed }, id));
      this.#snapshots.drop();
      await (await this.#options.changeLog()).end(id);
    } catch (error) {
      const gap = notRecorded(why ?? this.#failed(error));
      await this.#note(turnId, { changes: [], gap }, id).catch((worse) => this.#failed(worse));
    }
  }

  /** Waits for no snapshot, but for what the host changes for a person. */
  async #aroundFile<T>(turnId: string, { root, path }: NamedFile, run: () => Promise<T>): Promise<T> {
    const id = crypto.randomUUID();
    this.underWay.add(id);
    try {
      await this.#quiet;
      return await this.#recorded(turnId, { root, path }, run);
    } finally {
      this.underWay.delete(id);
      this.#options.changed();
    }
  }

  async #recorded<T>(turnId: string, { root, path }: NamedFile, run: () => Promise<T>): Promise<T> {
    const before = await capture(root, path, this.#options.blobs);
    try {
      return await run();
    } finally {
      const after = await capture(root, path, this.#options.blobs);
      if (!isSame(before, after)) await this.#note(turnId, { changes: [changeOf(path, before, after)] });
    }
  }

  async #note(turnId: string, found: Found, id: string = crypto.randomUUID()): Promise<void> {
    const changeLog = await this.#options.changeLog();
    const { changes, gap } = withinLimits(found, changeLog);
    if (changes.length === 0 && gap === undefined) return changeLog.end(id);
    await this.#keep(changes);
    await changeLog.add({ kind: 'step', turnId, id, changes, ...(gap !== undefined && { gap }) });
  }

  /** Blobs of snapshots go with the host; the session needs those of changed files. */
  async #keep(changes: readonly Change[]): Promise<void> {
    const folder = await this.#options.folder();
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
  /** Why it did not begin well; undefined when it did. */
  readonly why: string | undefined;
  readonly how: 'keep' | 'drop';
}

function notRecorded(why: string): string {
  return `a call was not recorded: ${why}`;
}

const ELSEWHERE = 'a call changed a file in another folder of the session than the first';

const BUSY = 'the agent is changing files now: wait, or cancel its turn first';

interface NamedFile {
  readonly root: string;
  readonly path: BytePath;
}

/** Tools of the host that change the one file that they name. */
const NAMES_ITS_FILE: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/** Undefined when the call names no file, or one that cannot be: the tool will say what is wrong with the path. */
async function namedFile(
  { toolName, owner, input, workingDirectory, workingDirectories }: GateCall,
  rootOf: () => Promise<string | undefined>,
): Promise<NamedFile | 'elsewhere' | undefined> {
  if (owner !== undefined || !NAMES_ITS_FILE.has(toolName) || !isRecord(input)) return undefined;
  const root = await rootOf();
  const target = await resolveTarget(workingDirectories ?? workingDirectory, String(input.path)).catch(() => undefined);
  if (root === undefined || !target) return undefined;
  return isInside(root, target.real) ? { root, path: fromText(shownPath(root, target.real)) } : 'elsewhere';
}

const TOO_MANY = `a call changed more than ${STEP_MAX_FILES} files`;
const FULL = `${SESSION_MAX_BYTES / 2 ** 30} GiB are kept for this session already, and no more contents`;
const NO_MORE = `${SESSION_MAX_CHANGES} changes are remembered for this session already, and no more`;

/** As much of what a call changed as a session may record. The gap says what is left out. */
function withinLimits({ changes, gap }: Found, { bytes, size }: ChangeLog): Found {
  if (size > SESSION_MAX_CHANGES) return { changes: [], gap: NO_MORE };
  if (bytes > SESSION_MAX_BYTES) return { changes: changes.slice(0, STEP_MAX_FILES).map(withoutContents), gap: FULL };
  if (changes.length > STEP_MAX_FILES) return { changes: changes.slice(0, STEP_MAX_FILES), gap: TOO_MANY };
  return { changes, ...(gap !== undefined && { gap }) };
}

function withoutContents({ path, before, after }: Change): Change {
  const lose = (entry: Entry | undefined) => entry && { ...entry, isLost: true as const };
  return changeOf(path, lose(before), lose(after));
}
