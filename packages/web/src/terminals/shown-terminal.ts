/** The terminal beside the conversation; without a choice, the first one. */
import { Store } from '../model/store.js';
import { openPanel } from '../ui/panel-state.js';

export const shownTerminal = new Store<string | undefined>(undefined);

/** Choosing a terminal asks for the focus; showing the panel alone does not. */
let isFocusWanted = false;

export function chooseTerminal(uri: string): void {
  isFocusWanted = true;
  shownTerminal.set(uri);
}

export function showTerminal(uri: string): void {
  chooseTerminal(uri);
  openPanel('terminal');
}

/** True once for each choice, and never where it would open a keyboard over half of the screen. */
export function takeFocusWish(): boolean {
  const wasWanted = isFocusWanted;
  isFocusWanted = false;
  return wasWanted && matchMedia('(pointer: fine)').matches;
}
