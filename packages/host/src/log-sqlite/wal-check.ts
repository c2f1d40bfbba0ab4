/**
 * Reads a write-ahead file as SQLite does, to detect the frames that SQLite silently drops: those that were cut off or
 * overwritten (decision 0031). Changes nothing. The format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

export type WalState =
  | { readonly at: 'whole' }
  /** The file ends inside a commit, which was therefore never acknowledged. The bytes from `from` on are useless. */
  | { readonly at: 'unfinished'; readonly from: number }
  /** Commits that were once whole are no longer readable. */
  | { readonly at: 'damaged'; readonly from: number };

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The lowest bit is the byte order of the checksums. */
const MAGIC = 0x377f0682;

type Sum = readonly [number, number];

interface Wal {
  readonly file: number;
  readonly size: number;
  readonly header: Buffer;
  readonly littleEndian: boolean;
  readonly frameBytes: number;
}

export function checkWal(path: string): WalState {
  if (!existsSync(path)) return { at: 'whole' };
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size === 0) return { at: 'whole' };
    if (size < HEADER_BYTES) return { at: 'unfinished', from: 0 };
    const wal = readHeader(file, size);
    return wal === undefined ? { at: 'damaged', from: 0 } : checkFrames(wal);
  } finally {
    closeSync(file);
  }
}

function readHeader(file: number, size: number): Wal | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(file, header, 0, HEADER_BYTES, 0);
  const magic = header.readUInt32BE(0);
  const littleEndian = magic === MAGIC;
  if (!littleEndian && magic !== MAGIC + 1) return undefined;
  if (!sumIs(checksum(header.subarray(0, 24), [0, 0], littleEndian), header, 24)) return undefined;
  return { file, size, header, littleEndian, frameBytes: FRAME_HEADER_BYTES + header.readUInt32BE(8) };
}

function checkFrames(wal: Wal): WalState {
  const { header, size, frameBytes, littleEndian } = wal;
  const frame = Buffer.alloc(frameBytes);
  let sum: Sum = [header.readUInt32BE(24), header.readUInt32BE(28)];
  let committed = HEADER_BYTES;
  let at = HEADER_BYTES;
  for (; at < size; at += frameBytes) {
    const read = readSync(wal.file, frame, 0, frameBytes, at);
    if (isLeftover(frame.subarray(0, read), wal)) break;
    if (read < frameBytes) return { at: 'unfinished', from: committed };
    sum = checksum(frame.subarray(FRAME_HEADER_BYTES), checksum(frame.subarray(0, 8), sum, littleEndian), littleEndian);
    if (!sameSalt(frame, wal) || !sumIs(sum, frame, 16)) return torn(wal, at, committed);
    if (frame.readUInt32BE(4) !== 0) committed = at + frameBytes;
  }
  if (hasCurrentFrameFrom(wal, at)) return { at: 'damaged', from: committed };
  return at > committed ? { at: 'unfinished', from: committed } : { at: 'whole' };
}

/** Frames are written in order: a bad one with good ones after it was once good. */
function torn(wal: Wal, at: number, committed: number): WalState {
  return { at: hasCurrentFrameFrom(wal, at + wal.frameBytes) ? 'damaged' : 'unfinished', from: committed };
}

/**
 * SQLite starts over at the front of the file without truncating it: frames of an earlier round, with another salt,
 * remain at its end.
 */
function isLeftover(frame: Buffer, wal: Wal): boolean {
  return frame.length >= 16 && frame.readUInt32BE(0) !== 0 && !sameSalt(frame, wal);
}

function hasCurrentFrameFrom(wal: Wal, start: number): boolean {
  const head = Buffer.alloc(FRAME_HEADER_BYTES);
  for (let at = start; at + FRAME_HEADER_BYTES <= wal.size; at += wal.frameBytes) {
    readSync(wal.file, head, 0, FRAME_HEADER_BYTES, at);
    if (sameSalt(head, wal)) return true;
  }
  return false;
}

function sameSalt(frame: Buffer, { header }: Wal): boolean {
  return frame.compare(header, 16, 24, 8, 16) === 0;
}

function checksum(bytes: Buffer, [start0, start1]: Sum, littleEndian: boolean): Sum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let s0 = start0;
  let s1 = start1;
  for (let at = 0; at < bytes.length; at += 8) {
    s0 = (s0 + words.getUint32(at, littleEndian) + s1) >>> 0;
    s1 = (s1 + words.getUint32(at + 4, littleEndian) + s0) >>> 0;
  }
  return [s0, s1];
}

function sumIs([s0, s1]: Sum, stored: Buffer, at: number): boolean {
  return stored.readUInt32BE(at) === s0 && stored.readUInt32BE(at + 4) === s1;
}
