/**
 * What lies between two snapshots of a folder in a repository. What differs from a commit is in the snapshots; everything
 * else is as the commit of that moment has it, and is read only where the two moments do not agree.
 */
import { type BytePath, foldersOf } from '../../git/byte-path.js';
import { gitList } from '../../git/git.js';
import { changeOf, type Entry, isSame } from '../entry.js';
import { emptyTree } from '../git/numstat.js';
import type { Tracked } from '../git/status.js';
import { STEP_MAX_FILES } from '../limits.js';
import type { Found, Snapshot } from './snapshot.js';
import { SIDES, type Side, type TrackedParts, trackedEntries } from './tracked-entries.js';

/** What is at a path: known, or yet to be read from a commit; neither when nothing is there. */
interface State {
  readonly entry?: Entry | undefined;
  readonly tracked?: Tracked | undefined;
}

/** What a path is in two commits. */
type Moved = ReadonlyMap<BytePath, { readonly [S in Side]?: Tracked }>;
type Snapshots = { readonly [S in Side]: Snapshot };
type Difference = { readonly path: BytePath } & { readonly [S in Side]: State };

const TOO_MANY = `more than ${STEP_MAX_FILES} files changed at once`;

export async function gitChanges(snapshots: Snapshots, parts: TrackedParts): Promise<Found> {
  const all = await differences(snapshots, parts);
  const some = all.slice(0, STEP_MAX_FILES);
  const read = await trackedEntries(
    some.flatMap((one) => SIDES.flatMap((side) => ({ path: one.path, side, ...one[side].tracked }))),
    parts,
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

/** The paths whose states are not known to be the same, in order. */
async function differences(snapshots: Snapshots, parts: TrackedParts): Promise<Difference[]> {
  const { before, after } = snapshots;
  const moved = await movedBetween(before.head, after.head, parts);
  const paths = [...new Set([...before.files.keys(), ...after.files.keys(), ...moved.keys()])].sort();
  return paths
    .map((path) => ({
      path,
      before: stateOf(path, { here: before, there: after, moved: moved.get(path), side: 'before' }),
      after: stateOf(path, { here: after, there: before, moved: moved.get(path), side: 'after' }),
    }))
    .filter((one) => !isSameState(one.before, one.after));
}

interface Looking {
  readonly here: Snapshot;
  readonly there: Snapshot;
  readonly moved: { readonly [S in Side]?: Tracked } | undefined;
  readonly side: Side;
}

function stateOf(path: BytePath, { here, there, moved, side }: Looking): State {
  const seen = here.files.get(path);
  if (seen) return { entry: seen.now };
  // A folder that became a file, or the other way round, takes its old name with it.
  if (foldersOf(path).some((folder) => here.files.get(folder)?.now)) return {};
  return { tracked: moved ? moved[side] : there.files.get(path)?.head };
}

function isSameState(one: State, other: State): boolean {
  if (one.tracked || other.tracked) {
    return one.tracked?.oid === other.tracked?.oid && one.tracked?.mode === other.tracked?.mode;
  }
  return isSame(one.entry, other.entry);
}

/** What commits, checkouts and the like did in between. */
async function movedBetween(
  before: string | undefined,
  after: string | undefined,
  { repository: { folder, prefix }, signal }: TrackedParts,
): Promise<Moved> {
  if (before === after) return new Map();
  const ends = [before ?? (await emptyTree(folder)), after ?? (await emptyTree(folder))];
  const fields = await gitList(folder, ['diff-tree', '-r', '-z', '--no-renames', ...ends, '--', '.'], { signal });
  return parseRaw(fields, prefix);
}

/** `:mode mode oid oid letter`, then the path. */
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
