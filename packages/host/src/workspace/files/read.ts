/** `resourceRead`: a file, or some of its bytes, or what is kept by reference. */
import { ErrorCode, type ResourceReadParams, type ResourceReadResult } from '@atrium/protocol';
import { RequestError } from '../../core/contracts/request-error.js';
import { PAYLOAD_MAX_BYTES } from '../../core/limits.js';
import { sizeText } from '../../core/util/text.js';
import type { ContentReader } from './content.js';
import { typeOfFile } from './content-type.js';
import { invalid, notFound } from './errors.js';
import { READ_MAX_BYTES } from './limits.js';
import type { Places } from './places.js';
import { READING, readBytes, withFile } from './plain-file.js';
import { isText } from './text-bytes.js';

/** Our own extension: which bytes, for files that are too large for one answer. */
interface ByteRange {
  readonly start: number;
  /** Behind the last one. */
  readonly end: number;
}

/** Some bytes, and how many there are of the whole. */
interface Piece {
  readonly bytes: Buffer;
  readonly size: number;
  readonly contentType?: string | undefined;
}

export async function readFile(places: Places, clientId: string, params: ResourceReadParams) {
  const { uri } = params;
  const range = rangeOf(params);
  const piece = await places.at({ uri, clientId, wanted: 'read' }, (place) =>
    withFile(place, READING, async (file): Promise<Piece> => {
      const size = Number(file.stats.size);
      const { start, end } = within(range, size, uri);
      return { bytes: await readBytes(file, start, end), size, contentType: typeOfFile(place.real) };
    }),
  );
  return resultOf(piece, params);
}

export async function readContent(reader: ContentReader, params: ResourceReadParams) {
  const { uri } = params;
  const content = await reader.read(uri);
  if (!content) throw notFound(uri, 'is not (any longer) kept here');
  const { buffer, byteOffset, length: size } = content.bytes;
  const { start, end } = within(rangeOf(params), size, uri);
  const bytes = Buffer.from(buffer, byteOffset + start, end - start);
  return resultOf({ bytes, size, contentType: content.contentType }, params);
}

function rangeOf(params: object): ByteRange | undefined {
  const { range } = params as { range?: unknown };
  if (range === undefined) return undefined;
  const { start, end } = (range ?? {}) as Partial<ByteRange>;
  const isGood = Number.isSafeInteger(start) && Number.isSafeInteger(end) && Number(start) >= 0;
  if (!isGood || Number(end) < Number(start))
    throw invalid('/range must be { start, end }, in bytes, end not before start');
  return { start: Number(start), end: Number(end) };
}

/** What is asked for must fit into one answer. A range may reach beyond the end, as in `slice`. */
function within(range: ByteRange | undefined, size: number, uri: string): ByteRange {
  const start = Math.min(range?.start ?? 0, size);
  const end = Math.min(range?.end ?? size, size);
  if (end - start <= READ_MAX_BYTES) return { start, end };
  const limit = `one answer carries ${sizeText(READ_MAX_BYTES)}`;
  throw new RequestError(ErrorCode.InvalidParams, `${uri} has ${sizeText(size)}, and ${limit}: read it in ranges`);
}

/** Text as text unless base64 is preferred, or so much of it has to be escaped that it would not fit. */
function resultOf(
  { bytes, size, contentType }: Piece,
  { encoding, ...params }: ResourceReadParams,
): ResourceReadResult {
  const besides = { ...(contentType !== undefined && { contentType }), ...('range' in params && { size }) };
  const text = encoding !== 'base64' && isText(bytes) ? bytes.toString('utf8') : undefined;
  if (text !== undefined && fits(text)) return { data: text, encoding: 'utf-8', ...besides };
  return { data: bytes.toString('base64'), encoding: 'base64', ...besides };
}

/** A character takes up to six bytes in JSON, so that most texts need not be counted. */
function fits(text: string): boolean {
  return text.length * 6 <= PAYLOAD_MAX_BYTES || Buffer.byteLength(JSON.stringify(text)) <= PAYLOAD_MAX_BYTES;
}
