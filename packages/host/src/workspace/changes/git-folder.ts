/**
 * Snapshots of a folder in a repository. A snapshot is the last commit and the content of every file that differs from
 * it, so taking one costs as much as `git status`. The host writes nothing to the repository, and skips what Git
 * ignores.
 */
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { type BytePath, foldersOf } from '../git/byte-path.js';
import { gitList } from '../git/git.js';
import { filteredPaths, type Repository } from '../git/repository.js';
import { emptyTree, isSubmodule, statusOf, type Tracked } from '../git/repository-status.js';
import { trackedContents } from '../git/stored-files.js';
import { Captures, captureAll } from './capture.js';
import { changeOf, type Entry, isSame } from './change.js';
import type { Found, Snapshot, SnapshotFolder, SnapshotFolderOptions } from './folder-snapshots.js';
import { CONTENT_MAX_BYTES, FOLDER_MAX_BYTES, FOLDER_MAX_FILES, STEP_MAX_FILES } from './limits.js';

/** The modes by which Git names the kinds of files that count here. */
export const KINDS: ReadonlyMap<string, Entry['kind']> = new Map([
  ['100644', 'file'],
  ['100755', 'exec'],
  ['120000', 'link'],
]);

const TOO_MUCH = `more than ${FOLDER_MAX_FILES} files, or ${FOLDER_MAX_BYTES / 2 ** 20} MiB, differ from the last commit`;

export class GitFolder implements SnapshotFolder {
  readonly kind = 'git';
  readonly #captures: Captures;

  constructor(
    private readonly options: SnapshotFolderOptions,
    private readonly repository: Repository,
    captures?: Captures,
  ) {
    this.#captures = captures ?? new Captures(options.root, options.blobs);
  }

  /** The same folder, after its repository was looked up again. */
  with(repository: Repository): GitFolder {
    return new GitFolder(this.options, repository, this.#captures);
  }

  async take(signal: AbortSignal): Promise<Snapshot> {
    const { head, entries } = await statusOf(this.repository, { renames: false, signal });
    const differing = entries.filter((entry) => !isSubmodule(entry) && !this.options.isOurs(entry.path));
    const paths = differing.slice(0, FOLDER_MAX_FILES).map(({ path }) => path);
    const { files, isCut } = await captureAll(this.#captures, paths, signal);
    for (const { path, head: tracked } of differing.slice(0, FOLDER_MAX_FILES)) {
      files.set(path, { ...files.get(path), ...(tracked && { head: tracked }) });
    }
    const isTooMuch = isCut || differing.length > FOLDER_MAX_FILES;
    return { ...(head !== undefined && { head }), files, ...(isTooMuch && { gap: TOO_MUCH }) };
  }

  changes(before: Snapshot, after: Snapshot, signal: AbortSignal): Promise<Found> {
    return gitChanges({ before, after }, { repository: this.repository, blobs: this.options.blobs, signal });
  }
}

type Side = 'before' | 'after';
const SIDES = ['before', 'after'] as const;

/** The state of a path: known, or still to be read from a commit; neither if nothing is there. */
interface State {
  readonly entry?: Entry | undefined;
  readonly tracked?: Tracked | undefined;
}

/** The paths that differ between two commits, and their states there. */
type Moved = ReadonlyMap<BytePath, { readonly [S in Side]?: Tracked }>;
type Snapshots = { readonly [S in Side]: Snapshot };
type Difference = { readonly path: BytePath } & { readonly [S in Side]: State };

const TOO_MANY = `more than ${STEP_MAX_FILES} files changed at once`;

/**
 * The snapshots have the files that differ from a commit. All other files are as in the commit of that moment, and are
 * read only where the two moments differ.
 */
async function gitChanges(snapshots: Snapshots, options: TrackedOptions): Promise<Found> {
  const all = await differences(snapshots, options);
  const some = all.slice(0, STEP_MAX_FILES);
  const read = await trackedEntries(
    some.flatMap((one) => SIDES.flatMap((side) => ({ path: one.path, side, ...one[side].tracked }))),
    options,
  );
  const changes = some
    .map((one) => {
      const [before, after] = SIDES.map((side) => one[side].entry ?? read[side].get(one.path));
      return changeOf(one.path, before, after);
    })
    .filter(({ before, after }) => !isSame(before, after));
  const gap = snapshots.before.gap ?? snapshots.after.gap ?? (all.length > some.length ? TOO_MANY : undefined);
  return { changes, ...(gap !== undefined && { gap }) };
}

/** The paths whose states may differ, in order. */
async function differences(snapshots: Snapshots, options: TrackedOptions): Promise<Difference[]> {
  const { before, after } = snapshots;
  const moved = await movedBetween(before.head, after.head, options);
  const paths = [...new Set([...before.files.keys(), ...after.files.keys(), ...moved.keys()])].sort();
  return paths
    .map((path) => ({
      path,
      before: stateOf(path, { here: before, there: after, moved: moved.get(path), side: 'before' }),
      after: stateOf(path, { here: after, there: before, moved: moved.get(path), side: 'after' }),
    }))
    .filter((one) => !isSameState(one.before, one.after));
}

interface StateRequest {
  readonly here: Snapshot;
  readonly there: Snapshot;
  readonly moved: { readonly [S in Side]?: Tracked } | undefined;
  readonly side: Side;
}

function stateOf(path: BytePath, { here, there, moved, side }: StateRequest): State {
  const seen = here.files.get(path);
  if (seen) return { entry: seen.now };
  // When a folder becomes a file, or a file a folder, the paths below are gone.
  if (foldersOf(path).some((folder) => here.files.get(folder)?.now)) return {};
  return { tracked: moved ? moved[side] : there.files.get(path)?.head };
}

function isSameState(one: State, other: State): boolean {
  if (one.tracked || other.tracked) {
    return one.tracked?.oid === other.tracked?.oid && one.tracked?.mode === other.tracked?.mode;
  }
  return isSame(one.entry, other.entry);
}

/** The changes by commits, checkouts and the like in between. */
async function movedBetween(
  before: string | undefined,
  after: string | undefined,
  { repository: { folder, prefix }, signal }: TrackedOptions,
): Promise<Moved> {
  if (before === after) return new Map();
  const ends = [before ?? (await emptyTree(folder)), after ?? (await emptyTree(folder))];
  const fields = await gitList(folder, ['diff-tree', '-r', '-z', '--no-renames', ...ends, '--', '.'], { signal });
  return parseRaw(fields, prefix);
}

/** Parses `:mode mode oid oid letter`, then the path. */
function parseRaw(fields: readonly string[], prefix: BytePath): Moved {
  const moved = new Map<BytePath, { before?: Tracked; after?: Tracked }>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = (fields[index] ?? '').slice(1).split(' ');
    const path = fields[index + 1] ?? '';
    if (!path.startsWith(prefix)) continue;
    moved.set(path.slice(prefix.length), {
      before: { mode: oldMode, oid: oldOid },
      after: { mode: newMode, oid: newOid },
    });
  }
  return moved;
}

/** A file of one of two moments. Without a mode, nothing was there. */
interface TreeEntry {
  readonly path: BytePath;
  readonly side: Side;
  readonly mode?: string;
  readonly oid?: string;
}

interface TrackedOptions {
  readonly repository: Repository;
  readonly blobs: BlobStore;
  readonly signal: AbortSignal;
}

type Entries = { readonly [S in Side]: Map<BytePath, Entry> };

/** Reads a whole list of files at once, as commits have them. */
async function trackedEntries(wanted: readonly TreeEntry[], options: TrackedOptions): Promise<Entries> {
  const { repository, blobs, signal } = options;
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
      entries[side].set(path, { kind, hash: await blobs.put(bytes), bytes: bytes.length });
    }
  }
  return entries;
}
