/**
 * Compressed messages (permessage-deflate, RFC 7692) for clients beyond this machine. Every message is compressed by itself:
 * a connection costs no memory while nothing is sent, and what goes to many clients is compressed once for all of them. Short
 * messages, as text that streams, go as they are.
 */
import { constants, deflateRawSync } from 'node:zlib';
import { frameOf, type WireFrame } from '@atrium/core/wire/frames.js';
import type { MessagePart } from '@atrium/core/wire/transport.js';

/** A shorter message fits into one packet anyway. */
export const COMPRESSED_MIN_BYTES = 1_400;
/** A longer message goes as it is: compressing it would hold everybody up. Answers that can be so long go in parts. */
export const COMPRESSED_MAX_BYTES = 512 * 2 ** 10;
/** Hardly larger than with 6, in little more than half the time: 128 KiB take less than 2 ms. */
const LEVEL = 4;
/** Ends every piece; the receiver adds that of the last one itself (RFC 7692, 7.2.1). */
const PIECE_END_BYTES = 4;
/** Says that a message is compressed; stands in its first frame only. */
const COMPRESSED = 0x40;

/** What the host offers in the handshake. Neither side may refer to earlier messages. */
export const COMPRESSION_OFFER = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  /** Messages of all clients that are unpacked at once. */
  concurrencyLimit: 4,
};

const COMPRESSED_FRAMES = new WeakMap<WireFrame, Buffer>();

export function isWorthCompressing({ bytes }: WireFrame): boolean {
  return bytes >= COMPRESSED_MIN_BYTES && bytes <= COMPRESSED_MAX_BYTES;
}

/** The frame of a message that is worth it. The very same bytes go to every socket. */
export function compressedFrame(frame: WireFrame): Buffer {
  const known = COMPRESSED_FRAMES.get(frame);
  if (known) return known;
  const made = compressedPart({ text: frame.text, isFirst: true, isLast: true });
  COMPRESSED_FRAMES.set(frame, made);
  return made;
}

/** One part of a message. Parts refer to nothing before them, so that nothing is kept between them. */
export function compressedPart({ text, bytes, isFirst, isLast }: MessagePart): Buffer {
  const whole = bytes ? Buffer.concat([Buffer.from(text), bytes]) : text;
  const packed = deflateRawSync(whole, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH });
  const payload = isLast ? packed.subarray(0, -PIECE_END_BYTES) : packed;
  return frameOf(payload, { isFirst, isLast, bits: isFirst ? COMPRESSED : 0 });
}
