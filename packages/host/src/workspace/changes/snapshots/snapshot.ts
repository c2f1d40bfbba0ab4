/** How a folder is at one moment, and what two such moments have between them. */
import { realpath } from 'node:fs/promises';
import type { BytePath } from '../../git/byte-path.js';
import { findRepository } from '../../git/repository.js';
import type { Change, Entry } from '../entry.js';
import type { Tracked } from '../git/status.js';
import type { TransientStore } from '../transient-store.js';
import { GitFolder } from './git-folder.js';
import { PlainFolder } from './plain-folder.js';

export interface Snapshot {
  /** The commit that all other files are from. */
  readonly head?: string;
  /** With Git only what differs from that commit, otherwise everything. */
  readonly files: ReadonlyMap<BytePath, Seen>;
  /** Why it is not complete. */
  readonly gap?: string;
}

export interface Seen {
  readonly now?: Entry;
  readonly head?: Tracked;
}

export interface Found {
  /** In the order of their paths. */
  readonly changes: readonly Change[];
  /** Why there may be more. */
  readonly gap?: string;
}

/** One folder, looked at again and again. Contents go into the store that it was made with. */
export interface LookedAtFolder {
  readonly kind: 'git' | 'plain';
  look(signal: AbortSignal): Promise<Snapshot>;
  changes(before: Snapshot, after: Snapshot, signal: AbortSignal): Promise<Found>;
}

export interface FolderParts {
  /** Its real path. */
  readonly root: string;
  readonly store: TransientStore;
  /** What the host itself writes there is nobody's change. */
  isOurs(path: BytePath): boolean;
}

/** Looks at a folder by Git where that is possible: it knows already what almost all files hold. */
export async function lookedAt(
  parts: FolderParts,
  last: LookedAtFolder | undefined,
  signal: AbortSignal,
): Promise<LookedAtFolder> {
  const repository = await findRepository(parts.root, { signal });
  if (repository) return last instanceof GitFolder ? last.with(repository) : new GitFolder(parts, repository);
  return last instanceof PlainFolder ? last : new PlainFolder(parts);
}

/** Undefined when there is no such folder (any more). */
export async function realFolder(folder: string | undefined): Promise<string | undefined> {
  return folder === undefined ? undefined : realpath(folder).catch(() => undefined);
}
