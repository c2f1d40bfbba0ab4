/** The panel at the side: whether it is open, which tab it shows, and how wide it is. */
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

/** Closes the panel where it covers the conversation, so that a question there is visible. */
export function uncover(): void {
  if (!matchMedia(WIDE).matches) isPanelOpen.set(false);
}

const WIDTH_KEY = 'atrium.panel-width';
const WIDTH_PROPERTY = '--panel-width';
/** The width of a wide tab. Undefined: the styles decide; they also keep it in bounds. */
export const WIDTH_MIN_PX = 320;
/** The least width for the conversation beside it. */
const LEFT_MIN_PX = 320;

export const panelWidth = new Store<number | undefined>(undefined);

export function widthMax(): number {
  return Math.max(WIDTH_MIN_PX, innerWidth - LEFT_MIN_PX);
}

/** Undefined: the initial width. */
export function setPanelWidth(wanted: number | undefined): void {
  const width = wanted === undefined ? undefined : Math.round(Math.min(widthMax(), Math.max(WIDTH_MIN_PX, wanted)));
  panelWidth.set(width);
  if (width === undefined) document.documentElement.style.removeProperty(WIDTH_PROPERTY);
  else document.documentElement.style.setProperty(WIDTH_PROPERTY, `${width}px`);
}

export function keepPanelWidth(): void {
  const width = panelWidth.get();
  if (width === undefined) localStorage.removeItem(WIDTH_KEY);
  else localStorage.setItem(WIDTH_KEY, String(width));
}

export function restorePanelWidth(): void {
  const width = Number(localStorage.getItem(WIDTH_KEY));
  if (width >= WIDTH_MIN_PX) setPanelWidth(width);
}
