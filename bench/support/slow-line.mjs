/**
 * A slow line between a browser and a host, with a count of every byte that passes: HTTP and WebSocket alike, headers too. The
 * browser's own throttling does not know WebSockets.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** As WebPageTest has it. */
export const LINE_3G = { downBytesPerSecond: 1_600_000 / 8, upBytesPerSecond: 768_000 / 8, roundTripMs: 300 };

/** How much may wait in one direction before its sender is paused: otherwise the line would have no end of memory. */
const WAITING_MAX_BYTES = 2 ** 20;

/**
 * @typedef {{ downBytesPerSecond: number, upBytesPerSecond: number, roundTripMs: number }} Line
 * @typedef {{ bytesPerSecond: number, latencyMs: number, freeAt: number, count: (bytes: number) => void }} OneWay
 */

/** To a port of this machine. @param {number} port @param {Line} line */
export async function slowLine(port, { downBytesPerSecond, upBytesPerSecond, roundTripMs }) {
  const counted = { down: 0, up: 0 };
  /** @returns {OneWay} */
  const oneWay = (/** @type {number} */ bytesPerSecond, /** @type {OneWay['count']} */ count) => ({
    bytesPerSecond,
    latencyMs: roundTripMs / 2,
    freeAt: 0,
    count,
  });
  const down = oneWay(downBytesPerSecond, (bytes) => {
    counted.down += bytes;
  });
  const up = oneWay(upBytesPerSecond, (bytes) => {
    counted.up += bytes;
  });
  const server = createServer(async (near) => {
    // The handshake of TCP takes a round trip before the first byte.
    near.pause();
    near.on('error', () => {});
    await new Promise((resolve) => setTimeout(resolve, roundTripMs));
    const far = connect({ host: '127.0.0.1', port });
    far.on('error', () => near.destroy());
    carry(near, far, up);
    carry(far, near, down);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    /** Bytes since this was called last. */
    take() {
      const taken = { ...counted };
      Object.assign(counted, { down: 0, up: 0 });
      return taken;
    },
    close: () => server.close(),
  };
}

/**
 * One direction of one connection; all connections share the line.
 * @param {import('node:net').Socket} from @param {import('node:net').Socket} to @param {OneWay} line
 */
function carry(from, to, line) {
  let waiting = 0;
  from.on('data', (chunk) => {
    line.count(chunk.length);
    waiting += chunk.length;
    if (waiting > WAITING_MAX_BYTES) from.pause();
    const now = performance.now();
    line.freeAt = Math.max(now, line.freeAt) + (1_000 * chunk.length) / line.bytesPerSecond;
    setTimeout(
      () => {
        waiting -= chunk.length;
        if (!to.destroyed) to.write(chunk);
        if (waiting <= WAITING_MAX_BYTES) from.resume();
      },
      line.freeAt - now + line.latencyMs,
    );
  });
  from.on('close', () => setTimeout(() => to.destroy(), Math.max(0, line.freeAt - performance.now()) + line.latencyMs));
  from.resume();
}
