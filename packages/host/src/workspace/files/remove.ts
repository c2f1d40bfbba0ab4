/** `resourceDelete`: a file, a link itself, a folder. A folder with something in it only when that is asked for. */
import { rmdir } from 'node:fs/promises';
import type { ResourceDeleteParams } from '@atrium/protocol';
import { codeOf, invalid, notFound } from './errors.js';
import type { Places } from './places.js';
import { removeTree } from './tree.js';

export function remove(places: Places, clientId: string, { uri, recursive = false }: ResourceDeleteParams) {
  return places.at({ uri, clientId, wanted: 'write', followLast: false }, async ({ stats, held, name, checkMayGo }) => {
    if (!stats) throw notFound(uri);
    checkMayGo();
    if (recursive || !stats.isDirectory()) return removeTree({ folder: held, name });
    await rmdir(held.at(name)).catch((error) => {
      if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST') {
        throw invalid(`${uri} is not empty: delete it with recursive: true`);
      }
      throw error;
    });
  });
}
