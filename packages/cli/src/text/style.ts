/** Colours and weights; none where NO_COLOR is set or the output is no terminal. */

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  strike(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  blue(text: string): string;
  cyan(text: string): string;
  inverse(text: string): string;
  /** Text that terminals open when it is clicked. */
  link(text: string, url: string): string;
}

const plain = (text: string) => text;

export const PLAIN: Style = {
  ...{ bold: plain, dim: plain, italic: plain, underline: plain, strike: plain, inverse: plain },
  ...{ red: plain, green: plain, yellow: plain, blue: plain, cyan: plain },
  link: (text, url) => (text === url ? text : `${text} (${url})`),
};

const between = (on: number, off: number) => (text: string) =>
  text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`;

/** The sixteen colours that every terminal has, as its user set them. */
export const COLOURED: Style = {
  bold: between(1, 22),
  dim: between(2, 22),
  italic: between(3, 23),
  underline: between(4, 24),
  inverse: between(7, 27),
  strike: between(9, 29),
  red: between(31, 39),
  green: between(32, 39),
  yellow: between(33, 39),
  blue: between(34, 39),
  cyan: between(36, 39),
  link: (text, url) => (text === url ? between(4, 24)(text) : `${between(4, 24)(text)} ${between(2, 22)(`(${url})`)}`),
};

export function styleFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  if (env.NO_COLOR || env.TERM === 'dumb') return PLAIN;
  return stream.isTTY || env.FORCE_COLOR ? COLOURED : PLAIN;
}
