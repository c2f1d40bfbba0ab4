/** The overlay of the page, such as the palette or the list of keys: at most one at a time. */
import { Store } from '../model/store.js';

export type Overlay =
  | 'settings'
  | 'devices'
  | 'palette'
  | 'help'
  | 'deleted'
  | 'import'
  | 'usage'
  | 'hosts'
  | 'search'
  | 'board'
  | 'share'
  | undefined;

export const overlay = new Store<Overlay>(undefined);

/** The words that the search begins with. */
export const searchWords = new Store('');

export function show(next: Overlay): void {
  overlay.set(next);
}

/** The part that the settings are opened at; undefined: their beginning. */
export const settingsPart = new Store<string | undefined>(undefined);

export function showSettings(part: string): void {
  settingsPart.set(part);
  overlay.set('settings');
}

/** The folder whose project the board shows. */
export const boardFolder = new Store('');

export function showBoard(folder: string): void {
  boardFolder.set(folder);
  overlay.set('board');
}

export function searchFor(words: string): void {
  searchWords.set(words);
  overlay.set('search');
}
