/**
 * What is staged of files whose changes are thrown away. It can differ from what is in the folder, and Git would forget it
 * sooner or later, so it is kept as well, and staged again when the changes are put back.
 */
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../../../core/contracts/request-error.js';
import { shownPath } from '../../git/byte-path.js';
import { trackedContents } from '../../git/contents.js';
import { git, gitText } from '../../git/git.js';
import { GIT_WRITE_MAX_MS } from '../../git/limits.js';
import type { Repository } from '../../git/repository.js';
import type { ContentStore } from '../content-store.js';
import { isStaged, type StatusEntry, statusOf } from '../git/status.js';
import { CONTENT_MAX_BYTES } from '../limits.js';
import type { StagedFile } from '../record/journal-line.js';

export async function keepStaged(
  repository: Repository,
  entries: readonly StatusEntry[],
  store: ContentStore,
): Promise<StagedFile[]> {
  const files = entries.flatMap(({ path, staged, ...entry }) =>
    staged && isStaged(entry) ? { path, mode: staged.mode, oid: staged.oid } : [],
  );
  const kept: StagedFile[] = [];
  const request = { maxBytes: CONTENT_MAX_BYTES, as: 'stored' } as const;
  for await (const [{ path, mode }, bytes] of trackedContents(repository, files, request)) {
    if (!bytes) {
      const why = `what is staged of ${shownPath(path)} is too large to be kept: unstage it first`;
      throw new RequestError(ErrorCode.Conflict, why);
    }
    kept.push({ path, mode, hash: await store.put(bytes) });
  }
  return kept;
}

/** Files of which something else is staged by now are left alone. */
export async function stageAgain(
  repository: Repository,
  staged: readonly StagedFile[],
  store: ContentStore,
): Promise<void> {
  const { folder, prefix, noPrograms } = repository;
  const { entries } = await statusOf(repository, { renames: false });
  const taken = new Set(entries.filter(isStaged).map(({ path }) => path));
  const free = staged.filter(({ path }) => !taken.has(path));
  if (free.length === 0) return;
  const contents = free.map(({ hash }) => `${store.fileOf(hash)}\n`).join('');
  const names = await gitText(folder, [...noPrograms, 'hash-object', '-w', '--no-filters', '--stdin-paths'], {
    input: contents,
    timeoutMs: GIT_WRITE_MAX_MS,
  });
  const oids = names.split('\n');
  const lines = free.map(({ path, mode }, index) => `${mode} ${oids[index]} 0\t${prefix}${path}\0`);
  await git(folder, [...noPrograms, 'update-index', '-z', '--index-info'], {
    input: Buffer.from(lines.join(''), 'latin1'),
    timeoutMs: GIT_WRITE_MAX_MS,
  });
}
