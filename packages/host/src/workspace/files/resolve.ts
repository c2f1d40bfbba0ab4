/** `resourceResolve`: what something is and where it really is. The way to find out whether it exists. */
import type { BigIntStats } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { ResourceResolveParams, ResourceResolveResult, ResourceType } from '@atrium/protocol';
import { typeOfFile } from './content-type.js';
import { codeOf, denied, notFound, refused } from './errors.js';
import { etagOf } from './etag.js';
import type { Place, Places } from './places.js';
import { READING, withFile } from './plain-file.js';
import { suffices } from './roots.js';

export function resolveResource(
  places: Places,
  clientId: string,
  { uri, followSymlinks = true }: ResourceResolveParams,
): Promise<ResourceResolveResult> {
  return places.at({ uri, clientId, wanted: 'list', followLast: followSymlinks }, async (place) => {
    const { stats, access } = place;
    if (!stats) throw notFound(uri);
    if (!suffices(access, 'read') && !stats.isDirectory()) throw denied(uri, 'read');
    const type = typeOf(stats);
    if (!type) throw refused(`${uri} is neither a file nor a folder`);
    const isAsAsked = !followSymlinks || place.real === place.asked;
    return {
      uri: isAsAsked ? uri : pathToFileURL(place.real).href,
      type,
      ...(type !== 'directory' && { size: Number(stats.size) }),
      mtime: stats.mtime.toISOString(),
      ctime: stats.birthtime.toISOString(),
      ...(type === 'file' && (await fileFacts(place))),
    };
  });
}

function typeOf(stats: BigIntStats): ResourceType | undefined {
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symlink';
  return stats.isFile() ? 'file' : undefined;
}

/** A file that the host may not read has no version that anybody could compare. */
async function fileFacts(place: Place): Promise<Pick<ResourceResolveResult, 'contentType' | 'etag'>> {
  const contentType = typeOfFile(place.real);
  const etag = await withFile(place, READING, etagOf).catch((error) => {
    if (codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return undefined;
    throw error;
  });
  return { ...(contentType !== undefined && { contentType }), ...(etag !== undefined && { etag }) };
}
