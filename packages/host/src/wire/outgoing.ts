/** A message to a client. Text deltas remember what they say, so that two that wait can become one. */
import { WireFrame } from './wire-frame.js';

export interface Outgoing {
  readonly frame: WireFrame;
  /** About how much memory it takes; exact bytes would mean encoding a message that may yet be merged. */
  readonly bytes: number;
  readonly delta?: Delta;
}

/** Text that is appended to one part of one turn. */
interface Delta {
  /** Equal for deltas that may be joined: same channel, turn, part and kind, same wire. */
  readonly key: string;
  readonly content: string;
  /** The message again, with other text. */
  readonly withContent: (content: string) => object;
}

export function outgoing(message: object, delta?: Delta): Outgoing {
  const frame = WireFrame.of(message);
  return { frame, bytes: frame.text.length, ...(delta && { delta }) };
}

/** Text that is already a message. */
export function outgoingText(text: string): Outgoing {
  return { frame: new WireFrame(text), bytes: text.length };
}

/** Two messages as one, or undefined when they cannot be joined. The number of the later one stands. */
export function merged(first: Outgoing, second: Outgoing): Outgoing | undefined {
  if (!first.delta || !second.delta || first.delta.key !== second.delta.key) return undefined;
  const content = first.delta.content + second.delta.content;
  return outgoing(second.delta.withContent(content), { ...second.delta, content });
}
