/**
 * Snapshots of a folder outside of any repository: the content of everything in it, except the output of tools. After
 * the first snapshot, the host reads only files whose time or size has changed.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isForbidden } from '@atrium/core/util/paths.js';
import { type BytePath, onDisk, shownPath } from '../git/byte-path.js';
import { SKIPPED_FOLDERS } from '../tools/walk.js';
import { Captures, captureAll } from './capture.js';
import { changeOf, isSame } from './change.js';
import type { Found, Snapshot, SnapshotFolder, SnapshotFolderOptions } from './folder-snapshots.js';
import { FOLDER_MAX_BYTES, FOLDER_MAX_FILES } from './limits.js';

/** Besides those that the tools skip. */
const MADE_BY_TOOLS: ReadonlySet<string> = new Set(['.hg', '.svn', '.venv', '__pycache__']);

const TOO_MUCH = `the folder has more than ${FOLDER_MAX_FILES} files, or ${FOLDER_MAX_BYTES / 2 ** 20} MiB, and no Git`;

export class PlainFolder implements SnapshotFolder {
  readonly kind = 'plain';
  readonly #captures: Captures;

  constructor(private readonly options: SnapshotFolderOptions) {
    this.#captures = new Captures(options.root, options.blobs);
  }

  async take(signal: AbortSignal): Promise<Snapshot> {
    const paths: BytePath[] = [];
    for await (const found of this.#paths(signal)) if (paths.push(found) > FOLDER_MAX_FILES) break;
    const { files, isCut } = await captureAll(this.#captures, paths.slice(0, FOLDER_MAX_FILES), signal);
    return { files, ...((isCut || paths.length > FOLDER_MAX_FILES) && { gap: TOO_MUCH }) };
  }

  async changes(before: Snapshot, after: Snapshot): Promise<Found> {
    const paths = [...new Set([...before.files.keys(), ...after.files.keys()])].sort();
    const changes = paths.flatMap((file) => {
      const [old, fresh] = [before.files.get(file)?.now, after.files.get(file)?.now];
      // If a snapshot was cut short, a file that it lacks may have existed.
      const isUnknown = (!old && before.gap !== undefined) || (!fresh && after.gap !== undefined);
      return isUnknown || isSame(old, fresh) ? [] : [changeOf(file, old, fresh)];
    });
    const gap = before.gap ?? after.gap;
    return { changes, ...(gap !== undefined && { gap }) };
  }

  /** Follows no links. An unreadable folder counts as empty. */
  async *#paths(signal: AbortSignal): AsyncGenerator<BytePath> {
    const { root, isOurs } = this.options;
    const waiting: BytePath[] = [''];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      signal.throwIfAborted();
      const options = { withFileTypes: true, encoding: 'latin1' } as const;
      const place = folder === '' ? Buffer.from(root) : onDisk(root, folder);
      if (await isForbidden(path.join(root, shownPath(folder)))) continue;
      const entries = await readdir(place, options).catch(() => []);
      for (const entry of entries) {
        const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (isOurs(name)) continue;
        if (entry.isFile() || entry.isSymbolicLink()) yield name;
        else if (entry.isDirectory() && !isMadeByTools(entry.name)) waiting.push(name);
      }
    }
  }
}

function isMadeByTools(name: string): boolean {
  return SKIPPED_FOLDERS.has(name) || MADE_BY_TOOLS.has(name);
}
