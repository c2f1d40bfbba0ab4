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
  /** Text that terminals open when it is clicked, with its address beside it unless it says that itself. */
  link(text: string, url: string): string;
  /** The name of a file, as a link to it. */
  file(text: string, address: string): string;
}

const plain = (text: string) => text;

export const PLAIN: Style = {
  ...{ bold: plain, dim: plain, italic: plain, underline: plain, strike: plain, inverse: plain },
  ...{ red: plain, green: plain, yellow: plain, blue: plain, cyan: plain },
  link: (text, url) => (text === url ? text : `${text} (${url})`),
  file: plain,
};

/** Where terminals may be sent. Anything else stays text: a click must not start a program of somebody else's choice. */
const SAFE_ADDRESS = /^(?:https?|mailto|file|vscode|vscode-insiders|cursor|zed|idea|webstorm|pycharm):[^\s]+$/i;
/** Longer addresses are not taken by all terminals. */
export const LINK_MAX_CHARACTERS = 2_000;

/** A link of the terminal (OSC 8). What could end the sequence, or is no printable ASCII, is written in percents. */
export function hyperlink(text: string, address: string): string {
  const plainAddress = address.replace(/[^!-~]/gu, (character) =>
    /\p{Cs}/u.test(character) ? '' : encodeURIComponent(character),
  );
  if (!SAFE_ADDRESS.test(plainAddress) || plainAddress.length > LINK_MAX_CHARACTERS) return text;
  return `\u001b]8;;${plainAddress}\u001b\\${text}\u001b]8;;\u001b\\`;
}

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
  link: (text, url) => {
    const link = hyperlink(between(4, 24)(text), url);
    return text === url ? link : `${link} ${between(2, 22)(`(${url})`)}`;
  },
  file: (text, address) => hyperlink(between(4, 24)(text), address),
};

export function styleFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  if (env.NO_COLOR || env.TERM === 'dumb') return PLAIN;
  return stream.isTTY || env.FORCE_COLOR ? COLOURED : PLAIN;
}
