/** Turns the output of a terminal into plain text: drops escape sequences and overwritten lines. */

/** A line that is longer is taken as it is; only then can nothing be overwritten in it. */
export const LINE_MAX_CHARACTERS = 16 * 2 ** 10;
/** An escape sequence that is longer is none. */
const ESCAPE_MAX_CHARACTERS = 4 * 2 ** 10;

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: escape sequences are made of them */
/** It ends with its line at the latest: of a text that only looks like one, no more than that is lost. */
const STRING = String.raw`(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\x18\x1a\n]*(?:\x07|\x1b\\|\x9c|\x18|\x1a)?`;
const CONTROL = String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?`;
const SHORT = String.raw`\x1b[ -/]*[0-~]?`;
/** Back to the beginning of the line, or the whole line erased: what comes then stands there instead. */
const LINE_AGAIN = /\x1b\[(?:1?G|2K)/g;
const ESCAPES = new RegExp(`${STRING}|${CONTROL}|${SHORT}`, 'g');
/** An escape sequence at the very end, which may go on. Nothing is looked through twice: a beginning ends the one before. */
const OPEN_ESCAPE =
  /(?:(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c-\x9f\x90\x98\x18\x1a\n]*\x1b?|(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[ -/]*)$/;
/** The other control characters, without tabs. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: escape sequences are made of them */

/** The plain text of something that is all there. */
export function plainText(text: string): string {
  const lines = new PlainLines();
  return lines.push(text) + lines.end();
}

/** The plain text of a stream: whole lines as soon as they are there. */
export class PlainLines {
  /** An escape sequence that has begun. */
  #escape = '';
  #line = '';

  /** The lines that are complete now, each with its end. */
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

/** A carriage return goes back to the beginning of the line; what comes then stands there instead. */
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
