/** Reads a whole file of the host, in pieces where it is large. */
import type { Client } from '@atrium/client';
import { callRaw } from '../connect/call-raw.js';

/** One answer of a host carries no more than 4 MiB. */
const PIECE_BYTES = 2 * 1024 * 1024;
/** What fits into the memory of a small command. */
const FILE_MAX_BYTES = 512 * 1024 * 1024;

interface Piece {
  readonly data: string;
  readonly encoding: string;
  /** Of the whole file; only hosts that can read pieces say it. */
  readonly size?: number;
}

export async function readBytes(client: Client, uri: string, maxBytes = FILE_MAX_BYTES): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let start = 0; ; ) {
    const range = { start, end: start + PIECE_BYTES };
    const piece = (await callRaw(client, 'resourceRead', { uri, encoding: 'base64', range })) as Piece;
    const bytes = Buffer.from(piece.data, piece.encoding === 'base64' ? 'base64' : 'utf8');
    pieces.push(bytes);
    start += bytes.length;
    if (piece.size === undefined || start >= piece.size || bytes.length === 0) return Buffer.concat(pieces);
    if (piece.size > maxBytes)
      throw new Error(`${uri} has ${piece.size} bytes; no more than ${maxBytes} can be read here`);
  }
}
