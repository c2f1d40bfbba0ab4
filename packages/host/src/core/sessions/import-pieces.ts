/**
 * A turn that is larger than a message comes in pieces of its JSON, one after the other, and so does a large content. Each
 * connection has room for one at a time; when the connection is gone, so is what it had sent of it.
 */

/** A turn that is larger was not made by a conversation. */
export const IMPORT_TURN_MAX_CHARACTERS = 64 * 2 ** 20;

export interface TurnPiece {
  readonly channel: string;
  /** The index of the turn. */
  readonly start: number;
  /** How many characters of it are here already. */
  readonly at: number;
  readonly text: string;
  readonly isLast: boolean;
}

interface Unfinished {
  readonly channel: string;
  readonly start: number;
  readonly texts: string[];
  length: number;
}

const unfinished = new WeakMap<object, Unfinished>();

/** The whole text with the last piece, undefined before; a sentence when the piece does not fit. */
export function gathered(sender: object, piece: TurnPiece): { readonly json?: string; readonly problem?: string } {
  const { channel, start, at, text, isLast } = piece;
  const known = at === 0 ? { channel, start, texts: [], length: 0 } : unfinished.get(sender);
  unfinished.delete(sender);
  if (!known || known.channel !== channel || known.start !== start || known.length !== at)
    return { problem: 'must follow the piece before it: begin it again with /at 0' };
  if (at + text.length > IMPORT_TURN_MAX_CHARACTERS)
    return { problem: `belongs to a turn of more than ${IMPORT_TURN_MAX_CHARACTERS} characters` };
  known.texts.push(text);
  known.length += text.length;
  if (isLast) return { json: known.texts.join('') };
  unfinished.set(sender, known);
  return {};
}
