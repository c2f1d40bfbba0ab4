/** Messages to clients beyond the machine are compressed, each by itself; what comes from them is bounded as ever. */
import { once } from 'node:events';
import { deflateRawSync } from 'node:zlib';
import { WireFrame } from '@atrium/core/wire/frames.js';
import { PAYLOAD_MAX_BYTES } from '@atrium/core/wire/limits.js';
import { expect, it, vi } from 'vitest';
import { COMPRESSED_MAX_BYTES, COMPRESSED_MIN_BYTES, compressedFrame } from '../../../src/server/compression.js';
import { ask, closeOf, openClient, startEcho, startManual } from './support.js';

const NAME = 'machine.test';
const POLICY = { token: 'a-token-for-tests', allowedHosts: [NAME] };
const named = (port: number) => ({ headers: { Host: `${NAME}:${port}` } });
const EVENTS = { message: () => {}, drain: () => {}, closed: () => {} };
/** Text that can be made short, but not too short. */
const prose = (bytes: number) =>
  Array.from({ length: bytes / 4 }, (_, index) => index.toString(36).padStart(4, '-')).join('');

async function reached(host: 'named' | 'local') {
  const { server, transport } = await startManual({ policy: POLICY });
  const websocket = await openClient(server.port, host === 'named' ? named(server.port) : {});
  const there = await transport;
  there.start(EVENTS);
  const got: string[] = [];
  websocket.on('message', (data) => got.push(String(data)));
  const socket = (websocket as unknown as { _socket: { readonly bytesRead: number } })._socket;
  return { there, websocket, got, bytes: () => socket.bytesRead };
}

it('[DEV-060] compresses long messages for clients beyond the machine, and none for those on it', async () => {
  const sent = prose(100_000);
  const far = await reached('named');
  const near = await reached('local');
  expect(far.websocket.extensions).toBe('permessage-deflate');
  expect(near.websocket.extensions).toBe('');
  const frame = new WireFrame(sent);
  for (const { there, got, bytes } of [far, near]) {
    const before = bytes();
    there.send([frame]);
    await vi.waitFor(() => expect(got).toEqual([sent]), 10_000);
    const read = bytes() - before;
    if (there === far.there) expect(read).toBeLessThan(60_000);
    else expect(read).toBeGreaterThan(sent.length);
  }
  expect(compressedFrame(frame)).toBe(compressedFrame(frame));
});

it('[DEV-060] sends messages of every length in order, those at the edges of what is compressed too', async () => {
  const { there, got, bytes } = await reached('named');
  // Of the whole frame: the header of a short one has 4 bytes, that of a long one 10.
  const edges = [COMPRESSED_MIN_BYTES - 4, COMPRESSED_MAX_BYTES - 10].flatMap((edge) => [edge - 1, edge, edge + 1]);
  const texts = [0, 1, ...edges, 70_000, 3].map((length) => 'x'.repeat(length));
  const before = bytes();
  there.send(texts.map((text) => new WireFrame(text)));
  there.send([new WireFrame('last')]);
  await vi.waitFor(() => expect(got).toEqual([...texts, 'last']), 10_000);
  // The one above the limit went as it was; all others together take next to nothing.
  const whole = COMPRESSED_MAX_BYTES + 1;
  expect(bytes() - before).toBeGreaterThan(whole);
  expect(bytes() - before).toBeLessThan(whole + 10_000);
});

it('[DEV-060] compresses each of several messages that go out together', async () => {
  const { there, got, bytes } = await reached('named');
  const texts = ['x'.repeat(4_000), 'short', 'y'.repeat(4_000)];
  const before = bytes();
  there.send(texts.map((text) => new WireFrame(text)));
  await vi.waitFor(() => expect(got).toEqual(texts), 10_000);
  expect(bytes() - before).toBeLessThan(1_000);
});

it('[DEV-060] compresses a message in parts, with pings between them and an empty one among them', async () => {
  const { there, got, websocket, bytes } = await reached('named');
  const texts = [prose(100_000), '', 'é', prose(100_000), ''];
  const before = bytes();
  for (const [index, text] of texts.entries()) {
    const bytes = Buffer.from(text.slice(10));
    there.sendPart?.({ text: text.slice(0, 10), bytes, isFirst: index === 0, isLast: index === texts.length - 1 });
    websocket.ping();
    if (index === 1) await once(websocket, 'pong');
  }
  there.send([new WireFrame('behind')]);
  await vi.waitFor(() => expect(got).toEqual([texts.join(''), 'behind']), 10_000);
  expect(bytes() - before).toBeLessThan(120_000);
});

it('[DEV-060] takes compressed messages, and ends a connection whose short message unpacks to more than is allowed', async () => {
  const server = await startEcho({ policy: POLICY });
  const options = { ...named(server.port), perMessageDeflate: { threshold: 0 } };
  const websocket = await openClient(server.port, options);
  expect(await ask(websocket, 'x'.repeat(50_000))).toBe('x'.repeat(50_000));
  const bomb = 'x'.repeat(PAYLOAD_MAX_BYTES + 1);
  expect(deflateRawSync(bomb).length).toBeLessThan(20_000);
  const closed = closeOf(websocket);
  websocket.send(bomb);
  expect((await closed).code).toBe(1009);
});
