/** `resourceRead`, `resourceResolve` and `resourceList`: the requests that change nothing. */
import { createHash } from 'node:crypto';
import type { BigIntStats, Dir, Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Access } from '@atrium/core/contracts/access.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { sizeText } from '@atrium/core/util/text.js';
import { PAYLOAD_MAX_BYTES } from '@atrium/core/wire/limits.js';
import {
  type DirectoryEntry,
  ErrorCode,
  type ResourceListResult,
  type ResourceReadParams,
  type ResourceReadResult,
  type ResourceResolveParams,
  type ResourceResolveResult,
  type ResourceType,
} from '@atrium/protocol/ahp-1';
import { isText, typeOfFile } from './content-type.js';
import type { FileAccess, PinnedEntry } from './file-access.js';
import { codeOf, denied, invalid, notFound, refused } from './file-errors.js';
import { type OpenFile, pinFolder, READING, readBytes, withFile } from './pinned-folder.js';
import { suffices } from './roots.js';

/** How much of a file one answer holds. Even as base64 this fits into a frame that our clients accept. */
export const READ_MAX_BYTES = 4 * 2 ** 20;
/** How many entries of a folder one answer holds. */
export const LIST_MAX_ENTRIES = 50_000;
/** How many links of a folder are resolved at the same time, and how long all of them may take. */
const LIST_LINKS_AT_ONCE = 16;
const LIST_LINKS_MAX_MS = 2_000;
/** Smaller files are identified by their content, larger ones by their date. */
const ETAG_HASH_MAX_BYTES = 256 * 2 ** 10;
const HASH_CHARACTERS = 32;
/** How many names are fetched from the system at once. */
const BUFFERED_NAMES = 1_024;

export interface StoredContent {
  readonly bytes: Uint8Array;
  readonly contentType?: string;
}

/** Reads contents that the host refers to by URI. Each kind of store has its own URI scheme. */
export interface ContentReader {
  /** The scheme of its URIs, such as `atrium-changes:`. */
  readonly scheme: string;
  /** Undefined when the content does not exist. */
  read(uri: string): Promise<StoredContent | undefined>;
  /** Whether a content exists for a limited client. Absent: its URI names its session. */
  existsFor?(access: Access, uri: string): Promise<boolean>;
}

export async function readFile(files: FileAccess, clientId: string, params: ResourceReadParams) {
  const { uri } = params;
  const range = rangeOf(params);
  const piece = await files.at({ uri, clientId, access: 'read' }, (entry) =>
    withFile(entry, READING, async (file): Promise<Piece> => {
      const size = Number(file.stats.size);
      const { start, end } = within(range, size, uri);
      return { bytes: await readBytes(file, start, end), size, contentType: typeOfFile(entry.real) };
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

/** Our own extension: a range of bytes, for files that are too large for one answer. */
interface ByteRange {
  readonly start: number;
  /** The offset after the last byte. */
  readonly end: number;
}

/** Some bytes, and the size of the whole. */
interface Piece {
  readonly bytes: Buffer;
  readonly size: number;
  readonly contentType?: string | undefined;
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

/** The range must fit into one answer. As in `slice`, it may reach beyond the end. */
function within(range: ByteRange | undefined, size: number, uri: string): ByteRange {
  const start = Math.min(range?.start ?? 0, size);
  const end = Math.min(range?.end ?? size, size);
  if (end - start <= READ_MAX_BYTES) return { start, end };
  const limit = `one answer carries ${sizeText(READ_MAX_BYTES)}`;
  throw new RequestError(ErrorCode.InvalidParams, `${uri} has ${sizeText(size)}, and ${limit}: read it in ranges`);
}

/** Sends text as text, unless base64 is preferred or escaping would make it too long. */
function resultOf(
  { bytes, size, contentType }: Piece,
  { encoding, ...params }: ResourceReadParams,
): ResourceReadResult {
  const besides = { ...(contentType !== undefined && { contentType }), ...('range' in params && { size }) };
  const text = encoding !== 'base64' && isText(bytes) ? bytes.toString('utf8') : undefined;
  if (text !== undefined && fits(text)) return { data: text, encoding: 'utf-8', ...besides };
  return { data: bytes.toString('base64'), encoding: 'base64', ...besides };
}

/** A character takes up to six bytes in JSON, so most texts need not be counted. */
function fits(text: string): boolean {
  return text.length * 6 <= PAYLOAD_MAX_BYTES || Buffer.byteLength(JSON.stringify(text)) <= PAYLOAD_MAX_BYTES;
}

/** `resourceResolve`: the type and the real path. Clients use it to find out whether something exists. */
export function resolveResource(
  files: FileAccess,
  clientId: string,
  { uri, followSymlinks = true }: ResourceResolveParams,
): Promise<ResourceResolveResult> {
  return files.at({ uri, clientId, access: 'list', followLast: followSymlinks }, async (entry) => {
    const { stats, access } = entry;
    if (!stats) throw notFound(uri);
    if (!suffices(access, 'read') && !stats.isDirectory()) throw denied(uri, 'read');
    const type = typeOf(stats);
    if (!type) throw refused(`${uri} is neither a file nor a folder`);
    const isAsAsked = !followSymlinks || entry.real === entry.asked;
    return {
      uri: isAsAsked ? uri : pathToFileURL(entry.real).href,
      type,
      ...(type !== 'directory' && { size: Number(stats.size) }),
      mtime: stats.mtime.toISOString(),
      ctime: stats.birthtime.toISOString(),
      ...(type === 'file' && (await fileFacts(entry))),
    };
  });
}

function typeOf(stats: BigIntStats): ResourceType | undefined {
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symlink';
  return stats.isFile() ? 'file' : undefined;
}

/** A file that the host cannot read has no version to compare. */
async function fileFacts(entry: PinnedEntry): Promise<Pick<ResourceResolveResult, 'contentType' | 'etag'>> {
  const contentType = typeOfFile(entry.real);
  const etag = await withFile(entry, READING, etagOf).catch((error) => {
    if (codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return undefined;
    throw error;
  });
  return { ...(contentType !== undefined && { contentType }), ...(etag !== undefined && { etag }) };
}

/**
 * Identifies a version of a file. A small file is identified by its content, so that two changes within one clock tick
 * differ.
 */
export async function etagOf(file: OpenFile): Promise<string> {
  const { size, mtimeNs, ctimeNs, ino } = file.stats;
  if (size > ETAG_HASH_MAX_BYTES) return [size, mtimeNs, ctimeNs, ino].map((part) => part.toString(36)).join('-');
  const hash = createHash('sha256').update(await readBytes(file, 0, Number(size)));
  return hash.digest('base64url').slice(0, HASH_CHARACTERS);
}

export function listFolder(files: FileAccess, clientId: string, uri: string): Promise<ResourceListResult> {
  return files.at({ uri, clientId, access: 'list' }, async (entry) => {
    const { real, stats, access } = entry;
    if (!stats) throw notFound(uri);
    if (!stats.isDirectory()) throw invalid(`${uri} is not a folder`);
    const found = await namesIn(entry);
    const shown = suffices(access, 'read') ? found : found.filter(({ name }) => !name.startsWith('.'));
    const links = await linkKinds(
      shown.filter((entry) => entry.isSymbolicLink()),
      (name) => files.isFolder(clientId, path.join(real, name)),
    );
    return { entries: shown.flatMap((entry) => entryOf(entry, links)) };
  });
}

async function namesIn({ real, uri }: PinnedEntry): Promise<Dirent[]> {
  const folder = await pinFolder(real);
  try {
    const opened = await opendir(folder.self, { bufferSize: BUFFERED_NAMES });
    const found = await readUpTo(LIST_MAX_ENTRIES, opened).finally(() => opened.close());
    if (found) return found;
    throw new RequestError(ErrorCode.InvalidParams, `${uri} has more than ${LIST_MAX_ENTRIES} entries`);
  } finally {
    await folder.close();
  }
}

/** Undefined when there are more. Uses callbacks, because a promise for each entry takes twice the time. */
export function readUpTo(max: number, folder: Pick<Dir, 'read'>): Promise<Dirent[] | undefined> {
  const found: Dirent[] = [];
  return new Promise((resolve, reject) => {
    const next = () =>
      folder.read((error, entry) => {
        if (error) reject(error);
        else if (!entry) resolve(found);
        else if (found.push(entry) > max) resolve(undefined);
        else next();
      });
    next();
  });
}

/**
 * Which links lead to folders. A link that leads out of what the client may see does not even tell that; neither do
 * links for which the time is not enough.
 */
async function linkKinds(
  links: readonly Dirent[],
  isFolder: (name: string) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  const folders = new Set<string>();
  const limit = performance.now() + LIST_LINKS_MAX_MS;
  for (let at = 0; at < links.length && performance.now() < limit; at += LIST_LINKS_AT_ONCE) {
    const some = links.slice(at, at + LIST_LINKS_AT_ONCE);
    await Promise.all(some.map(async ({ name }) => (await isFolder(name)) && folders.add(name)));
  }
  return folders;
}

/** Leaves out devices, pipes and sockets. */
function entryOf(entry: Dirent, folderLinks: ReadonlySet<string>): DirectoryEntry[] {
  const { name } = entry;
  if (entry.isDirectory() || folderLinks.has(name)) return [{ name, type: 'directory' }];
  return entry.isFile() || entry.isSymbolicLink() ? [{ name, type: 'file' }] : [];
}
