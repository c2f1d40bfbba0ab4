/** How messages get in and out. A transport moves whole JSON messages in order; it does not know what they say. */

export interface CloseReason {
  /** The code of a WebSocket, where there was one. */
  readonly code?: number;
  readonly reason: string;
}

/** A connection that is open already. */
export interface Transport {
  send(text: string): void;
  close(): void;
  /** Sets the one listener. Messages that came earlier are delivered to it. */
  onMessage(listener: (text: string) => void): void;
  /** Sets the one listener, called once when the connection ends, whoever ended it. */
  onClose(listener: (reason: CloseReason) => void): void;
}

/** Opens a new connection; called again for every attempt to reconnect. */
export type TransportFactory = () => Transport | Promise<Transport>;

/** The host closes with this when the same client id connects elsewhere. Coming back would throw the other one out. */
export const CLOSE_REPLACED = 4002;
