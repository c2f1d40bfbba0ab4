/** How wide the panel is where its content needs room. Without a wish, the styles decide; they also keep it in bounds. */
import { Store } from '../model/store.js';

const KEY = 'atrium.panel-width';
const PROPERTY = '--panel-width';
export const WIDTH_MIN_PX = 320;
/** For the conversation beside it. */
const LEFT_MIN_PX = 320;

export const panelWidth = new Store<number | undefined>(undefined);

export function widthMax(): number {
  return Math.max(WIDTH_MIN_PX, innerWidth - LEFT_MIN_PX);
}

/** Undefined: as at first. */
export function setPanelWidth(wanted: number | undefined): void {
  const width = wanted === undefined ? undefined : Math.round(Math.min(widthMax(), Math.max(WIDTH_MIN_PX, wanted)));
  panelWidth.set(width);
  if (width === undefined) document.documentElement.style.removeProperty(PROPERTY);
  else document.documentElement.style.setProperty(PROPERTY, `${width}px`);
}

export function keepPanelWidth(): void {
  const width = panelWidth.get();
  if (width === undefined) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, String(width));
}

export function restorePanelWidth(): void {
  const width = Number(localStorage.getItem(KEY));
  if (width >= WIDTH_MIN_PX) setPanelWidth(width);
}
