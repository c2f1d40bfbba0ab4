/** Does changes to files of a folder: all are thought through first, then each is done whole or not at all. */

import { mapSome } from '../../../core/util/map-some.js';
import { type BytePath, shownPath } from '../../git/byte-path.js';
import type { ContentStore } from '../content-store.js';
import { type Change, changeOf, isSame } from '../entry.js';
import { NAMED_MAX, PUTS_AT_ONCE } from '../limits.js';
import { NotPutError } from './not-put-error.js';
import { planOf, type Wanted } from './plan.js';
import { type Put, putEntry } from './put-entry.js';

export interface Plan {
  readonly puts: readonly Put[];
  readonly refused: readonly Refusal[];
}

export interface Applied {
  /** What became of the files, so that it can be undone. */
  readonly changes: readonly Change[];
  /** The files that are now as they were wanted, also those that were so before. */
  readonly done: ReadonlySet<BytePath>;
  readonly refused: readonly Refusal[];
}

export interface Refusal {
  readonly path: BytePath;
  readonly why: string;
}

export async function planAll(root: string, wanted: readonly Wanted[], store: ContentStore): Promise<Plan> {
  const plans = await mapSome(wanted, PUTS_AT_ONCE, (file) => planOf(root, file, store));
  return {
    puts: plans.flatMap((plan) => ('why' in plan ? [] : plan)),
    refused: plans.flatMap((plan) => ('why' in plan ? plan : [])),
  };
}

/** What a plan will change; files that are as they should be already are not among it. */
export function changesIn({ puts }: Plan): Change[] {
  return puts.filter(isAnything).map(({ path, current, target }) => changeOf(path, current, target));
}

export async function carryOut(root: string, plan: Plan, store: ContentStore): Promise<Applied> {
  const refused = [...plan.refused];
  const changes: Change[] = [];
  const done = new Set(plan.puts.filter((put) => !isAnything(put)).map(({ path }) => path));
  const carry = async (put: Put) => {
    const { path, current, target } = put;
    const why = await putEntry(root, put, store).then(() => undefined, reasonOf);
    if (why !== undefined) return void refused.push({ path, why });
    done.add(path);
    changes.push(changeOf(path, current, target));
  };
  const puts = plan.puts.filter(isAnything);
  // A file may stand where a folder has to be, and the other way round.
  for (const some of [puts.filter(({ target }) => !target), puts.filter(({ target }) => target)]) {
    await mapSome(some, PUTS_AT_ONCE, carry);
  }
  return { changes, done, refused };
}

/** `a.txt (somebody has deleted it since), b.txt (…) and 3 more`. */
export function refusedText(refused: readonly Refusal[]): string {
  const named = refused.slice(0, NAMED_MAX).map(({ path, why }) => `${shownPath(path)} (${why})`);
  const more = refused.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function isAnything({ current, target }: Put): boolean {
  return !isSame(current, target);
}

function reasonOf(error: unknown): string {
  if (error instanceof NotPutError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return `it cannot be written: ${code}`;
}
