/** The files that differ from the last commit, as clients see them: staged, not staged and untracked in one list. */
import { readlink } from 'node:fs/promises';
import type { ContentRef, FileEditDiff, FileEditSide } from '@atrium/protocol';
import { looksBinary } from '../../../core/util/text.js';
import { asText, type BytePath, fileUri, onDisk, percentEncoded } from '../../git/byte-path.js';
import type { Repository } from '../../git/repository.js';
import { plainContent } from '../../tools/plain-content.js';
import { statsOf } from '../capture.js';
import { lineCounts } from '../git/numstat.js';
import { isSubmodule, type Status, type StatusEntry, statusOf, type Tracked } from '../git/status.js';
import { COUNTS_KEPT, DIFF_MAX_BYTES, VIEW_MAX_FILES } from '../limits.js';
import { linesIn, textContent } from './files.js';
import type { ShownFile } from './source.js';
import { CONTENT_SCHEME } from './uri.js';

export interface Uncommitted {
  readonly status: Status;
  readonly files: readonly ShownFile[];
  readonly isCut: boolean;
}

type Stats = NonNullable<Awaited<ReturnType<typeof statsOf>>>;

export class UncommittedFiles {
  /** Lines of untracked files, which Git does not count. */
  readonly #lines = new Map<string, number | undefined>();

  constructor(private readonly key: string) {}

  async list(repository: Repository, isOurs: (path: BytePath) => boolean): Promise<Uncommitted> {
    const status = await statusOf(repository, { renames: true });
    const counts = await lineCounts(repository, status.head);
    const entries = status.entries.filter(({ path }) => !isOurs(path));
    const files: ShownFile[] = [];
    for (const entry of entries.slice(0, VIEW_MAX_FILES)) files.push(await this.#shown(repository, entry, counts));
    return { status: { ...status, entries }, files, isCut: entries.length > VIEW_MAX_FILES };
  }

  async #shown(
    { folder }: Repository,
    entry: StatusEntry,
    counts: ReadonlyMap<BytePath, FileEditDiff>,
  ): Promise<ShownFile> {
    const { path, from = path, letters, head, staged } = entry;
    const stats = await statsOf(folder, path);
    // A file that was staged and then deleted is in no commit, and yet something of it would go.
    const old = head ?? (stats ? undefined : staged);
    const before = old && this.#tracked(fileUri(folder, from), from, old);
    const isThere = stats && (stats.isFile() || stats.isSymbolicLink() || isSubmodule(entry));
    const after = isThere ? await this.#onDisk(folder, path, stats) : undefined;
    const diff = letters === '??' && stats ? await this.#untracked(folder, path, stats) : counts.get(path);
    const edit = { ...(before && { before }), ...(after && { after }), ...(diff && { diff }) };
    const meta = { index: letters[0], folder: letters[1], ...(isSubmodule(entry) && { submodule: true }) };
    const id = after?.uri ?? before?.uri ?? fileUri(folder, path);
    return { file: { id, edit, _meta: { git: meta } }, paths: [...new Set([from, path])] };
  }

  #tracked(uri: string, path: BytePath, { oid, mode }: Tracked): FileEditSide {
    if (mode === '160000') return { uri, content: textContent(`Subproject commit ${oid}\n`) };
    return { uri, content: { uri: `${CONTENT_SCHEME}/${this.key}/git/${oid}/${percentEncoded(path)}` } };
  }

  async #onDisk(folder: string, path: BytePath, stats: Stats): Promise<FileEditSide> {
    const uri = fileUri(folder, path);
    if (stats.isDirectory()) return { uri, content: textContent('(a repository of its own)\n') };
    if (stats.isSymbolicLink()) {
      const target = await readlink(onDisk(folder, path), { encoding: 'buffer' }).catch(() => Buffer.alloc(0));
      return { uri, content: textContent(target) };
    }
    // A name that is no text is no path for others.
    const own = `${CONTENT_SCHEME}/${this.key}/folder/${percentEncoded(path)}`;
    const content: ContentRef = { uri: asText(path) === undefined ? own : uri, sizeHint: Number(stats.size) };
    return { uri, content };
  }

  async #untracked(folder: string, path: BytePath, stats: Stats): Promise<FileEditDiff | undefined> {
    if (!stats.isFile() || stats.size > DIFF_MAX_BYTES) return undefined;
    const stamp = `${path}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
    if (!this.#lines.has(stamp)) {
      if (this.#lines.size >= COUNTS_KEPT) this.#lines.clear();
      const bytes = await plainContent(onDisk(folder, path), DIFF_MAX_BYTES).catch(() => undefined);
      this.#lines.set(stamp, bytes && !looksBinary(bytes) ? linesIn(bytes.toString('latin1')) : undefined);
    }
    const added = this.#lines.get(stamp);
    return added === undefined ? undefined : { added, removed: 0 };
  }
}
