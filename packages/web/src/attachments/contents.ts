/** Prepares the bytes of pictures and files, sends them to the host, and reads them from it. */
import type { Client } from '@atrium/client';
import {
  ATTACH_METHOD,
  ATTACH_PIECE_CHARACTERS,
  ATTACHMENT_MAX_BYTES,
  type AttachResult,
  type MessageAttachment,
  PICTURE_MAX_BYTES,
  PICTURE_SCALED_EDGE,
  PICTURE_SHOWN_MAX_PIXELS,
  type Picture,
  pictureOf,
  type ResourceReadResult,
  typeOfBeginning,
} from '@atrium/protocol/ahp-1';
import { isAtrium } from '../host/extensions.js';
import { bytesText } from '../model/format.js';

/** Hosts of others take contents only inside a message, with at most this size. */
export const CARRIED_MAX_BYTES = 2 ** 20;

/** Content for the host, with a note for the person. */
interface Ready {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly type: string;
}

/** Throws an error with words for the person if the file cannot be attached. */
export async function attachFile(client: Client, file: File): Promise<AttachResult> {
  const ready = await madeReady(file);
  if (!isAtrium(client)) return { attachment: carried(ready) as AttachResult['attachment'] };
  const base64 = toBase64(ready.bytes);
  const { name, type } = ready;
  for (let at = 0; ; at += ATTACH_PIECE_CHARACTERS) {
    const text = base64.slice(at, at + ATTACH_PIECE_CHARACTERS);
    const isLast = at + text.length === base64.length;
    const result = await client.requestExtension(ATTACH_METHOD, { name, type, at, text, isLast });
    if (isLast) return result as AttachResult;
  }
}

function carried({ name: label, bytes, type }: Ready): MessageAttachment {
  if (bytes.length > CARRIED_MAX_BYTES) throw new Error(`${label} is larger than ${bytesText(CARRIED_MAX_BYTES)}.`);
  const contentType = pictureOf(bytes)?.contentType ?? (type || 'application/octet-stream');
  return { type: 'embeddedResource', label, contentType, data: toBase64(bytes) };
}

/** Pasted content has no name of its own. */
function nameOf({ name, type }: File): string {
  return name || `pasted.${/^image\/(\w+)/.exec(type)?.[1] ?? 'bin'}`;
}

async function madeReady(file: File): Promise<Ready> {
  const name = nameOf(file);
  // A photo may be larger, because the page makes it smaller.
  if (file.size > ATTACHMENT_MAX_BYTES * 4) throw tooLarge(name);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const picture = pictureOf(bytes);
  const isHeic = typeOfBeginning(bytes) === 'image/heic';
  const smaller = isHeic || (picture && isReduced(picture, bytes)) ? await redrawn(file, picture) : undefined;
  if (isHeic && !smaller)
    throw new Error(`${name} is HEIC, which this browser cannot convert. Save it as JPEG or PNG and attach that.`);
  if (smaller) return { ...smaller, name: isHeic ? name.replace(/\.hei[cf]$/i, '.jpg') : name };
  if (bytes.length > ATTACHMENT_MAX_BYTES) throw tooLarge(name);
  return { name, bytes, type: file.type };
}

function tooLarge(name: string): Error {
  return new Error(
    `${name} is larger than ${bytesText(ATTACHMENT_MAX_BYTES)}. Put it into the session's folder instead.`,
  );
}

/** Models see no more than this, and every pixel costs. A small animation stays as it is. */
function isReduced({ contentType, width, height }: Picture, { length }: Uint8Array): boolean {
  if (width * height > PICTURE_SHOWN_MAX_PIXELS) return false;
  if (length > PICTURE_MAX_BYTES) return true;
  return contentType !== 'image/gif' && Math.max(width, height) > PICTURE_SCALED_EDGE;
}

const JPEG_QUALITY = 0.85;

/** Undefined when the browser cannot read it. */
async function redrawn(file: Blob, picture: Picture | undefined): Promise<Omit<Ready, 'name'> | undefined> {
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (!bitmap) return undefined;
  const scale = Math.min(1, PICTURE_SCALED_EDGE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  for (const type of picture?.contentType === 'image/png' ? ['image/png', 'image/jpeg'] : ['image/jpeg']) {
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, JPEG_QUALITY));
    if (blob && blob.size <= PICTURE_MAX_BYTES)
      return { bytes: new Uint8Array(await blob.arrayBuffer()), type: blob.type };
  }
  return undefined;
}

/** How many bytes become text at once: a call can have only so many arguments. */
const TEXT_BYTES = 3 * 2 ** 12;

export function toBase64(bytes: Uint8Array): string {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; at += TEXT_BYTES)
    texts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + TEXT_BYTES))));
  return texts.join('');
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** The size of a piece in one answer of the host. */
const READ_BYTES = 2 * 2 ** 20;

/** The bytes of an attachment; undefined when it has none, or more than a page reads. */
export async function bytesOf(client: Client, attachment: MessageAttachment): Promise<Uint8Array | undefined> {
  if (attachment.type === 'embeddedResource' && 'data' in attachment) return fromBase64(attachment.data);
  if (attachment.type !== 'resource' || !('uri' in attachment)) return undefined;
  const pieces: Uint8Array[] = [];
  for (let start = 0, size = 1; start < size; start += READ_BYTES) {
    const params = {
      uri: attachment.uri,
      encoding: 'base64' as const,
      ...{ range: { start, end: start + READ_BYTES } },
    };
    const answer: ResourceReadResult & { size?: number } = await client.request('resourceRead', params);
    pieces.push(answer.encoding === 'base64' ? fromBase64(answer.data) : new TextEncoder().encode(answer.data));
    size = answer.size ?? 0;
    if (size > ATTACHMENT_MAX_BYTES) return undefined;
  }
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** The picture, if the bytes are one of a size that a browser can draw. Nothing else gets an address. */
export function shownPicture(bytes: Uint8Array): { readonly blob: Blob; readonly picture: Picture } | undefined {
  const picture = pictureOf(bytes);
  if (!picture || picture.width * picture.height > PICTURE_SHOWN_MAX_PIXELS) return undefined;
  return { picture, blob: new Blob([bytes as Uint8Array<ArrayBuffer>], { type: picture.contentType }) };
}
