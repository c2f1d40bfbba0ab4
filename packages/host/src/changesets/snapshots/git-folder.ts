/**
 * A folder in a repository. A snapshot is the last commit and the content of every file that differs from it, so taking
 * one costs as much as `git status`. Nothing is written to the repository. What Git ignores is not looked at.
 */
import { type BytePath, foldersOf } from '../byte-path.js';
import { Captures } from '../capture.js';
import { type Change, changeOf, type Entry, isSame } from '../entry.js';
import { gitList } from '../git/git.js';
import { emptyTree } from '../git/numstat.js';
import { filteredPaths, type Repository, trackedContent } from '../git/repository.js';
import { isSubmodule, statusOf, type Tracked } from '../git/status.js';
import { CONTENT_MAX_BYTES, FOLDER_MAX_BYTES, FOLDER_MAX_FILES, GIT_AT_ONCE } from '../limits.js';
import { captureAll } from './capture-all.js';
import type { FolderParts, LookedAtFolder, Snapshot } from './snapshot.js';
import { mapSome } from './some-at-once.js';

/** What a path is in two commits. */
type Moved = ReadonlyMap<BytePath, { readonly before?: Tracked; readonly after?: Tracked }>;

export class GitFolder implements LookedAtFolder {
  readonly kind = 'git';
  readonly #captures: Captures;

  constructor(
    private readonly parts: FolderParts,
    private readonly repository: Repository,
    captures?: Captures,
  ) {
    this.#captures = captures ?? new Captures(parts.root, parts.store);
  }

  /** The same folder, after its repository was looked up anew. */
  with(repository: Repository): GitFolder {
    return new GitFolder(this.parts, repository, this.#captures);
  }

  async look(signal: AbortSignal): Promise<Snapshot> {
    const { head, entries } = await statusOf(this.repository, { renames: false, signal });
    const differing = entries.filter((entry) => !isSubmodule(entry) && !this.parts.isOurs(entry.path));
    const paths = differing.slice(0, FOLDER_MAX_FILES).map(({ path }) => path);
    const { files, isCut } = await captureAll(this.#captures, paths, signal);
    for (const { path, head: tracked } of differing.slice(0, FOLDER_MAX_FILES)) {
      files.set(path, { ...files.get(path), ...(tracked && { head: tracked }) });
    }
    const isTooMuch = isCut || differing.length > FOLDER_MAX_FILES;
    return { ...(head !== undefined && { head }), files, ...(isTooMuch && { gap: TOO_MUCH }) };
  }

  async changes(before: Snapshot, after: Snapshot): Promise<Change[]> {
    const moved = await this.#moved(before.head, after.head);
    const paths = [...new Set([...before.files.keys(), ...after.files.keys(), ...moved.keys()])];
    const doubtful = paths.filter((path) => !before.files.has(path) || !after.files.has(path));
    const filtered = await filteredPaths(this.repository, doubtful);
    const look = { moved, filtered };
    const changes = await mapSome(paths, GIT_AT_ONCE, async (path) => {
      const old = await this.#entry(path, { ...look, here: before, there: after, side: 'before' });
      const fresh = await this.#entry(path, { ...look, here: after, there: before, side: 'after' });
      return isSame(old, fresh) ? [] : [changeOf(path, old, fresh)];
    });
    return changes.flat().sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** What differs is in the snapshot; the rest is as the commit of that moment has it. */
  async #entry(path: BytePath, { moved, filtered, here, there, side }: Looking): Promise<Entry | undefined> {
    const seen = here.files.get(path);
    if (seen) return seen.now;
    const tracked = moved.has(path) ? moved.get(path)?.[side] : there.files.get(path)?.head;
    // A folder that became a file, or the other way round, takes its old name with it.
    if (!tracked || foldersOf(path).some((folder) => here.files.get(folder)?.now)) return undefined;
    return this.#trackedEntry(path, tracked, filtered.has(path));
  }

  async #trackedEntry(path: BytePath, { mode, oid }: Tracked, isFiltered: boolean): Promise<Entry | undefined> {
    const kind = KINDS.get(mode);
    if (!kind) return undefined;
    if (isFiltered) return { kind, hash: `git-${oid}`, bytes: 0, isLost: true };
    const bytes = await trackedContent(this.repository, path, oid);
    if (bytes.length > CONTENT_MAX_BYTES) return { kind, hash: `git-${oid}`, bytes: bytes.length, isLost: true };
    return { kind, hash: await this.parts.store.put(bytes), bytes: bytes.length };
  }

  /** What commits, checkouts and the like did in between. */
  async #moved(before: string | undefined, after: string | undefined): Promise<Moved> {
    if (before === after) return new Map();
    const { folder, prefix } = this.repository;
    const ends = [before ?? (await emptyTree(folder)), after ?? (await emptyTree(folder))];
    const fields = await gitList(folder, ['diff-tree', '-r', '-z', '--no-renames', ...ends, '--', '.']);
    return parseRaw(fields, prefix);
  }
}

interface Looking {
  readonly moved: Moved;
  readonly filtered: ReadonlySet<BytePath>;
  readonly here: Snapshot;
  readonly there: Snapshot;
  readonly side: 'before' | 'after';
}

const TOO_MUCH = `more than ${FOLDER_MAX_FILES} files, or ${FOLDER_MAX_BYTES / 2 ** 20} MiB, differ from the last commit`;

const KINDS = new Map<string, Entry['kind']>([
  ['100644', 'file'],
  ['100755', 'exec'],
  ['120000', 'link'],
]);

/** `:mode mode oid oid letter`, then the path. */
function parseRaw(fields: readonly string[], prefix: BytePath): Moved {
  const moved = new Map<BytePath, { before?: Tracked; after?: Tracked }>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = (fields[index] ?? '').slice(1).split(' ');
    const path = fields[index + 1] ?? '';
    if (!path.startsWith(prefix)) continue;
    moved.set(path.slice(prefix.length), {
      ...(KINDS.has(oldMode) && { before: { mode: oldMode, oid: oldOid } }),
      ...(KINDS.has(newMode) && { after: { mode: newMode, oid: newOid } }),
    });
  }
  return moved;
}
