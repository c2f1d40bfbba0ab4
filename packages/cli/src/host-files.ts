/** `atrium files`: lists, reads and writes files of the host's machine. */
import { pathToFileURL } from 'node:url';
import type { Client } from '@atrium/client';
import { UsageError } from './exit.js';
import { io, print, printJson, tell } from './io.js';
import { findSession } from './sessions/find-session.js';
import { folderOf } from './sessions/summary-text.js';
import { printable } from './text/printable.js';

/** A larger file does not fit into one message to the host. */
const WRITE_MAX_BYTES = 4 * 1024 * 1024;

export interface FilesOptions {
  readonly session?: string;
  readonly json?: boolean;
  readonly append?: boolean;
  readonly create?: boolean;
}

export async function list(client: Client, name: string, options: FilesOptions): Promise<void> {
  const { entries } = await client.request('resourceList', { uri: await uriOf(client, name, options) });
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (options.json) return printJson(sorted);
  for (const entry of sorted) print(`${printable(entry.name)}${entry.type === 'directory' ? '/' : ''}`);
}

export async function read(client: Client, name: string, options: FilesOptions): Promise<void> {
  const uri = await uriOf(client, name, options);
  const bytes = await readBytes(client, uri);
  if (options.json) return printJson({ uri, encoding: 'base64', data: bytes.toString('base64') });
  io().stdout.write(bytes);
}

export async function write(client: Client, name: string, options: FilesOptions): Promise<void> {
  if (io().stdin.isTTY) tell('Reading standard input; Ctrl+D ends it.');
  const bytes = await standardInput();
  const uri = await uriOf(client, name, options);
  await client.request('resourceWrite', {
    uri,
    data: bytes.toString('base64'),
    encoding: 'base64',
    ...(options.append && { mode: 'append' as const }),
    ...(options.create && { createOnly: true }),
  });
  if (options.json) printJson({ uri, bytes: bytes.length });
  else tell(`Wrote ${bytes.length} bytes.`);
}

async function uriOf(client: Client, name: string, { session }: FilesOptions): Promise<string> {
  if (session === undefined) return fileAt(folderUri(io().cwd), name);
  const folder = folderOf(findSession(await client.listSessions(), session));
  if (folder === undefined) throw new UsageError('--session: that session has no folder');
  return fileAt(folder, name);
}

async function standardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of io().stdin) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > WRITE_MAX_BYTES)
      throw new UsageError(`no more than ${WRITE_MAX_BYTES} bytes can be written at once; --append adds more`);
  }
  return Buffer.concat(chunks);
}

/** `name` is a path within the folder, a whole path, or an address. */
export function fileAt(folder: string, name: string): string {
  if (/^[a-z][a-z\d+.-]+:/i.test(name)) return name;
  const path = name.replace(/^~(?=\/|$)/, io().env.HOME ?? '~');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return new URL(encoded, `${folder.replace(/\/+$/, '')}/`).href;
}

function folderUri(path: string): string {
  return pathToFileURL(path).href;
}

/** The size of a piece; one answer of a host carries at most 4 MiB. */
const PIECE_BYTES = 2 * 1024 * 1024;
/** The command holds the whole file in memory. */
const FILE_MAX_BYTES = 512 * 1024 * 1024;

interface Piece {
  readonly data: string;
  readonly encoding: string;
  /** The size of the whole file; only hosts that can read pieces send it. */
  readonly size?: number;
}

export async function readBytes(client: Client, uri: string, maxBytes = FILE_MAX_BYTES): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let start = 0; ; ) {
    const range = { start, end: start + PIECE_BYTES };
    const piece = (await client.requestExtension('resourceRead', { uri, encoding: 'base64', range })) as Piece;
    const bytes = Buffer.from(piece.data, piece.encoding === 'base64' ? 'base64' : 'utf8');
    pieces.push(bytes);
    start += bytes.length;
    if (piece.size === undefined || start >= piece.size || bytes.length === 0) return Buffer.concat(pieces);
    if (piece.size > maxBytes)
      throw new Error(`${uri} has ${piece.size} bytes; no more than ${maxBytes} can be read here`);
  }
}
