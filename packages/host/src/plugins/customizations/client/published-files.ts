/** Where a published plugin is read from: this machine, if its folder is here, or else its client. */
import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { PluginFiles } from '../parse/files.js';
import { localFiles } from '../parse/local-files.js';
import { type ClientPlace, clientFiles } from './client-files.js';

/** The folder of a `file:` URI; undefined for everything else. */
export function localFolder(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

/** A client may be on another machine, and its files with it. */
export async function publishedFiles(place: ClientPlace): Promise<PluginFiles> {
  const folder = localFolder(place.uri);
  return folder !== undefined && (await isThere(folder)) ? localFiles(folder) : clientFiles(place);
}

function isThere(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}
