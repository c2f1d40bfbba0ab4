/** The panel at the side: shown at first on wide screens, on narrow ones only when asked for; and which part of it. */
import { Store } from '../model/store.js';

const WIDE = '(min-width: 1180px)';

export const isPanelOpen = new Store(matchMedia(WIDE).matches);

export function togglePanel(): void {
  isPanelOpen.set(!isPanelOpen.get());
}

export const panelTab = new Store('details');

export function openPanel(tab: string): void {
  panelTab.set(tab);
  isPanelOpen.set(true);
}

/** Something in the conversation needs a person: where the panel lies over it, it makes room. */
export function uncover(): void {
  if (!matchMedia(WIDE).matches) isPanelOpen.set(false);
}
