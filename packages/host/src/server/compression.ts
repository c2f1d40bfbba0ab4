/**
 * Compressed messages (permessage-deflate, RFC 7692) for clients beyond this machine. Every message is compressed by
 * itself, so an idle connection costs no memory and a message for many clients is compressed once. Short messages, such
 * as streamed text, are not compressed.
 */
import { constants, deflateRawSync } from 'node:zlib';
import { frameOf, type WireFrame } from '@atrium/core/wire/frames.js';
import type { MessagePart } from '@atrium/core/wire/transport.js';

/** A shorter message fits into one packet anyway. */
export const COMPRESSED_MIN_BYTES = 1_400;
/**
 * A longer message is sent uncompressed, because compressing it would delay all clients. Long answers are sent in parts
 * instead.
 */
export const COMPRESSED_MAX_BYTES = 512 * 2 ** 10;
/** Output is hardly larger than with level 6, in little more than half the time: 128 KiB take less than 2 ms. */
const LEVEL = 4;
/**
 * Every compressed piece ends with these bytes; the last piece omits them, and the receiver adds them (RFC 7692,
 * 7.2.1).
 */
const PIECE_END_BYTES = 4;
/** The bit that marks a message as compressed; only its first frame has it. */
const COMPRESSED = 0x40;

/** What the host offers in the handshake. Neither side may refer to earlier messages. */
export const COMPRESSION_OFFER = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  /** Messages of all clients that are decompressed at once. */
  concurrencyLimit: 4,
};

const COMPRESSED_FRAMES = new WeakMap<WireFrame, Buffer>();

export function isWorthCompressing({ bytes }: WireFrame): boolean {
  return bytes >= COMPRESSED_MIN_BYTES && bytes <= COMPRESSED_MAX_BYTES;
}

/** The compressed frame of a message that is worth compressing. All sockets share its bytes. */
export function compressedFrame(frame: WireFrame): Buffer {
  const known = COMPRESSED_FRAMES.get(frame);
  if (known) return known;
  const made = compressedPart({ text: frame.text, isFirst: true, isLast: true });
  COMPRESSED_FRAMES.set(frame, made);
  return made;
}

/** Compresses one part of a message. A part refers to nothing before it, so no state is kept between parts. */
export function compressedPart({ text, bytes, isFirst, isLast }: MessagePart): Buffer {
  const whole = bytes ? Buffer.concat([Buffer.from(text), bytes]) : text;
  const packed = deflateRawSync(whole, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH });
  const payload = isLast ? packed.subarray(0, -PIECE_END_BYTES) : packed;
  return frameOf(payload, { isFirst, isLast, bits: isFirst ? COMPRESSED : 0 });
}
