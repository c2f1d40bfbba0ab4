/** The colours of a terminal, taken from the page: dark when the page is dark. */
import type { ITheme } from '@xterm/xterm';

const LIGHT: ITheme = {
  black: '#22231f',
  red: '#a93226',
  green: '#1d6b34',
  yellow: '#7a4a00',
  blue: '#2b4f87',
  magenta: '#7b3a86',
  cyan: '#0f6e66',
  white: '#8a867c',
  brightBlack: '#5b5c54',
  brightRed: '#c0392b',
  brightGreen: '#2a7d43',
  brightYellow: '#8f5a05',
  brightBlue: '#3a66a8',
  brightMagenta: '#92479e',
  brightCyan: '#158076',
  brightWhite: '#22231f',
};

const DARK: ITheme = {
  black: '#3a3d3b',
  red: '#f09a8d',
  green: '#86d39a',
  yellow: '#e0b878',
  blue: '#9dbdf0',
  magenta: '#d7a6e0',
  cyan: '#63c5b6',
  white: '#d5d6d0',
  brightBlack: '#8b8f89',
  brightRed: '#f7b3a8',
  brightGreen: '#a5e2b5',
  brightYellow: '#f0cf98',
  brightBlue: '#b9d1f7',
  brightMagenta: '#e6c2ec',
  brightCyan: '#8ad9cc',
  brightWhite: '#f4f4ef',
};

/** Reads the colours from properties that the element uses for nothing else. */
export function coloursOf(element: Element): ITheme {
  const { backgroundColor, color, caretColor, columnRuleColor } = getComputedStyle(element);
  return {
    ...(isDark(backgroundColor) ? DARK : LIGHT),
    background: backgroundColor,
    foreground: color,
    cursor: caretColor,
    cursorAccent: backgroundColor,
    selectionBackground: columnRuleColor,
  };
}

/** Decides by the perceived brightness. */
export function isDark(colour: string): boolean {
  const [red = 255, green = 255, blue = 255] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}
