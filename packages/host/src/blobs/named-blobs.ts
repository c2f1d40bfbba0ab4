/** The blobs that sessions name: clients read them, and upload those of a session that they import. */
import { createHash } from 'node:crypto';
import { BLOB_SCHEME, type BlobStore, blobHash } from '@atrium/core/contracts/blobs.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { gathered } from '@atrium/core/sessions/session-import.js';
import { BLOB_MAX_BYTES } from '@atrium/core/tool-calls/limits.js';
import { sizeText } from '@atrium/core/util/text.js';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { typeOfBytes } from '../workspace/files/content-type.js';
import type { ContentReader } from '../workspace/files/read.js';

export function blobReader(blobs: BlobStore, existsFor?: ContentReader['existsFor']): ContentReader {
  return {
    scheme: BLOB_SCHEME,
    ...(existsFor && { existsFor }),
    async read(uri) {
      const bytes = await blobs.get(blobHash(uri) ?? '');
      return bytes && { bytes, contentType: typeOfBytes(bytes) };
    },
  };
}

/**
 * Takes one piece of a blob's base64 from the client that sends it, and stores the blob with the last piece. A blob is
 * named by its hash, so no client can store anything under a false name.
 */
export async function putImported(
  blobs: BlobStore | undefined,
  params: Readonly<Record<string, unknown>>,
  sender: object,
): Promise<void> {
  const { uri, at, text, isLast } = params;
  const hash = typeof uri === 'string' ? blobHash(uri) : undefined;
  if (hash === undefined) throw invalid('/uri must be atrium-content:/<hash>');
  if (typeof at !== 'number' || typeof text !== 'string' || typeof isLast !== 'boolean')
    throw invalid('there must be a number /at, a string /text and a boolean /isLast');
  if (!blobs) throw invalid('this host has no folder for large contents');
  const { json: base64, problem } = gathered(sender, { channel: String(uri), start: 0, at, text, isLast });
  if (problem !== undefined) throw invalid(`the piece ${problem}`);
  if (base64 === undefined) return;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > BLOB_MAX_BYTES) throw invalid(`a content has at most ${sizeText(BLOB_MAX_BYTES)}`);
  if (createHash('sha256').update(bytes).digest('hex') !== hash) throw invalid('/uri is not the hash of this content');
  await blobs.put(bytes);
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, `atrium/keepContent: ${message}`);
}
