/**
 * A WebSocket as a transport: text messages in, frames that were built once out. It knows nothing of how the socket was
 * let in, and nothing of what the messages say.
 */
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { type Clock, systemClock } from '../../clock.js';
import { HEARTBEAT_MS } from '../../limits.js';
import type { Transport, TransportEvents } from '../transport.js';
import type { WireFrame } from '../wire-frame.js';
import { Heartbeat } from './heartbeat.js';

/** The most that fits into a close frame beside the code. */
export const CLOSE_REASON_MAX_BYTES = 123;
const UNSUPPORTED_DATA = 1003;

export interface WebSocketTransportOptions {
  readonly websocket: WebSocket;
  /** The very socket that the WebSocket was made from. */
  readonly socket: Socket;
  readonly clock?: Clock;
  readonly heartbeatMs?: number;
}

export function websocketTransport(options: WebSocketTransportOptions): Transport {
  return new WebSocketTransport(options);
}

class WebSocketTransport implements Transport {
  readonly name: string;
  readonly #websocket: WebSocket;
  readonly #socket: Socket;
  readonly #heartbeat: Heartbeat;
  #events: TransportEvents | undefined;
  #gone = false;
  #waitsForDrain = false;

  constructor({ websocket, socket, clock = systemClock, heartbeatMs = HEARTBEAT_MS }: WebSocketTransportOptions) {
    this.name = `websocket ${peerOf(socket)}`;
    this.#websocket = websocket;
    this.#socket = socket;
    this.#heartbeat = new Heartbeat({
      clock,
      intervalMs: heartbeatMs,
      ask: () => websocket.ping(),
      giveUp: () => websocket.terminate(),
    });
    // What arrives before `start` stays in the socket: the messages below are not lost, they have not been read.
    websocket.pause();
    websocket.on('message', (data, isBinary) => this.#received(data, isBinary));
    websocket.on('pong', () => this.#heartbeat.heard());
    websocket.on('close', () => this.#closed());
    // A broken socket also closes, and that is all the host has to know.
    websocket.on('error', () => {});
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  start(events: TransportEvents): void {
    this.#events = events;
    if (this.#gone) return queueMicrotask(() => events.closed());
    this.#websocket.resume();
  }

  /**
   * Goes around `ws`, which would frame every message again for every client. That is safe as long as `ws` itself
   * writes only whole frames in one go, and it does without compression and blobs: its pings and pongs land between
   * our frames. After its close frame nothing may follow; `readyState` leaves OPEN before that frame is written.
   */
  send(frames: readonly WireFrame[]): void {
    const last = frames.at(-1);
    if (last === undefined || this.#websocket.readyState !== this.#websocket.OPEN) return;
    if (frames.length > 1) this.#socket.cork();
    for (const frame of frames) {
      if (frame === last) this.#socket.write(frame.websocket, this.#written);
      else this.#socket.write(frame.websocket);
    }
    if (frames.length > 1) this.#socket.uncork();
    this.#waitsForDrain = this.bufferedBytes > 0;
  }

  pause(): void {
    if (!this.#gone) this.#websocket.pause();
  }

  resume(): void {
    this.#websocket.resume();
  }

  close(code: number, reason: string): void {
    this.#websocket.close(code, shortened(reason));
    // Reading goes on until the peer has answered the close frame.
    this.#websocket.resume();
  }

  readonly #written = (): void => {
    if (!this.#waitsForDrain || this.bufferedBytes > 0) return;
    this.#waitsForDrain = false;
    this.#events?.drain();
  };

  #received(data: RawData, isBinary: boolean): void {
    this.#heartbeat.heard();
    if (this.#websocket.readyState !== this.#websocket.OPEN) return;
    if (isBinary) return this.close(UNSUPPORTED_DATA, 'send text frames: one JSON message in each');
    this.#events?.message(data.toString());
  }

  #closed(): void {
    this.#gone = true;
    this.#heartbeat.stop();
    this.#events?.closed();
  }
}

function peerOf({ remoteAddress = 'unknown', remotePort = 0 }: Socket): string {
  return remoteAddress.includes(':') ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}

/** Cuts between characters, never inside one. */
function shortened(reason: string): string {
  let bytes = 0;
  let text = '';
  for (const character of reason) {
    bytes += Buffer.byteLength(character);
    if (bytes > CLOSE_REASON_MAX_BYTES) break;
    text += character;
  }
  return text;
}
