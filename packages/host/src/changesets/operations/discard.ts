/** Makes files as the last commit has them. What is thrown away is kept, so that it can be put back. */
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../../wire/request-error.js';
import type { BytePath } from '../byte-path.js';
import { capture } from '../capture.js';
import { type Change, changeOf, type Entry, isSame } from '../entry.js';
import { type Repository, trackedContent } from '../git/repository.js';
import { isSubmodule, type StatusEntry, statusOf } from '../git/status.js';
import { apply } from '../revert/apply.js';
import { refuseFiltered, unstage } from './index-operations.js';
import { nothingDone, outcome, type UndoParts } from './undo.js';

export interface Discard extends UndoParts {
  readonly repository: Repository;
  isOurs(path: BytePath): boolean;
}

const KINDS: Readonly<Record<string, Entry['kind']>> = { '100644': 'file', '100755': 'exec', '120000': 'link' };

export async function discard(parts: Discard, paths: readonly BytePath[] | undefined): Promise<string> {
  const { repository, root, store, journal, view } = parts;
  const { entries } = await statusOf(repository, { renames: false });
  const named = paths && new Set(paths);
  const chosen = entries.filter((entry) => (named ? named.has(entry.path) : !parts.isOurs(entry.path)));
  const own = chosen.filter((entry) => !isSubmodule(entry));
  if (own.length === 0)
    throw new RequestError(ErrorCode.Conflict, 'nothing was changed: repositories inside are left alone');
  await refuseFiltered(
    repository,
    own.flatMap(({ path, head }) => (head ? [path] : [])),
  );
  const changes: Change[] = [];
  for (const entry of own) changes.push(await wayBack(parts, entry));
  const wanted = changes.map((change) => ({ path: change.path, changes: [change] }));
  const applied = await apply(root, wanted, store);
  if (applied.done.size === 0) throw nothingDone(applied);
  await journal.add({ kind: 'undone', id: crypto.randomUUID(), view, turns: [], applied: applied.changes });
  await unstage(repository, [...applied.done]);
  return outcome('Threw away the changes of', applied);
}

/** From what is there now to what the last commit has. */
async function wayBack({ root, store, repository }: Discard, { path, head }: StatusEntry): Promise<Change> {
  const current = await capture(root, path, store);
  const kind = head && KINDS[head.mode];
  if (!head || !kind) return changeOf(path, current, undefined);
  const bytes = await trackedContent(repository, path, head.oid);
  const target = { kind, hash: await store.put(bytes), bytes: bytes.length };
  return isSame(current, target) ? changeOf(path, target, target) : changeOf(path, current, target);
}
