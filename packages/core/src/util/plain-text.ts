/** Turns the output of a terminal into plain text: drops escape sequences and overwritten lines. */

/** A longer line is taken in pieces, and nothing in a piece taken early can be overwritten. */
export const LINE_MAX_CHARACTERS = 16 * 2 ** 10;
/** A longer escape sequence is not treated as one. */
const ESCAPE_MAX_CHARACTERS = 4 * 2 ** 10;

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: escape sequences are made of them */
/**
 * A string sequence. It ends at the end of its line at the latest, so that a text which only looks like one loses no
 * more than that.
 */
const STRING = String.raw`(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\x18\x1a\n]*(?:\x07|\x1b\\|\x9c|\x18|\x1a)?`;
const CONTROL = String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?`;
const SHORT = String.raw`\x1b[ -/]*[0-~]?`;
/** Back to the beginning of the line, or the whole line erased: what follows replaces the line. */
const LINE_AGAIN = /\x1b\[(?:1?G|2K)/g;
const ESCAPES = new RegExp(`${STRING}|${CONTROL}|${SHORT}`, 'g');
/** An unfinished escape sequence at the very end. Nothing is scanned twice: a new beginning ends the one before. */
const OPEN_ESCAPE =
  /(?:(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c-\x9f\x90\x98\x18\x1a\n]*\x1b?|(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[ -/]*)$/;
/** The other control characters, except tabs. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: escape sequences are made of them */

/** The plain text of complete output. */
export function plainText(text: string): string {
  const lines = new PlainLines();
  return lines.push(text) + lines.end();
}

/** The plain text of a stream, given out as soon as whole lines have arrived. */
export class PlainLines {
  /** The beginning of an unfinished escape sequence. */
  #escape = '';
  #line = '';

  /** The lines that are now complete, with their ends. */
  push(chunk: string): string {
    const text = this.#withoutEscapes(this.#escape + chunk);
    const whole = text.lastIndexOf('\n') + 1;
    const lines = whole > 0 ? (this.#line + text.slice(0, whole)).split('\n').map(overwritten).join('\n') : '';
    const rest = whole > 0 ? text.slice(whole) : this.#line + text;
    const isTooLong = rest.length > LINE_MAX_CHARACTERS;
    this.#line = isTooLong ? '' : rest;
    return isTooLong ? lines + overwritten(rest) : lines;
  }

  end(): string {
    const rest = overwritten(this.#line);
    this.#line = '';
    this.#escape = '';
    return rest;
  }

  #withoutEscapes(text: string): string {
    const open = OPEN_ESCAPE.exec(text.slice(-ESCAPE_MAX_CHARACTERS));
    this.#escape = open?.[0] ?? '';
    return text
      .slice(0, text.length - this.#escape.length)
      .replace(LINE_AGAIN, '\r')
      .replace(ESCAPES, '');
  }
}

/** Applies carriage returns: the text after one replaces the beginning of the line. */
function overwritten(line: string): string {
  if (!line.includes('\r') && !line.includes('\b')) return line.replace(CONTROLS, '');
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  return erased(line.slice(line.lastIndexOf('\r', end - 1) + 1, end)).replace(CONTROLS, '');
}

function erased(text: string): string {
  if (!text.includes('\b')) return text;
  const characters: string[] = [];
  for (const character of text) {
    if (character === '\b') characters.pop();
    else characters.push(character);
  }
  return characters.join('');
}
