/** Makes text from outside safe for a terminal: nothing in it moves the cursor, sets colours or writes to the clipboard. */

/** Sequences that terminals obey: colours and movement, titles and clipboards, and all that begin with an escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape and bell are what it is about
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;

/** Keeps line breaks and tabs; drops every other control character, and the sequences that begin with one. */
export function printableLines(text: string): string {
  return text
    .replace(SEQUENCES, '')
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, '    ')
    .replace(/(?![\n\u200d])[\p{Cc}\p{Cf}]/gu, '');
}

/** The same for text that has to stay on one line. */
export function printable(text: string): string {
  return printableLines(text).replace(/\s*\n\s*/g, ' ');
}
