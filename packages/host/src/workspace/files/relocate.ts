/** `resourceCopy` and `resourceMove`. What is in the way is replaced at the very end, when nothing can fail any more. */
import { rename } from 'node:fs/promises';
import type { ResourceCopyParams } from '@atrium/protocol';
import { isInside } from '../../core/util/paths.js';
import { alreadyThere, codeOf, invalid, notFound } from './errors.js';
import type { Place, Places } from './places.js';
import { takeName } from './take-name.js';
import { temporaryName } from './temporary.js';
import { copyTree, type Node, pathOf, removeTree } from './tree.js';

type Params = Pick<ResourceCopyParams, 'source' | 'destination' | 'failIfExists'>;

export function copy(places: Places, clientId: string, { source, destination, failIfExists = false }: Params) {
  return places.at({ uri: source, clientId, wanted: 'read' }, (from) =>
    places.at({ uri: destination, clientId, wanted: 'write', followLast: false }, async (to) => {
      if (isSame(from, to, failIfExists)) return;
      const finished = await copiedBeside(from, to);
      await putInPlace({ node: finished, isFolder: from.stats?.isDirectory() === true, to, failIfExists });
    }),
  );
}

/** A link is moved as a link. */
export function move(places: Places, clientId: string, { source, destination, failIfExists = false }: Params) {
  return places.at({ uri: source, clientId, wanted: 'write', followLast: false }, (from) =>
    places.at({ uri: destination, clientId, wanted: 'write', followLast: false }, async (to) => {
      from.checkMayGo();
      if (isSame(from, to, failIfExists)) return;
      const isFolder = from.stats?.isDirectory() === true;
      const node = { folder: from.held, name: from.name };
      await putInPlace({ node, isFolder, to, failIfExists }).catch(async (error) => {
        if (codeOf(error) !== 'EXDEV') throw error;
        await putInPlace({ node: await copiedBeside(from, to), isFolder, to, failIfExists });
        await removeTree(node);
      });
    }),
  );
}

/** Whether there is nothing to do. Fails when there is nothing that could be done. */
function isSame(from: Place, to: Place, failIfExists: boolean): boolean {
  if (!from.stats) throw notFound(from.uri);
  if (to.names.length > 1) throw notFound(to.uri, 'has no folder: make it with resourceMkdir first');
  if (to.stats && failIfExists) throw alreadyThere(to.uri);
  if (from.real === to.real) return true;
  if (isInside(from.real, to.real) || isInside(to.real, from.real)) {
    throw invalid('one of source and destination lies in the other');
  }
  to.checkMayGo();
  if (to.stats && to.stats.isDirectory() !== from.stats.isDirectory()) {
    throw alreadyThere(to.uri, 'is there already: a folder never replaces a file, nor a file a folder');
  }
  return false;
}

async function copiedBeside(from: Place, to: Place): Promise<Node> {
  const copied = { folder: to.held, name: temporaryName() };
  await to.held.check();
  try {
    await copyTree({ folder: from.held, name: from.name }, copied);
    return copied;
  } catch (error) {
    await removeTree(copied).catch(() => {});
    throw error;
  }
}

interface Putting {
  readonly node: Node;
  readonly isFolder: boolean;
  readonly to: Place;
  readonly failIfExists: boolean;
}

/** A folder that is in the way is set aside first, and comes back when the other cannot take its name. */
async function putInPlace({ node, isFolder, to, failIfExists }: Putting): Promise<void> {
  const target = { folder: to.held, name: to.name };
  const aside = { folder: to.held, name: temporaryName() };
  const isInTheWay = isFolder && to.stats !== undefined;
  if (isInTheWay) await rename(pathOf(target), pathOf(aside));
  try {
    await takeName({ from: pathOf(node), to: target, isFolder, mustBeNew: failIfExists });
  } catch (error) {
    if (isInTheWay) await rename(pathOf(aside), pathOf(target)).catch(() => {});
    throw error;
  }
  if (isInTheWay) await removeTree(aside);
}
