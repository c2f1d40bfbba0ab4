/** Colours and weights; none if NO_COLOR is set or the output is not a terminal. */

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
  /** A link of the terminal, with the address beside the text unless the text is the address. */
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

/**
 * Schemes that may become links. Anything else stays text, because a click must not start a program that the text
 * chose.
 */
const SAFE_ADDRESS = /^(?:https?|mailto|file|vscode|vscode-insiders|cursor|zed|idea|webstorm|pycharm):[^\s]+$/i;
/** Some terminals do not accept longer addresses. */
export const LINK_MAX_CHARACTERS = 2_000;

/** A link of the terminal (OSC 8). Percent-encodes everything that could end the sequence or is not printable ASCII. */
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
