/** Makes files as the last commit has them. What is thrown away is kept, so that it can be put back. */
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../../../core/contracts/request-error.js';
import type { BytePath } from '../../git/byte-path.js';
import { trackedContents } from '../../git/contents.js';
import type { Repository } from '../../git/repository.js';
import { capture } from '../capture.js';
import { type Change, changeOf, type Entry, isSame } from '../entry.js';
import { isSubmodule, type StatusEntry, statusOf } from '../git/status.js';
import { CONTENT_MAX_BYTES } from '../limits.js';
import { KINDS } from '../snapshots/tracked-entries.js';
import { refuseFiltered, unstage } from './index-operations.js';
import { keepStaged, stageAgain } from './staged.js';
import { nothingDone, outcome, putBack, type UndoParts } from './undo.js';
import { writeFiles } from './write-files.js';

export interface Discard extends UndoParts {
  readonly repository: Repository;
  isOurs(path: BytePath): boolean;
}

export async function discard(parts: Discard, paths: readonly BytePath[] | undefined): Promise<string> {
  const { repository, store, view } = parts;
  const own = await chosen(parts, paths);
  const staged = await keepStaged(repository, own, store);
  const wanted = (await waysBack(parts, own)).map((change) => ({ path: change.path, changes: [change] }));
  const applied = await writeFiles(parts, wanted, (done) => {
    const kept = staged.filter(({ path }) => done.has(path));
    return { view, turns: [], ...(kept.length > 0 && { staged: kept }) };
  });
  if (applied.done.size === 0) throw nothingDone(applied);
  await unstage(repository, [...applied.done]);
  return outcome('Threw away the changes of', applied);
}

/** Puts back what was thrown away last, in the folder and in what is staged. */
export async function restore(parts: Discard): Promise<string> {
  const { message, refused, undone } = await putBack(parts);
  const left = new Set(refused.map(({ path }) => path));
  const staged = undone.staged?.filter(({ path }) => !left.has(path)) ?? [];
  if (staged.length > 0) await stageAgain(parts.repository, staged, parts.store);
  return message;
}

async function chosen({ repository, isOurs }: Discard, paths: readonly BytePath[] | undefined): Promise<StatusEntry[]> {
  const { entries } = await statusOf(repository, { renames: false });
  const named = paths && new Set(paths);
  const all = entries.filter((entry) => (named ? named.has(entry.path) : !isOurs(entry.path)));
  const own = all.filter((entry) => !isSubmodule(entry));
  if (own.length === 0)
    throw new RequestError(ErrorCode.Conflict, 'nothing was changed: repositories inside are left alone');
  const tracked = own.flatMap(({ path, head }) => (head ? [path] : []));
  await refuseFiltered(repository, tracked);
  return own;
}

/** From what is there now to what the last commit has. */
async function waysBack({ root, store, repository }: Discard, entries: readonly StatusEntry[]): Promise<Change[]> {
  const heads = entries.flatMap(({ path, head }) => {
    const kind = head && KINDS.get(head.mode);
    return kind ? { path, kind, oid: head.oid } : [];
  });
  const targets = new Map<BytePath, Entry>();
  const request = { maxBytes: CONTENT_MAX_BYTES, as: 'on-disk' } as const;
  for await (const [{ path, kind, oid }, bytes] of trackedContents(repository, heads, request)) {
    const lost = { kind, hash: `git-${oid}`, bytes: 0, isLost: true } as const;
    targets.set(path, bytes ? { kind, hash: await store.put(bytes), bytes: bytes.length } : lost);
  }
  const changes: Change[] = [];
  for (const { path } of entries) {
    const [current, target] = [await capture(root, path, store), targets.get(path)];
    changes.push(changeOf(path, isSame(current, target) ? target : current, target));
  }
  return changes;
}
