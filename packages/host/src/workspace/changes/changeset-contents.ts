/** Reads the two sides of a change: blobs, files of commits, and files on disk whose names are not valid text. */
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import { looksBinary } from '@atrium/core/util/text.js';
import type { ContentReader, StoredContent } from '../files/read.js';
import { asText, type BytePath, onDisk, percentDecoded } from '../git/byte-path.js';
import { findRepository } from '../git/repository.js';
import { trackedContent } from '../git/stored-files.js';
import { plainContent } from '../tools/plain-content.js';
import { CONTENT_MAX_BYTES } from './limits.js';
import { checkFolders } from './put-files.js';
import { CONTENT_SCHEME, sessionOf } from './uri.js';

/** Where a session's contents are. */
export interface ContentPlace {
  readonly blobs: BlobStore;
  /** The real paths of its folders, the first one first; empty when the first is gone. */
  roots(): Promise<readonly string[]>;
}

const OBJECT_NAME = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

export class ChangeContents implements ContentReader {
  readonly scheme = CONTENT_SCHEME;

  constructor(private readonly placeOf: (session: string) => Promise<ContentPlace | undefined>) {}

  async read(uri: string): Promise<StoredContent | undefined> {
    const [key = '', kind = '', ...rest] = uri.slice(`${CONTENT_SCHEME}/`.length).split('/');
    const session = sessionOf(key);
    const place = session === undefined ? undefined : await this.placeOf(session);
    const bytes = place && (await bytesOf(place, kind, rest));
    return bytes && { bytes, contentType: looksBinary(bytes) ? 'application/octet-stream' : 'text/plain' };
  }
}

async function bytesOf(place: ContentPlace, kind: string, rest: readonly string[]): Promise<Buffer | undefined> {
  if (rest.length === 0) return place.blobs.get(kind);
  const roots = await place.roots();
  if (kind === 'git' || kind === 'folder') return inFolder(roots[0], kind, rest);
  const [further = '', ...inside] = rest;
  // Only a folder that the session has now.
  const root = roots.find((each) => encodeURIComponent(each) === further);
  if (kind === 'git-in') return inFolder(root, 'git', inside);
  return kind === 'folder-in' ? inFolder(root, 'folder', inside) : undefined;
}

async function inFolder(
  root: string | undefined,
  kind: 'git' | 'folder',
  rest: readonly string[],
): Promise<Buffer | undefined> {
  if (root === undefined) return undefined;
  if (kind === 'folder') return fileByBytePath(root, percentDecoded(rest.join('/')));
  const [oid = '', ...path] = rest;
  if (!OBJECT_NAME.test(oid)) return undefined;
  const repository = await findRepository(root);
  const file = { path: percentDecoded(path.join('/')), oid };
  return repository && trackedContent(repository, file).catch(() => undefined);
}

/** All other files have a `file:` URI, with its own rules about who may read it. */
async function fileByBytePath(root: string, path: BytePath): Promise<Buffer | undefined> {
  const names = path.split('/');
  if (asText(path) !== undefined || names.some((name) => ['', '.', '..'].includes(name))) return undefined;
  const isInside = await checkFolders(root, path).then(
    () => true,
    () => false,
  );
  return isInside ? plainContent(onDisk(root, path), CONTENT_MAX_BYTES).catch(() => undefined) : undefined;
}
