/**
 * Blobs: bytes that are too large for the log, named by their SHA-256. The log names them, a blob store holds them. A blob
 * never changes, so a store may keep it wherever it likes: today in files (`blobs/file-blob-store.ts`).
 */
import type { ContentRef } from '@atrium/protocol/ahp-1';

export interface BlobStore {
  /** Stores bytes, once, and answers their hash. The blob counts as new, also when it was there before. */
  put(bytes: Uint8Array): Promise<string>;
  /** Undefined when the store has no such blob. */
  get(hash: string): Promise<Buffer | undefined>;
  has(hash: string): Promise<boolean>;
  /** Counts a blob as new, so that no sweep that has begun removes it; false when it is not there. */
  touch(hash: string): Promise<boolean>;
  /** Takes a blob over from another store, without reading it where that is possible. */
  copyFrom(other: BlobStore, hash: string): Promise<void>;
  /** The blobs that were last put before a moment, and what was begun before it and never finished. */
  olderThan(time: number): Promise<string[]>;
  /** Says whether the blob was removed: it stays when it was put again at or after `time`. */
  delete(hash: string, time: number): Promise<boolean>;
}

/** How sessions name blobs: `atrium-content:/<hash>`. */
export const BLOB_SCHEME = 'atrium-content:';
const BLOB_URI = /^atrium-content:\/([0-9a-f]{64})$/;

/** The hash in the name of a blob; undefined for every other URI. */
export function blobHash(uri: string): string | undefined {
  return BLOB_URI.exec(uri)?.[1];
}

/** Stores bytes for a session. The sweep leaves a new blob alone until the session that names it is stored. */
export async function putNamed(blobs: BlobStore, bytes: Uint8Array, contentType: string): Promise<ContentRef> {
  return { uri: `${BLOB_SCHEME}/${await blobs.put(bytes)}`, sizeHint: bytes.length, contentType };
}
