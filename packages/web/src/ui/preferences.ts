/**
 * The person's choices in this browser: the theme, the program that opens files, and whether terminals serve screen
 * readers.
 */
import { Store } from '../model/store.js';

export const THEMES = [
  { id: 'system', name: 'System', text: 'light or dark, as this device has it' },
  { id: 'light', name: 'Light', text: 'warm white' },
  { id: 'dark', name: 'Dark', text: 'soft black' },
  { id: 'contrast', name: 'High contrast', text: 'black and white, light or dark as this device has it' },
  { id: 'sand', name: 'Sand', text: 'paper in the afternoon' },
  { id: 'midnight', name: 'Midnight', text: 'deep blue' },
] as const;

export type Theme = (typeof THEMES)[number]['id'];

const THEME_KEY = 'atrium.theme';

export const theme = new Store<Theme>(themeOf(localStorage.getItem(THEME_KEY)) ?? 'system');

export function themeOf(word: string | null): Theme | undefined {
  return THEMES.find(({ id }) => id === word)?.id;
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

export function chooseTheme(choice: Theme): void {
  localStorage.setItem(THEME_KEY, choice);
  theme.set(choice);
  applyTheme();
}

/** Programs on this device that open a file at a line when the browser opens an address of theirs. */
export const EDITORS = [
  { id: 'viewer', name: 'This page' },
  { id: 'vscode', name: 'VS Code' },
  { id: 'vscode-insiders', name: 'VS Code Insiders' },
  { id: 'cursor', name: 'Cursor' },
  { id: 'zed', name: 'Zed' },
  { id: 'idea', name: 'IntelliJ IDEA' },
  { id: 'webstorm', name: 'WebStorm' },
  { id: 'pycharm', name: 'PyCharm' },
] as const;

export type EditorId = (typeof EDITORS)[number]['id'];

const EDITOR_KEY = 'atrium.editor';

export const editor = new Store<EditorId>(
  EDITORS.find(({ id }) => id === localStorage.getItem(EDITOR_KEY))?.id ?? 'viewer',
);

export function chooseEditor(choice: EditorId): void {
  localStorage.setItem(EDITOR_KEY, choice);
  editor.set(choice);
}

const SCREEN_READERS_KEY = 'atrium.terminals-for-screen-readers';

/** Whether terminals keep a copy of their lines for screen readers. It slows down output, so it is off at first. */
export const isForScreenReaders = new Store(localStorage.getItem(SCREEN_READERS_KEY) === 'yes');

export function toggleScreenReaders(): void {
  isForScreenReaders.set(!isForScreenReaders.get());
  if (isForScreenReaders.get()) localStorage.setItem(SCREEN_READERS_KEY, 'yes');
  else localStorage.removeItem(SCREEN_READERS_KEY);
}
