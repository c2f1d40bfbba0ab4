/**
 * Where the contents of changes are on disk: one blob store for each session, and one that lives as long as the host.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { FileBlobStore } from '../../blobs/file-blob-store.js';
import { SNAPSHOTS_MAX_BYTES } from './limits.js';

const SESSIONS = 'sessions';
const SNAPSHOTS = 'looked-at';
const NAME_CHARACTERS = 32;

export class ChangeStorage {
  /** Contents that were read only to compare snapshots. */
  readonly snapshots: SnapshotBlobs;

  constructor(readonly folder: string) {
    this.snapshots = new SnapshotBlobs(path.join(folder, SNAPSHOTS));
  }

  /** Contents that changes of a session name. */
  blobs(session: string): BlobStore {
    return new FileBlobStore(path.join(this.folderOf(session), 'contents'));
  }

  folderOf(session: string): string {
    return path.join(this.folder, SESSIONS, nameOf(session));
  }

  /**
   * Drops the snapshots of an earlier host. They may be large, so they are moved aside and deleted in the background.
   */
  async dropSnapshots(): Promise<{ readonly gone: Promise<void> }> {
    const { folder } = this.snapshots;
    await rename(folder, `${folder}-${randomUUID()}`).catch(() => {});
    const old = (await namesIn(this.folder)).filter((name) => name.startsWith(`${SNAPSHOTS}-`));
    const removals = old.map((name) => rm(path.join(this.folder, name), { recursive: true, force: true }));
    return { gone: Promise.all(removals).then(() => {}) };
  }

  /**
   * Removes the folders of all other sessions, and returns which sessions have one. Does not call `stored` if there is
   * nothing to sweep.
   */
  async sweep(stored: () => readonly string[]): Promise<string[]> {
    const names = await namesIn(path.join(this.folder, SESSIONS));
    if (names.length === 0) return [];
    const sessions = new Map(stored().map((session) => [nameOf(session), session]));
    for (const name of names) {
      if (!sessions.has(name)) await rm(path.join(this.folder, SESSIONS, name), { recursive: true, force: true });
    }
    return names.flatMap((name) => sessions.get(name) ?? []);
  }

  async forget(session: string): Promise<void> {
    await rm(this.folderOf(session), { recursive: true, force: true });
  }
}

/** A folder cannot be named after a URI, so its digest is the name. */
function nameOf(session: string): string {
  return createHash('sha256').update(session).digest('hex').slice(0, NAME_CHARACTERS);
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** Blobs that only snapshots need. When there are too many, all are dropped as soon as no snapshot is in use. */
export class SnapshotBlobs extends FileBlobStore {
  #bytes = 0;
  #holders = 0;
  #generation = 0;
  #dropping: Promise<void> | undefined;

  /** Changes whenever all blobs were dropped: blobs of an earlier generation are gone. */
  get generation(): number {
    return this.#generation;
  }

  override async put(bytes: Uint8Array): Promise<string> {
    this.#bytes += bytes.length;
    return super.put(bytes);
  }

  /** Keeps all blobs until the returned function is called. */
  async hold(): Promise<() => void> {
    await this.#dropping;
    this.#holders += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders === 0 && this.#bytes > SNAPSHOTS_MAX_BYTES) this.#drop();
    };
  }

  #drop(): void {
    this.#generation += 1;
    this.#bytes = 0;
    this.#dropping = this.clear().finally(() => {
      this.#dropping = undefined;
    });
  }
}
