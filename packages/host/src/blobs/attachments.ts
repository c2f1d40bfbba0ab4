/**
 * `atrium/attach`: a client uploads a picture or a file for a message. It is stored once, under the hash of its bytes.
 */
import { type BlobStore, putNamed } from '@atrium/core/contracts/blobs.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { namedContent } from '@atrium/core/sessions/message-contents.js';
import type { Service } from '@atrium/core/sessions/service.js';
import { contentFacts } from '@atrium/core/util/content-types.js';
import { sizeText } from '@atrium/core/util/text.js';
import {
  ATTACH_METHOD,
  ATTACHMENT_MAX_BYTES,
  ATTACHMENT_NAME_MAX_CHARACTERS,
  type AttachResult,
  ErrorCode,
  type MessageResourceAttachment,
  unfitPicture,
} from '@atrium/protocol/ahp-1';

/** Base64 encodes three bytes as four characters. */
const BASE64_MAX_CHARACTERS = Math.ceil(ATTACHMENT_MAX_BYTES / 3) * 4;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

interface Begun {
  readonly name: string;
  readonly texts: string[];
  length: number;
}

/** What a connection has sent of a content so far. A connection sends one content after another. */
const begun = new WeakMap<object, Begun>();

type Params = Readonly<Record<string, unknown>>;

/** Without a folder for contents, clients are told that nothing can be attached. */
export function attachments(blobs: BlobStore | undefined): Service {
  return { extensionRequests: { [ATTACH_METHOD]: (caller, params) => attach(blobs, caller, params) } };
}

async function attach(blobs: BlobStore | undefined, sender: object, params: Params): Promise<AttachResult | null> {
  if (!blobs) throw invalid('this host has no folder for contents: start it with a data folder');
  const { name, type, isLast } = params;
  const base64 = gathered(sender, params);
  if (!isLast) return null;
  if (!BASE64.test(base64)) throw invalid('the pieces together must be base64');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > ATTACHMENT_MAX_BYTES) throw tooLarge();
  return attached(blobs, { bytes, name: String(name), type: typeof type === 'string' ? type : undefined });
}

function gathered(sender: object, { name, at, text, isLast }: Params): string {
  if (typeof name !== 'string' || name === '') throw invalid('/name must be a name');
  if (typeof at !== 'number' || typeof text !== 'string' || typeof isLast !== 'boolean')
    throw invalid('there must be a number /at, a string /text and a boolean /isLast');
  const known = at === 0 ? { name, texts: [], length: 0 } : begun.get(sender);
  begun.delete(sender);
  if (!known || known.name !== name || known.length !== at)
    throw invalid('the piece must follow the one before it: begin again with /at 0');
  if (at + text.length > BASE64_MAX_CHARACTERS) throw tooLarge();
  known.texts.push(text);
  known.length += text.length;
  if (isLast) return known.texts.join('');
  begun.set(sender, known);
  return '';
}

interface UploadedFile {
  readonly bytes: Buffer;
  readonly name: string;
  readonly type: string | undefined;
}

async function attached(blobs: BlobStore, { bytes, name, type }: UploadedFile): Promise<AttachResult> {
  if (bytes.length === 0) throw invalid(`${plainName(name)} is empty`);
  const facts = contentFacts(bytes, type);
  const { contentType, picture } = facts;
  const ref = await putNamed(blobs, bytes, contentType);
  const displayKind = picture ? 'image' : 'document';
  const label = plainName(name);
  const attachment = namedContent({ type: 'resource', label, displayKind }, ref, facts) as MessageResourceAttachment;
  const note = noteOn(label, { size: bytes.length, type, contentType, picture });
  return { attachment, ...(note !== undefined && { note }) };
}

/** The name of a file, without folders and invisible characters. */
function plainName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const visible = last.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return visible.slice(0, ATTACHMENT_NAME_MAX_CHARACTERS) || 'file';
}

interface AttachmentFacts {
  readonly size: number;
  readonly type: string | undefined;
  readonly contentType: string;
  readonly picture?: { readonly width: number; readonly height: number } | undefined;
}

const PICTURE_NAME = /\.(?:png|jpe?g|gif|webp|heic|heif|avif)$/i;

function noteOn(label: string, { size, type, contentType, picture }: AttachmentFacts): string | undefined {
  const unfit = picture && unfitPicture(size, picture);
  if (unfit !== undefined) return `${label} is attached, but no model sees it: ${unfit}.`;
  if (contentType === 'image/heic' || contentType === 'image/avif')
    return `${label} is attached as a file: no model accepts ${contentType}. Attach it as JPEG or PNG so that models see it.`;
  const isCalledPicture = PICTURE_NAME.test(label) || (type?.startsWith('image/') && type !== 'image/svg+xml');
  if (!picture && isCalledPicture)
    return `${label} is called a picture, but it is ${contentType}: it is attached as a file.`;
  const isMisnamed = picture && type?.startsWith('image/') && type !== contentType && type !== 'image/jpg';
  return isMisnamed ? `${label} is called ${type}, but it is ${contentType}, and is attached as that.` : undefined;
}

function tooLarge(): RequestError {
  return invalid(
    `a picture or file may have at most ${sizeText(ATTACHMENT_MAX_BYTES)}: put it into the session's folder instead`,
  );
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, `${ATTACH_METHOD}: ${message}`);
}
