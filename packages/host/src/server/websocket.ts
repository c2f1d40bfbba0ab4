/** A WebSocket as a transport, with a budget for its peer and a heartbeat that detects a lost peer. */
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { framed, joined, type WireFrame } from '@atrium/core/wire/frames.js';
import { CloseCode, type MessagePart, type Transport, type TransportEvents } from '@atrium/core/wire/transport.js';
import type { RawData, WebSocket } from 'ws';
import { compressedFrame, compressedPart, isWorthCompressing } from './compression.js';
import { HEARTBEAT_MS } from './limits.js';
import { FRAGMENTS_MAX, PeerBudget, UNFINISHED_READS_MAX, type UnadmittedBudget } from './peer-budget.js';

/** Pings in a row that a peer may leave unanswered. */
const HEARTBEAT_MISSES_MAX = 2;
/** The longest reason that fits into a close frame besides the code. */
const CLOSE_REASON_MAX_BYTES = 123;
const UNSUPPORTED_DATA = 1003;
const NOTHING = Buffer.alloc(0);
/** How long a peer may take to answer a close frame before its socket is cut. */
export const CLOSE_TIMEOUT_MS = 5_000;
/** How much input of a refused peer is read and dropped, so that the peer receives the reason. */
const DISCARDED_MAX_BYTES = 16 * 2 ** 20;
/**
 * The WebSocket options of every port. `ws` must not answer pings by itself: the transport does, within the peer's
 * budget.
 */
export const WEBSOCKET_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  autoPong: false,
  maxFragments: FRAGMENTS_MAX,
  maxBufferedChunks: UNFINISHED_READS_MAX,
  closeTimeout: CLOSE_TIMEOUT_MS,
};

interface WebSocketTransportOptions {
  readonly websocket: WebSocket;
  /** The socket under the WebSocket. */
  readonly socket: Socket;
  /** The address of the client, if it connects through a proxy. */
  readonly address?: string | undefined;
  readonly clock?: Clock;
  readonly heartbeatMs?: number;
  /** The shared budget for peers without a token, until `admit`. */
  readonly unadmitted?: UnadmittedBudget;
}

export function websocketTransport(options: WebSocketTransportOptions): Transport {
  return new WebSocketTransport(options);
}

/**
 * Reads text messages, and writes frames that were encoded once for all clients. Knows neither how the socket was
 * accepted nor what the messages mean.
 */
class WebSocketTransport implements Transport {
  readonly name: string;
  readonly #websocket: WebSocket;
  readonly #socket: Socket;
  readonly #heartbeat: Heartbeat;
  #events: TransportEvents | undefined;
  readonly #budget: PeerBudget;
  #gone = false;
  #waitsForDrain = false;
  #isPongPending = false;
  /** While paused, everything from the peer stays in its socket, even its pongs. */
  #isPaused = false;
  /** Agreed with the client in the handshake. */
  readonly #canCompress: boolean;
  /** The newest ping that came while a pong was being sent; older ones need no answer. */
  #pingToAnswer: Buffer | undefined;

  constructor(options: WebSocketTransportOptions) {
    const { websocket, socket, address, clock = systemClock, heartbeatMs = HEARTBEAT_MS, unadmitted } = options;
    this.name = address === undefined ? `websocket ${peerOf(socket)}` : `websocket ${address} by ${peerOf(socket)}`;
    this.#websocket = websocket;
    this.#socket = socket;
    this.#canCompress = websocket.extensions.includes('permessage-deflate');
    this.#budget = new PeerBudget((reason) => this.#sendAway(reason), unadmitted);
    this.#heartbeat = new Heartbeat({
      clock,
      intervalMs: heartbeatMs,
      ask: () => {
        if (this.#isPaused) this.#heartbeat.heard();
        this.#budget.renew();
        websocket.ping();
      },
      giveUp: () => websocket.terminate(),
    });
    // Input before `start` stays unread in the socket.
    websocket.pause();
    websocket.on('message', (data, isBinary) => this.#received(data, isBinary));
    websocket.on('ping', (data) => this.#pinged(data));
    websocket.on('pong', () => this.#budget.takeControlFrame() && this.#heartbeat.heard());
    // Prepended, because `on` would make the paused socket flow.
    if (unadmitted) socket.prependListener('data', this.#counted);
    websocket.on('close', () => this.#closed());
    // A broken socket also emits `close`, which is enough.
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
   * Bypasses `ws`, which would frame every message again for every client. That is safe because `ws` itself writes only
   * whole frames at once while it is given no message to send: its pings and pongs land between our frames, and may
   * land between the parts of one message. Nothing may follow its close frame; `readyState` leaves OPEN before that
   * frame is written.
   */
  send(frames: readonly WireFrame[]): void {
    const [only] = frames;
    if (only === undefined || this.#websocket.readyState !== this.#websocket.OPEN) return;
    if (frames.length === 1) this.#socket.write(this.#bytesOf(only));
    else if (this.#canCompress && frames.some(isWorthCompressing)) this.#sendEach(frames);
    else this.#sendSeveral(frames);
    this.#askForDrain();
  }

  #sendSeveral(frames: readonly WireFrame[]): void {
    const together = joined(frames);
    if (together !== undefined) return void this.#socket.write(together);
    this.#sendEach(frames);
  }

  #sendEach(frames: readonly WireFrame[]): void {
    this.#socket.cork();
    for (const frame of frames) this.#socket.write(this.#bytesOf(frame));
    this.#socket.uncork();
  }

  #bytesOf(frame: WireFrame): Buffer {
    return this.#canCompress && isWorthCompressing(frame) ? compressedFrame(frame) : frame.websocket;
  }

  /**
   * Nearly always the system takes everything at once. If not, the callback of an empty write reports when the rest is
   * gone.
   */
  #askForDrain(): void {
    if (this.#waitsForDrain || this.bufferedBytes === 0) return;
    this.#waitsForDrain = true;
    this.#socket.write(NOTHING, this.#written);
  }

  sendPart(part: MessagePart): void {
    if (this.#websocket.readyState !== this.#websocket.OPEN) return;
    if (this.#canCompress) this.#socket.write(compressedPart(part));
    else this.#sendPlain(part);
    this.#askForDrain();
  }

  #sendPlain(part: MessagePart): void {
    if (!part.bytes) return void this.#socket.write(framed(part));
    this.#socket.cork();
    this.#socket.write(framed(part));
    this.#socket.write(part.bytes);
    this.#socket.uncork();
  }

  pause(): void {
    if (this.#gone) return;
    this.#isPaused = true;
    this.#websocket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#websocket.resume();
  }

  admit(): void {
    this.#budget.admit();
    this.#socket.off('data', this.#counted);
  }

  close(code: number, reason: string): void {
    this.#websocket.close(code, shortened(reason));
    // Keep reading until the peer has answered the close frame.
    this.resume();
  }

  readonly #written = (error?: Error | null): void => {
    if (!this.#waitsForDrain || error) return;
    this.#waitsForDrain = false;
    // More was written meanwhile.
    if (this.bufferedBytes > 0) return this.#askForDrain();
    this.#events?.drain();
  };

  readonly #counted = (chunk: Buffer): void => this.#budget.received(chunk.length);

  /** At most one pong is being sent and one waits, however many pings come (RFC 6455, 5.5.3). */
  #pinged(data: Buffer): void {
    if (!this.#budget.takeControlFrame()) return;
    if (this.#isPongPending) this.#pingToAnswer = Buffer.from(data);
    else this.#pong(data);
  }

  #pong(data: Buffer): void {
    this.#isPongPending = true;
    this.#websocket.pong(data, false, () => {
      const next = this.#pingToAnswer;
      this.#isPongPending = false;
      this.#pingToAnswer = undefined;
      if (next && this.#websocket.readyState === this.#websocket.OPEN) this.#pong(next);
    });
  }

  /** Stops parsing but keeps reading for a while: closing with unread input would reset the socket. */
  #sendAway(reason: string): void {
    this.close(CloseCode.PolicyViolation, reason);
    const socket = this.#socket;
    socket.removeAllListeners('data');
    let left = DISCARDED_MAX_BYTES;
    socket.on('data', (chunk) => {
      left -= chunk.length;
      if (left < 0) socket.destroy();
    });
    socket.end();
    this.#closed();
  }

  #received(data: RawData, isBinary: boolean): void {
    if (this.#budget.isOver) return;
    this.#heartbeat.heard();
    if (this.#websocket.readyState !== this.#websocket.OPEN) return;
    if (isBinary) return this.close(UNSUPPORTED_DATA, 'send text frames: one JSON message in each');
    this.#events?.message(data.toString());
  }

  #closed(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#budget.end();
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

interface HeartbeatOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Pings the peer. */
  ask(): void;
  giveUp(): void;
}

/** Detects a peer that left without closing: pings at an interval, and gives up after two unanswered pings. */
class Heartbeat {
  readonly #options: HeartbeatOptions;
  #unanswered = 0;
  #cancel: () => void;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#cancel = this.#arm();
  }

  /** Any input shows that the peer is alive. */
  heard(): void {
    this.#unanswered = 0;
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): () => void {
    return this.#options.clock.after(this.#options.intervalMs, () => this.#beat());
  }

  #beat(): void {
    if (this.#unanswered >= HEARTBEAT_MISSES_MAX) return this.#options.giveUp();
    this.#unanswered += 1;
    this.#options.ask();
    this.#cancel = this.#arm();
  }
}

/**
 * Closes every connection because the host stops, and waits until all of them are closed. `ws` cuts off a peer that
 * does not answer the close frame, but not one that has ended its side and does not read what it is sent.
 */
export async function closeAll(sockets: ReadonlyMap<WebSocket, Transport>, code: number): Promise<void> {
  const open = [...sockets.keys()];
  const closed = open.map((websocket) => new Promise((done) => websocket.once('close', done)));
  for (const transport of sockets.values()) transport.close(code, 'the host is stopping');
  const cut = setTimeout(() => {
    for (const websocket of open) websocket.terminate();
  }, CLOSE_TIMEOUT_MS);
  await Promise.all(closed);
  clearTimeout(cut);
}
