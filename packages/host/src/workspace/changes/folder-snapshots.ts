/**
 * Snapshots of a session's folder before and after calls, and the changes between them. Simultaneous calls share the
 * snapshot before the first of them; a change since the last snapshot belongs to the call that ends next.
 */
import { realpath } from 'node:fs/promises';
import type { Clock } from '@atrium/core/util/clock.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import type { BytePath } from '../git/byte-path.js';
import { findRepository } from '../git/repository.js';
import type { Tracked } from '../git/repository-status.js';
import type { Change, Entry } from './change.js';
import type { SnapshotBlobs } from './change-storage.js';
import { GitFolder } from './git-folder.js';
import { COMPARE_MAX_MS, SNAPSHOT_PAUSE_MS, SNAPSHOT_WAIT_MAX_MS } from './limits.js';
import { PlainFolder } from './plain-folder.js';

export interface FolderSnapshotsOptions {
  readonly clock: Clock;
  /** The session's folder; undefined when it does not exist. */
  folder(): Promise<SnapshotFolderOptions | undefined>;
}

interface Base {
  readonly folder: SnapshotFolder;
  readonly snapshot: Snapshot;
  /** Releases the blobs of the snapshot. */
  readonly release: () => void;
}

export class FolderSnapshots {
  /** The folder as it was before the calls under way. */
  #base: Base | undefined;
  #running = 0;
  #last: SnapshotFolder | undefined;
  #prepared: Promise<void> = Promise.resolve();
  /** Until this time no call waits for a snapshot, because the last one took too long. */
  #pausedUntil = 0;
  readonly #over = new AbortController();

  constructor(private readonly options: FolderSnapshotsOptions) {}

  /** Reads a folder without Git once, in the background, so that the first call need not wait for it. */
  prepare(): void {
    this.#prepared = this.#prepare()
      .then(() => {
        this.#pausedUntil = 0;
      })
      .catch(() => {});
  }

  async #prepare(): Promise<void> {
    const folder = await this.options.folder();
    if (!folder || this.#last) return;
    const release = await folder.blobs.hold();
    try {
      this.#last = await snapshotFolder(folder, undefined, this.#over.signal);
      if (this.#last.kind === 'plain') await this.#last.take(this.#over.signal);
    } finally {
      release();
    }
  }

  /** A call is about to run. Fails when a snapshot takes too long; even then the caller must call `end` or `drop`. */
  async begin(): Promise<void> {
    this.#running += 1;
    if (this.#base) return;
    if (this.options.clock.now() < this.#pausedUntil) throw new Error(TOO_LARGE);
    const options = await this.options.folder();
    if (!options) throw new Error('the folder does not exist');
    const release = await options.blobs.hold();
    try {
      const { folder, snapshot } = await this.#inTime(SNAPSHOT_WAIT_MAX_MS, (signal) => this.#first(options, signal));
      this.#last = folder;
      this.#base = { folder, snapshot, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #first(options: SnapshotFolderOptions, signal: AbortSignal): Promise<Omit<Base, 'release'>> {
    await untilAborted(signal, this.#prepared);
    const folder = await snapshotFolder(options, this.#last, signal);
    return { folder, snapshot: await folder.take(signal) };
  }

  /** A call is over. Passes its changes to `keep` while the blobs of both snapshots still exist. */
  async end(keep: (found: Found) => Promise<void>): Promise<void> {
    this.#running -= 1;
    const base = this.#base;
    if (this.#running === 0) this.#base = undefined;
    if (!base) throw new Error('the folder was not looked at before');
    try {
      const snapshot = await this.#inTime(SNAPSHOT_WAIT_MAX_MS, (signal) => base.folder.take(signal));
      // Calls that still run continue from this snapshot, so that no change is found twice.
      if (this.#base) this.#base = { ...base, snapshot };
      await keep(await this.#inTime(COMPARE_MAX_MS, (signal) => base.folder.changes(base.snapshot, snapshot, signal)));
    } finally {
      if (!this.#base) base.release();
    }
  }

  /** A call is not recorded after all. Changes so far of other running calls can still be found. */
  drop(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    this.#base?.release();
    this.#base = undefined;
  }

  async #inTime<T>(milliseconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.options;
    const abort = new AbortController();
    const late = new Error(`looking at the folder took longer than ${milliseconds / 1_000} s`);
    const disarm = clock.after(milliseconds, () => abort.abort(late));
    try {
      return await work(abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      this.#pausedUntil = clock.now() + SNAPSHOT_PAUSE_MS;
      throw late;
    } finally {
      disarm();
    }
  }

  /** Stops preparing, and waits until that has ended. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#prepared;
  }
}

const TOO_LARGE = `the folder takes longer to look at than ${SNAPSHOT_WAIT_MAX_MS / 1_000} s`;

export interface Snapshot {
  /** The commit that all other files are from. */
  readonly head?: string;
  /** With Git, only files that differ from that commit; otherwise all files. */
  readonly files: ReadonlyMap<BytePath, Seen>;
  /** Why the snapshot is incomplete. */
  readonly gap?: string;
}

export interface Seen {
  readonly now?: Entry;
  readonly head?: Tracked;
}

export interface Found {
  /** Ordered by path. */
  readonly changes: readonly Change[];
  /** Why there may be more. */
  readonly gap?: string;
}

/** One folder, of which the host takes snapshots repeatedly: with Git, or without. */
export interface SnapshotFolder {
  readonly kind: 'git' | 'plain';
  take(signal: AbortSignal): Promise<Snapshot>;
  changes(before: Snapshot, after: Snapshot, signal: AbortSignal): Promise<Found>;
}

export interface SnapshotFolderOptions {
  /** Its real path. */
  readonly root: string;
  readonly blobs: SnapshotBlobs;
  /** Whether the host itself writes this file; if so, no agent or person changed it. */
  isOurs(path: BytePath): boolean;
}

/** Uses Git where possible, because Git already knows the content of almost all files. */
export async function snapshotFolder(
  options: SnapshotFolderOptions,
  last: SnapshotFolder | undefined,
  signal: AbortSignal,
): Promise<SnapshotFolder> {
  const repository = await findRepository(options.root, { signal });
  if (repository) return last instanceof GitFolder ? last.with(repository) : new GitFolder(options, repository);
  return last instanceof PlainFolder ? last : new PlainFolder(options);
}

/** Undefined when the folder does not exist. */
export async function realFolder(folder: string | undefined): Promise<string | undefined> {
  return folder === undefined ? undefined : realpath(folder).catch(() => undefined);
}
