/**
 * A large content that comes with a session from elsewhere, in pieces of its base64. Its name is its hash, so that the
 * turns that name it are right here as they were there, and nothing can be put under a name that is not its own.
 */
import { createHash } from 'node:crypto';
import { ErrorCode } from '@atrium/protocol';
import { RequestError } from '../core/contracts/request-error.js';
import { gathered } from '../core/sessions/session-import.js';
import { sizeText } from '../core/util/text.js';
import { typeOfBytes } from '../workspace/files/content-type.js';
import { CONTENT_MAX_BYTES } from '../workspace/files/limits.js';
import { hashIn, type KeptContents } from './kept-contents.js';

/** `sender` is who sends the pieces. With the last one the content is kept, like a new one: until a session names it. */
export async function keepImported(
  contents: KeptContents | undefined,
  params: Readonly<Record<string, unknown>>,
  sender: object,
): Promise<void> {
  const { uri, at, text, isLast } = params;
  const hash = typeof uri === 'string' ? hashIn(uri) : undefined;
  if (hash === undefined) throw invalid('/uri must be atrium-content:/<hash>');
  if (typeof at !== 'number' || typeof text !== 'string' || typeof isLast !== 'boolean')
    throw invalid('there must be a number /at, a string /text and a boolean /isLast');
  if (!contents) throw invalid('this host has no folder for large contents');
  const { json: base64, problem } = gathered(sender, { channel: String(uri), start: 0, at, text, isLast });
  if (problem !== undefined) throw invalid(`the piece ${problem}`);
  if (base64 === undefined) return;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > CONTENT_MAX_BYTES) throw invalid(`a content has at most ${sizeText(CONTENT_MAX_BYTES)}`);
  if (createHash('sha256').update(bytes).digest('hex') !== hash) throw invalid('/uri is not the hash of this content');
  await contents.keep(bytes, typeOfBytes(bytes));
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, `atrium/keepContent: ${message}`);
}
