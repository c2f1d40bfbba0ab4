/** What `atrium files` does. */

import type { Client } from '@atrium/client';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import { print, printJson, tell } from '../output.js';
import { findSession } from '../sessions/reference.js';
import { printable } from '../text/printable.js';
import { fileAt, folderUri } from './place.js';
import { readBytes } from './read.js';

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
  if (session === undefined) return fileAt(folderUri(process.cwd()), name);
  const { workingDirectory } = findSession(await client.listSessions(), session);
  if (workingDirectory === undefined) throw new UsageError('--session: that session has no folder');
  return fileAt(workingDirectory, name);
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
