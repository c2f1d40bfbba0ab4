/** Which groups of the list are folded, in this browser. They stay so. */
import { Store } from '../model/store.js';

const KEY = 'atrium.folded-groups';
/** Groups come and go; the oldest are forgotten. */
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
