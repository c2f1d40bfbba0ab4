/** Reads files as commits have them, a whole list at once, into a store. */
import type { BytePath } from '../../git/byte-path.js';
import { trackedContents } from '../../git/contents.js';
import { filteredPaths, type Repository } from '../../git/repository.js';
import type { ContentStore } from '../content-store.js';
import type { Entry } from '../entry.js';
import { CONTENT_MAX_BYTES } from '../limits.js';

export type Side = 'before' | 'after';
export const SIDES = ['before', 'after'] as const;

/** What Git calls the kinds of files that count here. */
export const KINDS: ReadonlyMap<string, Entry['kind']> = new Map([
  ['100644', 'file'],
  ['100755', 'exec'],
  ['120000', 'link'],
]);

/** A file of one of two moments. Without a mode nothing was there. */
export interface WantedEntry {
  readonly path: BytePath;
  readonly side: Side;
  readonly mode?: string;
  readonly oid?: string;
}

export interface TrackedParts {
  readonly repository: Repository;
  readonly store: ContentStore;
  readonly signal: AbortSignal;
}

type Entries = { readonly [S in Side]: Map<BytePath, Entry> };

export async function trackedEntries(wanted: readonly WantedEntry[], parts: TrackedParts): Promise<Entries> {
  const { repository, store, signal } = parts;
  const files = wanted.flatMap(({ mode = '', oid = '', ...rest }) => {
    const kind = KINDS.get(mode);
    return kind ? { ...rest, oid, kind } : [];
  });
  const filtered = await filteredPaths(repository, [...new Set(files.map(({ path }) => path))]);
  const entries: Entries = { before: new Map(), after: new Map() };
  const lose = ({ path, side, kind, oid }: (typeof files)[number], bytes: number) =>
    entries[side].set(path, { kind, hash: `git-${oid}`, bytes, isLost: true });
  for (const file of files) if (filtered.has(file.path)) lose(file, 0);
  const open = files.filter(({ path }) => !filtered.has(path));
  const request = { maxBytes: CONTENT_MAX_BYTES, as: 'on-disk', signal } as const;
  for await (const [file, bytes] of trackedContents(repository, open, request)) {
    if (!bytes || bytes.length > CONTENT_MAX_BYTES) lose(file, CONTENT_MAX_BYTES + 1);
    else {
      const { path, side, kind } = file;
      entries[side].set(path, { kind, hash: await store.put(bytes), bytes: bytes.length });
    }
  }
  return entries;
}
