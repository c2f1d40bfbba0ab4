/** How messages get in and out. A transport moves whole JSON messages in order; it does not know what they say. */

/** A connection that is open already. */
export interface Transport {
  send(text: string): void;
  close(): void;
  /** Sets the one listener. Messages that came earlier are delivered to it. */
  onMessage(listener: (text: string) => void): void;
  /** Sets the one listener, called once when the connection ends, whoever ended it. */
  onClose(listener: (reason: string) => void): void;
}

/** Opens a new connection; called again for every attempt to reconnect. */
export type TransportFactory = () => Transport | Promise<Transport>;
