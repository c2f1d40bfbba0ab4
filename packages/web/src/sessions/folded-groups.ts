/** The folded groups of the list, stored in this browser. */
import { Store } from '../model/store.js';

const KEY = 'atrium.folded-groups';
/** How many groups the browser remembers; it forgets the oldest. */
const KEPT_MAX = 200;

export const foldedGroups = new Store<readonly string[]>(kept());

function kept(): readonly string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

export function toggleGroup(key: string): void {
  const folded = foldedGroups.get();
  const next = folded.includes(key) ? folded.filter((each) => each !== key) : [...folded, key].slice(-KEPT_MAX);
  localStorage.setItem(KEY, JSON.stringify(next));
  foldedGroups.set(next);
}
