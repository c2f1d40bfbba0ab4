/** Does changes to files of a folder: all are thought through first, then each is done whole or not at all. */
import { shownPath } from '../byte-path.js';
import type { ContentStore } from '../content-store.js';
import { type Change, changeOf, isSame } from '../entry.js';
import { NAMED_MAX } from '../limits.js';
import { type Plan, planOf, type Wanted } from './plan.js';
import { NotPutError, putEntry } from './put-entry.js';

export interface Applied {
  /** What became of the files, so that it can be undone. */
  readonly changes: readonly Change[];
  /** The files that are now as they were wanted, also those that were so before. */
  readonly done: ReadonlySet<string>;
  readonly refused: readonly Refusal[];
}

export interface Refusal {
  readonly path: string;
  readonly why: string;
}

export async function apply(root: string, wanted: readonly Wanted[], store: ContentStore): Promise<Applied> {
  const plans: Plan[] = [];
  for (const file of wanted) plans.push(await planOf(root, file, store));
  const changes: Change[] = [];
  const refused: Refusal[] = plans.flatMap((plan) => (plan.kind === 'refused' ? plan : []));
  const done = new Set<string>();
  for (const plan of deletionsFirst(plans)) {
    const { path, current, target } = plan;
    const why = isSame(current, target) ? undefined : await putEntry(root, plan, store).then(() => undefined, reasonOf);
    if (why !== undefined) {
      refused.push({ path, why });
      continue;
    }
    done.add(path);
    if (!isSame(current, target)) changes.push(changeOf(path, current, target));
  }
  return { changes, done, refused };
}

/** `a.txt (somebody has deleted it since), b.txt (…) and 3 more`. */
export function refusedText(refused: readonly Refusal[]): string {
  const named = refused.slice(0, NAMED_MAX).map(({ path, why }) => `${shownPath(path)} (${why})`);
  const more = refused.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A file may stand where a folder has to be, and the other way round. */
function deletionsFirst(plans: readonly Plan[]): Extract<Plan, { kind: 'put' }>[] {
  const puts = plans.flatMap((plan) => (plan.kind === 'put' ? plan : []));
  return [...puts.filter(({ target }) => !target), ...puts.filter(({ target }) => target)];
}

function reasonOf(error: unknown): string {
  if (error instanceof NotPutError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return `it cannot be written: ${code}`;
}
