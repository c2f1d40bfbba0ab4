/** Whether the panel at the side is shown: on wide screens at first, on narrow ones only when asked for. */
import { Store } from '../model/store.js';

const WIDE = '(min-width: 1180px)';

export const isPanelOpen = new Store(matchMedia(WIDE).matches);

export function togglePanel(): void {
  isPanelOpen.set(!isPanelOpen.get());
}
