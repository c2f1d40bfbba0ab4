/** What a person chose in this browser: the theme, and whether terminals serve screen readers. */
import { Store } from '../model/store.js';

type Theme = 'system' | 'light' | 'dark';

const THEME_KEY = 'atrium.theme';
const ORDER: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = new Store<Theme>(stored());

function stored(): Theme {
  const value = localStorage.getItem(THEME_KEY);
  return ORDER.find((each) => each === value) ?? 'system';
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

export function chooseTheme(choice: Theme): void {
  localStorage.setItem(THEME_KEY, choice);
  theme.set(choice);
  applyTheme();
}

export function nextTheme(): void {
  chooseTheme(ORDER[(ORDER.indexOf(theme.get()) + 1) % ORDER.length] ?? 'system');
}

const SCREEN_READERS_KEY = 'atrium.terminals-for-screen-readers';

/** Whether terminals keep a copy of their lines for screen readers. It slows down output, so it is off at first. */
export const isForScreenReaders = new Store(localStorage.getItem(SCREEN_READERS_KEY) === 'yes');

export function toggleScreenReaders(): void {
  isForScreenReaders.set(!isForScreenReaders.get());
  if (isForScreenReaders.get()) localStorage.setItem(SCREEN_READERS_KEY, 'yes');
  else localStorage.removeItem(SCREEN_READERS_KEY);
}
