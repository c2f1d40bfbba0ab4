/** Dark or light: what the system says, unless somebody chose. */
import { Store } from '../model/store.js';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'atrium.theme';
const ORDER: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = new Store<Theme>(stored());

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return ORDER.find((each) => each === value) ?? 'system';
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

export function chooseTheme(choice: Theme): void {
  localStorage.setItem(KEY, choice);
  theme.set(choice);
  applyTheme();
}

export function nextTheme(): void {
  chooseTheme(ORDER[(ORDER.indexOf(theme.get()) + 1) % ORDER.length] ?? 'system');
}
