/** How messages get in and out. A transport moves whole JSON messages in order; it does not know what they say. */
import type { WireFrame } from './frames.js';

export interface TransportEvents {
  /** One whole message. */
  message(text: string): void;
  /** What was sent has left this process; there is room again. */
  drain(): void;
  /** The other side sends nothing more, but still reads: what it asked for can be answered. */
  ended?(): void;
  /** The other side is gone. Called once, also after `close`. */
  closed(): void;
}

/** A part of a message that never exists as a whole. */
export interface MessagePart {
  readonly text: string;
  /** The rest of the part behind its text, already in UTF-8. It begins and ends between characters. */
  readonly bytes?: Buffer | undefined;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export interface Transport {
  /** For log lines: `websocket 127.0.0.1:50312`. */
  readonly name: string;
  /** Starts delivering. Messages that came earlier are delivered now. */
  start(events: TransportEvents): void;
  /** Sends messages in order, in one write where that is possible. */
  send(frames: readonly WireFrame[]): void;
  /**
   * Sends the next part of a message. Nothing else is sent between its first part and its last. A transport without this
   * gets every message whole.
   */
  sendPart?(part: MessagePart): void;
  /** Bytes accepted by `send` that the operating system has not taken yet. */
  readonly bufferedBytes: number;
  /** Stops reading, where a transport can; what it has read already is still delivered. */
  pause?(): void;
  resume?(): void;
  /** The other side has shown who it is: limits for those who have not do not apply any more. */
  admit?(): void;
  close(code: number, reason: string): void;
}

/** A part for those who want text only. */
export function textOfPart({ text, bytes }: Pick<MessagePart, 'text' | 'bytes'>): string {
  return bytes ? text + bytes.toString() : text;
}

/** Why the host closes a connection. Codes below 4000 are WebSocket's own; those from 4001 are ours. */
export const CloseCode = {
  Normal: 1000,
  GoingAway: 1001,
  /** The client broke a rule that cannot be answered with an error. */
  PolicyViolation: 1008,
  TooBig: 1009,
  /** The client reads too slowly. It should connect again and resume. */
  TooSlow: 4001,
  /** The same client id has connected again. */
  Replaced: 4002,
  /** Nothing was said in time. */
  HandshakeTimeout: 4003,
  /** The older wire cannot express what happened. Connect again for a snapshot. */
  SnapshotNeeded: 4004,
  /** No version in common. */
  UnsupportedVersion: 4005,
  /** What the client asked for could not be stored. It should connect again, resume, and send it again. */
  NotStored: 4006,
  /** The credential was removed or has expired. Coming back with it is of no use. */
  AccessEnded: 4007,
  /** The credential allows something else now. The client should connect again, and begin anew with what it may see and do. */
  AccessChanged: 4008,
} as const;
