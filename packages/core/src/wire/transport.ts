/** How messages get in and out. A transport moves whole JSON messages in order, and does not look inside. */
import type { WireFrame } from './frames.js';

export interface TransportEvents {
  /** One whole message. */
  message(text: string): void;
  /** The operating system has taken what was sent; there is room again. */
  drain(): void;
  /** The other side sends nothing more, but still reads, so its open requests can be answered. */
  ended?(): void;
  /** The other side is gone. Called once, also after `close`. */
  closed(): void;
}

/** A part of a message that is never in memory as a whole. */
export interface MessagePart {
  readonly text: string;
  /** More bytes after the text, in UTF-8, without split characters. */
  readonly bytes?: Buffer | undefined;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export interface Transport {
  /** For log lines: `websocket 127.0.0.1:50312`. */
  readonly name: string;
  /** Starts delivering, beginning with messages that came earlier. */
  start(events: TransportEvents): void;
  /** Sends messages in order, in one write where that is possible. */
  send(frames: readonly WireFrame[]): void;
  /**
   * Sends the next part of a message. Nothing else is sent between its first and its last part. A transport without
   * this method gets every message whole.
   */
  sendPart?(part: MessagePart): void;
  /** Bytes accepted by `send` that the operating system has not taken yet. */
  readonly bufferedBytes: number;
  /** Stops reading, if the transport can. What it has already read is still delivered. */
  pause?(): void;
  resume?(): void;
  /** The other side has identified itself: limits for unknown peers no longer apply. */
  admit?(): void;
  close(code: number, reason: string): void;
}

/** A part as text, for transports that send only text. */
export function textOfPart({ text, bytes }: Pick<MessagePart, 'text' | 'bytes'>): string {
  return bytes ? text + bytes.toString() : text;
}

/** Why the host closes a connection. Codes below 4000 are WebSocket's own; those from 4001 are ours. */
export const CloseCode = {
  Normal: 1000,
  GoingAway: 1001,
  /** The client broke a rule, and no error can be answered. */
  PolicyViolation: 1008,
  TooBig: 1009,
  /** The client reads too slowly. It should connect again and resume. */
  TooSlow: 4001,
  /** The same client id has connected again. */
  Replaced: 4002,
  /** No handshake came in time. */
  HandshakeTimeout: 4003,
  /** The older wire cannot express what happened. Connect again for a snapshot. */
  SnapshotNeeded: 4004,
  /** No version in common. */
  UnsupportedVersion: 4005,
  /** Something the client asked for could not be stored. It should connect again, resume, and send it again. */
  NotStored: 4006,
  /** The credential was removed or has expired. Connecting again with it does not help. */
  AccessEnded: 4007,
  /**
   * The credential's access has changed. The client should connect again, and start over with what it may now see and
   * do.
   */
  AccessChanged: 4008,
} as const;
