/** Files of JSON Lines that another program writes, perhaps right now. */
import { createReadStream } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Json, objectOf } from './past-session.js';

export interface SessionFile {
  readonly path: string;
  readonly modifiedAt: string;
}

/** How many levels of folders are searched for the files of a program. */
const DEPTH_MAX = 5;
/** When a program has left more entries behind, the list is incomplete. */
const ENTRIES_MAX = 100_000;

/** The files below a folder that are named like sessions of a program, the newest first; links are not followed. */
export async function sessionFiles(folder: string, isSession: (name: string) => boolean): Promise<SessionFile[]> {
  const found: SessionFile[] = [];
  let left = ENTRIES_MAX;
  const look = async (place: string, depth: number): Promise<void> => {
    const entries = await opendir(place).catch(() => undefined);
    if (!entries) return;
    for await (const entry of entries) {
      if (left-- <= 0) return;
      const file = path.join(place, entry.name);
      if (entry.isDirectory() && depth < DEPTH_MAX) await look(file, depth + 1);
      else if (entry.isFile() && isSession(entry.name)) {
        const about = await stat(file).catch(() => undefined);
        if (about && about.size > 0) found.push({ path: file, modifiedAt: about.mtime.toISOString() });
      }
    }
  };
  await look(folder, 0);
  return found.sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1));
}

/** The objects of a file, one by one; undefined for a line that is not an object, such as a half-written one. */
export async function* jsonLines(file: string, maxBytes?: number): AsyncGenerator<Json | undefined, void, undefined> {
  const input = createReadStream(file, { encoding: 'utf8', ...(maxBytes !== undefined && { end: maxBytes - 1 }) });
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() !== '') yield parsed(line);
    }
  } finally {
    input.destroy();
  }
}

function parsed(line: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? objectOf(value) : undefined;
  } catch {
    return undefined;
  }
}
