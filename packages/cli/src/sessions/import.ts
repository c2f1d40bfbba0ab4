/** Puts a session from a file into a host, in pages that fit into a message. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@atrium/client';
import type { Turn } from '@atrium/protocol';
import { callRaw } from '../connect/call-raw.js';
import type { SessionArchive } from './archive-file.js';

const METHOD = 'atrium/importSession';
/** The host reads messages of two megabytes; a turn of that size travels alone. */
const PAGE_MAX_BYTES = 1_000_000;

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
  let start = 0;
  for (const page of pagesOf(turns)) {
    await callRaw(client, METHOD, { channel, start, turns: page });
    start += page.length;
    options.onProgress?.(start, turns.length);
  }
  await callRaw(client, METHOD, { channel, start, turns: [], state });
  return channel;
}

function* pagesOf(turns: readonly Turn[]): Generator<readonly Turn[]> {
  let page: Turn[] = [];
  let bytes = 0;
  for (const turn of turns) {
    const size = Buffer.byteLength(JSON.stringify(turn));
    if (page.length > 0 && bytes + size > PAGE_MAX_BYTES) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(turn);
    bytes += size;
  }
  if (page.length > 0) yield page;
}
