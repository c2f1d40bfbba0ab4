/** Sessions to files and back. */

import { open, readFile, rm } from 'node:fs/promises';
import { type Client, RequestError } from '@atrium/client';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import { print, printJson, tell } from '../output.js';
import { headerOf, parseArchive } from './archive-file.js';
import { namedContents, readContent, readSession } from './export.js';
import { importSession } from './import.js';
import { findSession, idOf, shortId } from './reference.js';

const OWNER_ONLY = 0o600;
/** Larger files do not fit into one text. */
const FILE_MAX_BYTES = 400 * 2 ** 20;

export async function exportTo(client: Client, name: string, file: string | undefined): Promise<void> {
  const { resource } = findSession(await client.listSessions(), name);
  const lines = archiveLines(client, resource);
  if (file === undefined) {
    for await (const line of lines) await written(line);
    return;
  }
  await writeNew(file, lines);
  tell(`Exported ${shortId(resource)} to ${file}`);
}

async function* archiveLines(client: Client, uri: string): AsyncGenerator<string, void, undefined> {
  const { state, total, pages } = await readSession(client, uri);
  if (state.activeTurn) tell('A turn is running; only what is finished is exported.');
  yield `${JSON.stringify(headerOf(state, total, new Date().toISOString()))}\n`;
  const known = new Set<string>();
  for await (const page of pages()) {
    const lines = page.map((turn) => `${JSON.stringify(turn)}\n`).join('');
    for (const name of namedContents(lines, known)) {
      const content = await readContent(client, name).catch(leftOut);
      if (content) yield `${JSON.stringify(content)}\n`;
    }
    yield lines;
  }
}

function leftOut(error: unknown): undefined {
  if (!(error instanceof RequestError)) throw error;
  tell(`A large result is not in the export: ${error.message}`);
}

/** Waits while nobody reads: a large session must not pile up in memory. */
function written(text: string): Promise<void> {
  return new Promise((resolve) => {
    if (io().stdout.write(text)) resolve();
    else io().stdout.once('drain', resolve);
  });
}

/** A session may hold secrets: the file is the user's alone. What is there already is never written over. */
async function writeNew(file: string, lines: AsyncIterable<string>): Promise<void> {
  const handle = await open(file, 'wx', OWNER_ONLY).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new UsageError(`${file} is there already; name another file`);
    const why = error.code === 'ENOENT' ? 'its folder is not there' : error.message;
    throw new UsageError(`${file} cannot be written: ${why}`);
  });
  try {
    for await (const line of lines) await handle.write(line);
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(file, { force: true });
    throw error;
  }
}

export interface ImportCommandOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

export async function importFrom(client: Client, file: string, options: ImportCommandOptions): Promise<void> {
  const archive = parseArchive(await readText(file));
  const onProgress = (done: number, total: number) => {
    if (io().stderr.isTTY && done < total) tell(`${done} of ${total} turns…`);
  };
  const { agent } = options;
  const uri = await importSession(client, archive, { ...(agent !== undefined && { agent }), onProgress });
  if (options.json) printJson({ session: uri, turns: archive.turns.length });
  else
    print(
      `Imported ${archive.turns.length} ${archive.turns.length === 1 ? 'turn' : 'turns'}. Go on with: atrium attach ${idOf(uri)}`,
    );
}

async function readText(file: string): Promise<string> {
  if (file === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of io().stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks).toString('utf8');
  }
  const text = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code})`);
  });
  if (text.length > FILE_MAX_BYTES) throw new UsageError(`${file} is larger than ${FILE_MAX_BYTES} bytes`);
  return text.toString('utf8');
}
