/** The one way to anything on disk: check what is asked for, find it, hold its folder, then act. */

import { RequestError } from '../../core/contracts/request-error.js';
import { checkAllowedPath } from '../../core/util/forbidden-paths.js';
import { asAnswer, codeOf, denied, MovedError, notFound, refused } from './errors.js';
import { filePathOf } from './file-uri.js';
import type { Granted } from './granted.js';
import { SWAPS_MAX } from './limits.js';
import { type PinnedFolder, pinFolder } from './pinned-folder.js';
import type { Access, RootTable } from './roots.js';
import { type Found, walk } from './walk.js';

export interface Asked {
  readonly uri: string;
  readonly clientId: string;
  readonly wanted: Access;
  /** Whether a link at the very end stands for what it leads to; otherwise for itself. */
  readonly followLast?: boolean;
}

/** Something on disk, or a place for it, with its folder held open. */
export interface Place extends Found {
  readonly uri: string;
  /** The path that was asked for. */
  readonly asked: string;
  readonly held: PinnedFolder;
  /** Its name in the folder that is held; when more is missing, the first that is. */
  readonly name: string;
  /** Fails when it must stay as a whole: sessions work in it, or something in it is not for clients to change. */
  checkMayGo(): void;
  /** The directory of customizations that it lies in. */
  readonly directory: string | undefined;
}

export class Places {
  constructor(private readonly granted: Granted) {}

  /** Acts on what is there now. When it is exchanged at the same moment, it is looked for anew. */
  async at<T>(asked: Asked, act: (place: Place) => Promise<T>): Promise<T> {
    const { uri } = asked;
    const file = filePathOf(uri);
    if ('problem' in file) throw refused(`${uri}: ${file.problem}`);
    try {
      await this.granted.prepare(file.path, asked.wanted);
      for (let attempt = 1; ; attempt++) {
        const outcome = await this.#attempt(asked, file.path, act);
        if ('done' in outcome) return outcome.done;
        if (attempt === SWAPS_MAX) throw outcome.moved;
      }
    } catch (error) {
      throw error instanceof RequestError ? error : asAnswer(error, uri);
    }
  }

  async #attempt<T>(
    asked: Asked,
    file: string,
    act: (place: Place) => Promise<T>,
  ): Promise<{ done: T } | { moved: unknown }> {
    const table = await this.granted.tableFor(asked.clientId);
    try {
      const found = await find(table, asked, file);
      const facts = factsOf(table, found, file);
      // From here on, whatever fails, the folder has to be let go of.
      const held = await pinFolder(found.folder);
      return { done: await act({ ...found, ...facts, uri: asked.uri, asked: file, held }).finally(() => held.close()) };
    } catch (error) {
      // A link has come to where none was.
      if (error instanceof MovedError || codeOf(error) === 'ELOOP') return { moved: error };
      throw error;
    }
  }

  /** Whether a path leads to a folder, as far as the client may know. */
  async isFolder(clientId: string, file: string): Promise<boolean> {
    const found = await walk(await this.granted.tableFor(clientId), file, { wanted: 'list', followLast: true });
    return 'stats' in found && found.stats?.isDirectory() === true;
  }
}

function factsOf(table: RootTable, { real, names }: Found, file: string) {
  const directory = table.directoryOf(file);
  // Links in such a directory are followed only as long as they stay inside of it.
  if (directory !== undefined && table.directoryOf(real) !== directory)
    throw refused('a link leads out of the directory');
  return { name: names[0] ?? '', checkMayGo: () => checkMayGo(table, real), directory };
}

function checkMayGo(table: RootTable, real: string): void {
  if (table.holdsRoot(real)) throw refused(`${real} holds a folder that sessions work in, and stays as it is`);
  if (table.holdsClosed(real)) throw refused(`${real} is where other tools keep what clients do not change, and stays`);
}

async function find(table: RootTable, { uri, wanted, followLast = true }: Asked, file: string): Promise<Found> {
  const found = await walk(table, file, { wanted, followLast });
  if (!('problem' in found)) {
    await checkAllowedPath(found.real, uri);
    return found;
  }
  if (found.problem === 'outside') throw denied(uri, wanted);
  throw notFound(uri, found.problem === 'loop' ? 'is a link that leads back to itself, or too far' : undefined);
}
