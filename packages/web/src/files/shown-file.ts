/** The file beside the conversation. */
import { Store } from '../model/store.js';
import { openPanel } from '../ui/panel-state.js';

export interface ShownFile {
  readonly session: string;
  readonly uri: string;
  /** From 0 on. */
  readonly line?: number | undefined;
}

export const shownFile = new Store<ShownFile | undefined>(undefined);

export function showFile(file: ShownFile): void {
  shownFile.set(file);
  openPanel('files');
}
