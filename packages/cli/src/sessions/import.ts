/** Puts a session from a file into a host, in pages that fit into a message. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@atrium/client';
import { ROOT_CHANNEL, type Turn } from '@atrium/protocol';
import { callRaw } from '../connect/call-raw.js';
import type { KeptContent, SessionArchive } from './archive-file.js';

const METHOD = 'atrium/importSession';
const CONTENT_METHOD = 'atrium/keepContent';
/** The host reads messages of two megabytes. */
const PAGE_MAX_BYTES = 1_000_000;
/** A larger turn, and every large content, travels in pieces. A character takes up to three bytes. */
const PIECE_CHARACTERS = 500_000;

export interface ImportOptions {
  /** The agent to go on with, when the one of the file is not here. */
  readonly agent?: string;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Resolves with the URI of the new session. */
export async function importSession(client: Client, archive: SessionArchive, options: ImportOptions): Promise<string> {
  const { header, turns } = archive;
  const channel = `ahp-session:/${randomUUID()}`;
  const { summary, config } = header.state;
  const state = { summary: { ...summary, ...(options.agent && { provider: options.agent }) }, config };
  for (const content of archive.contents) await sendContent(client, content);
  let start = 0;
  for (const page of pagesOf(turns)) {
    if (typeof page === 'string') await sendPieces(client, { channel, start }, page);
    else await callRaw(client, METHOD, { channel, start, turns: page });
    start += typeof page === 'string' ? 1 : page.length;
    options.onProgress?.(start, turns.length);
  }
  await callRaw(client, METHOD, { channel, start, turns: [], state });
  return channel;
}

async function sendPieces(client: Client, place: { channel: string; start: number }, json: string): Promise<void> {
  for (const piece of piecesOf(json)) await callRaw(client, METHOD, { ...place, piece });
}

async function sendContent(client: Client, { content: uri, encoding, data }: KeptContent): Promise<void> {
  const base64 = encoding === 'base64' ? data : Buffer.from(data).toString('base64');
  for (const piece of piecesOf(base64)) await callRaw(client, CONTENT_METHOD, { channel: ROOT_CHANNEL, uri, ...piece });
}

function* piecesOf(whole: string): Generator<{ at: number; text: string; isLast: boolean }> {
  for (let at = 0; at < whole.length; at += PIECE_CHARACTERS) {
    yield { at, text: whole.slice(at, at + PIECE_CHARACTERS), isLast: at + PIECE_CHARACTERS >= whole.length };
  }
}

/** Turns that go together, or the JSON of one that is too large for a message. */
function* pagesOf(turns: readonly Turn[]): Generator<readonly Turn[] | string> {
  let page: Turn[] = [];
  let bytes = 0;
  for (const turn of turns) {
    const json = JSON.stringify(turn);
    const size = Buffer.byteLength(json);
    if (page.length > 0 && bytes + size > PAGE_MAX_BYTES) {
      yield page;
      page = [];
      bytes = 0;
    }
    if (size > PAGE_MAX_BYTES) yield json;
    else {
      page.push(turn);
      bytes += size;
    }
  }
  if (page.length > 0) yield page;
}
