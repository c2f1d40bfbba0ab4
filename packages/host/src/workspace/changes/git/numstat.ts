/** How many lines differ from the last commit, file by file, as `git diff --numstat` counts them. */
import type { FileEditDiff } from '@atrium/protocol';
import type { BytePath } from '../../git/byte-path.js';
import { gitList } from '../../git/git.js';
import type { Repository } from '../../git/repository.js';

export async function lineCounts(
  { folder, prefix, noPrograms }: Repository,
  head: string | undefined,
): Promise<ReadonlyMap<BytePath, FileEditDiff>> {
  const base = head ?? (await emptyTree(folder));
  const how = ['--numstat', '-z', '--find-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'];
  const args = [...noPrograms, '-c', 'diff.relative=false', 'diff', ...how, base, '--', '.'];
  return parseCounts(await gitList(folder, args), prefix);
}

/** Git knows it without storing it. Its name depends on how the repository makes names. */
export async function emptyTree(folder: string): Promise<string> {
  return (await gitList(folder, ['hash-object', '-t', 'tree', '--stdin'])).join('').trim();
}

/** `added TAB removed TAB path`; a renamed file has no path there, but two behind it. What is no text has dashes. */
function parseCounts(fields: readonly string[], prefix: BytePath): ReadonlyMap<BytePath, FileEditDiff> {
  const counts = new Map<BytePath, FileEditDiff>();
  const rest = fields[Symbol.iterator]();
  for (const field of rest) {
    const [added = '-', removed = '-', ...name] = field.split('\t');
    const path = name.join('\t') || secondOf(rest);
    if (added === '-' || !path.startsWith(prefix)) continue;
    counts.set(path.slice(prefix.length), { added: Number(added), removed: Number(removed) });
  }
  return counts;
}

/** A renamed file: its old name, then the new one. */
function secondOf(rest: Iterator<string>): string {
  rest.next();
  return rest.next().value ?? '';
}
