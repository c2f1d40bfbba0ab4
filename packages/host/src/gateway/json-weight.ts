/**
 * How dear a JSON text is, found out before it is parsed. Two megabytes of empty objects take a hundred times as long to
 * parse as two megabytes of text, and what is nested too deeply cannot be written down again by anybody.
 */
import { GatewayErrorCode } from '@atrium/protocol/provider';
import { GatewayError } from './gateway-error.js';

/** Whoever reads a message walks down into it, and has only so much room for that. */
export const NESTING_MAX_LEVELS = 200;
/** Objects, lists and members of objects in one message: a few tens of milliseconds of parsing. */
export const PIECES_MAX = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** One bit tells `[` from `{`, and `]` from `}`. */
const EITHER = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Throws for a text that is not worth parsing. Whether it is JSON at all is another question. */
export function checkWeight(text: string): void {
  let levels = 0;
  let pieces = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code | EITHER) === CLOSING) levels -= 1;
    else if (code === COLON || (code | EITHER) === OPENING) {
      if (code !== COLON && ++levels > NESTING_MAX_LEVELS) throw tooDeep();
      if (++pieces > PIECES_MAX) throw tooManyPieces();
    }
  }
}

/** The place of the closing quote; the end of the text when there is none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}

function tooDeep(): GatewayError {
  return new GatewayError(GatewayErrorCode.InvalidJson, `a message has at most ${NESTING_MAX_LEVELS} levels`);
}

function tooManyPieces(): GatewayError {
  const what = `${PIECES_MAX} objects, lists and members`;
  return new GatewayError(GatewayErrorCode.PayloadTooLarge, `a message has at most ${what}: send a file instead`);
}
