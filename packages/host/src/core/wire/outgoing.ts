/** A message to a client. Text deltas remember what they say, so that two that wait can become one. */
import { WireFrame } from './wire-frame.js';

/** Text that is appended to one part of one turn, or to the output of one terminal. */
export interface Delta {
  /** Equal for deltas that may be joined: same channel, turn, part and kind, same wire. */
  readonly key: string;
  readonly content: string;
  /** Longer text waits as it is. Output comes in large pieces: joining them costs more and more, and saves nothing. */
  readonly maxCharacters?: number;
  /** The message again, with other text. */
  readonly withContent: (content: string) => object;
}

export class Outgoing extends WireFrame {
  constructor(
    text: string | (() => string),
    /** About how much memory it takes; exact bytes would mean encoding a message that may yet be merged. */
    readonly size: number,
    readonly delta?: Delta | undefined,
  ) {
    super(text);
  }
}

export function outgoing(message: object, delta?: Delta): Outgoing {
  const text = JSON.stringify(message);
  return new Outgoing(text, text.length, delta);
}

/** A message that nobody answers. */
export function outgoingNotification({ method, params }: { method: string; params: object }): Outgoing {
  return outgoing({ jsonrpc: '2.0', method, params });
}

/** Text that is already a message. */
export function outgoingText(text: string): Outgoing {
  return new Outgoing(text, text.length);
}

/** Two messages as one, or undefined when they cannot be joined. The number of the later one stands. */
export function merged(first: Outgoing, second: Outgoing): Outgoing | undefined {
  if (!first.delta || !second.delta || first.delta.key !== second.delta.key) return undefined;
  const { delta } = second;
  const { maxCharacters = Number.POSITIVE_INFINITY } = delta;
  if (first.delta.content.length + delta.content.length > maxCharacters) return undefined;
  const content = grown(first.delta.content, delta.content);
  const write = () => JSON.stringify(delta.withContent(content));
  return new Outgoing(write, first.size + delta.content.length, { ...delta, content });
}

/** How often, in characters, text that is growing is made one piece. */
const PIECE_CHARACTERS = 8 * 2 ** 10;

/** A string that grew bit by bit is a tree of its bits, several times its size. Looking into it makes it one piece. */
function grown(text: string, more: string): string {
  const whole = text + more;
  const isDue = Math.floor(whole.length / PIECE_CHARACTERS) > Math.floor(text.length / PIECE_CHARACTERS);
  if (isDue) whole.charCodeAt(0);
  return whole;
}
