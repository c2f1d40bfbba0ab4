/**
 * Blobs: bytes that are too large for the log, named by their SHA-256. The log contains the names, a blob store the
 * bytes. A blob never changes, so a store may keep it anywhere: today in files (`blobs/file-blob-store.ts`).
 */
import type { ContentRef } from '@atrium/protocol/ahp-1';

export interface BlobStore {
  /** Stores bytes once, and returns their hash. The blob counts as new, even if the store already had it. */
  put(bytes: Uint8Array): Promise<string>;
  /** Reads a blob; undefined when the store does not have it. */
  get(hash: string): Promise<Buffer | undefined>;
  has(hash: string): Promise<boolean>;
  /** Counts a blob as new, so that a sweep under way does not remove it; false when the store does not have it. */
  touch(hash: string): Promise<boolean>;
  /** Copies a blob from another store, if possible without reading it. */
  copyFrom(other: BlobStore, hash: string): Promise<void>;
  /** Blobs last stored before a moment, and unfinished writes that were begun before it. */
  olderThan(time: number): Promise<string[]>;
  /** Deletes a blob, and returns true, unless it was stored again at or after `time`. */
  delete(hash: string, time: number): Promise<boolean>;
}

/** The scheme with which sessions name blobs: `atrium-content:/<hash>`. */
export const BLOB_SCHEME = 'atrium-content:';
const BLOB_URI = /^atrium-content:\/([0-9a-f]{64})$/;

/** The hash in a blob's URI; undefined for any other URI. */
export function blobHash(uri: string): string | undefined {
  return BLOB_URI.exec(uri)?.[1];
}

/** Stores bytes for a session. The sweep spares a new blob until the session that names it is stored. */
export async function putNamed(blobs: BlobStore, bytes: Uint8Array, contentType: string): Promise<ContentRef> {
  return { uri: `${BLOB_SCHEME}/${await blobs.put(bytes)}`, sizeHint: bytes.length, contentType };
}
