/** Makes sure that what was written, or renamed, survives a power cut. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

export function syncFile(path: string): void {
  sync(path, 'r+');
}

/** Names live in the folder. Windows has no such call, and needs none. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') sync(folder, 'r');
}

function sync(path: string, flags: string): void {
  const handle = openSync(path, flags);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
