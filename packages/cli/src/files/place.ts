/** Names of files as people type them, as addresses within a folder of the host. */

import { pathToFileURL } from 'node:url';
import { io } from '../io.js';

/** `name` is a path within the folder, a whole path, or an address. */
export function fileAt(folder: string, name: string): string {
  if (/^[a-z][a-z\d+.-]+:/i.test(name)) return name;
  const path = name.replace(/^~(?=\/|$)/, io().env.HOME ?? '~');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return new URL(encoded, `${folder.replace(/\/+$/, '')}/`).href;
}

export function folderUri(path: string): string {
  return pathToFileURL(path).href;
}
