/** Which set of changes is shown beside the conversation; without a choice, the first of the session. */
import { Store } from '../model/store.js';
import { openPanel } from '../ui/panel-switch.js';

export interface ShownChanges {
  readonly session: string;
  readonly uri: string;
}

export const shownChanges = new Store<ShownChanges | undefined>(undefined);

export function showChanges(changes: ShownChanges): void {
  shownChanges.set(changes);
  openPanel('changes');
}
