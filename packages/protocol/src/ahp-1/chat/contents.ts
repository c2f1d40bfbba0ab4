/**
 * Contents of messages: what their bytes are, whatever their names claim, and the limits that clients and the host
 * share. The host stores a content once, and a message names it by reference (`atrium/attach`).
 */
import type { AgentInfo } from '../root/state.js';
import type { MessageResourceAttachment } from './messages.js';

/**
 * The request that stores a content, in pieces of its base64: `{ name, at, text, isLast, type? }`. The answer to the last
 * piece is an `AttachResult`, to the others `null`.
 */
export const ATTACH_METHOD = 'atrium/attach';

export interface AttachParams {
  /** The name that people see: that of a file, without folders. */
  readonly name: string;
  /** Where this piece begins in the base64, in characters. The first piece has 0. */
  readonly at: number;
  readonly text: string;
  readonly isLast: boolean;
  /** The type that the sender assumes. The answer says if it is wrong. */
  readonly type?: string;
}

export interface AttachResult {
  /** Put this into the message or the draft unchanged. */
  readonly attachment: MessageResourceAttachment;
  /** What a person should know before they send it. */
  readonly note?: string;
}

/** Largest content. */
export const ATTACHMENT_MAX_BYTES = 16 * 2 ** 20;
/** Most contents that are stored for one message, and most attachments, which include mentioned files. */
export const MESSAGE_CONTENTS_MAX = 20;
export const MESSAGE_ATTACHMENTS_MAX = 100;
export const ATTACHMENT_NAME_MAX_CHARACTERS = 200;
/** Characters of base64 in one request: a host reads messages of up to two megabytes. */
export const ATTACH_PIECE_CHARACTERS = 512 * 2 ** 10;

/**
 * What models accept: providers allow five megabytes of base64, and 8,000 pixels a side. Larger pictures are only
 * named.
 */
export const PICTURE_MAX_BYTES = (5 * 2 ** 20 * 3) / 4;
export const PICTURE_MAX_EDGE = 8_000;
/** Clients scale pictures down to this before they send them: models see no more. */
export const PICTURE_SCALED_EDGE = 2_000;
/** A client does not decode a larger picture: a few bytes can encode gigabytes of pixels. */
export const PICTURE_SHOWN_MAX_PIXELS = 64_000_000;

export type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

export interface Picture {
  readonly contentType: PictureType;
  readonly width: number;
  readonly height: number;
}

const BEGINNINGS: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['image/heic', /^[\s\S]{4}ftyp(?:hei[cxms]|hev[cxms]|mif1|msf1)/],
  ['image/avif', /^[\s\S]{4}ftypavi[fs]/],
  ['application/pdf', /^%PDF-/],
];
const BEGINNING_BYTES = 16;

/** The type of bytes, judged by their beginning; undefined for text and for unknown types. */
export function typeOfBeginning(bytes: Uint8Array): string | undefined {
  const beginning = String.fromCharCode(...bytes.subarray(0, BEGINNING_BYTES));
  return BEGINNINGS.find(([, pattern]) => pattern.test(beginning))?.[0];
}

/** A picture that pages show and models see, with its size; undefined for all other bytes, whatever their name. */
export function pictureOf(bytes: Uint8Array): Picture | undefined {
  const contentType = typeOfBeginning(bytes);
  const read = contentType === undefined ? undefined : SIZES[contentType as PictureType];
  const size = read?.(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (!size || size.width < 1 || size.height < 1) return undefined;
  return { contentType: contentType as PictureType, ...size };
}

type Size = Pick<Picture, 'width' | 'height'>;

const SIZES: Readonly<Record<PictureType, (view: DataView) => Size | undefined>> = {
  'image/png': pngSize,
  'image/jpeg': jpegSize,
  'image/gif': (view) =>
    view.byteLength < 10 ? undefined : { width: view.getUint16(6, true), height: view.getUint16(8, true) },
  'image/webp': webpSize,
};

function textAt(view: DataView, at: number, length: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, length));
}

function pngSize(view: DataView): Size | undefined {
  if (view.byteLength < 24 || textAt(view, 12, 4) !== 'IHDR') return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** How many segments are searched for the one with the size: real files have a few dozen. */
const SEGMENTS_MAX = 1_000;

function jpegSize(view: DataView): Size | undefined {
  let at = 2;
  for (let count = 0; count < SEGMENTS_MAX && at + 9 <= view.byteLength; count += 1) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function webpSize(view: DataView): Size | undefined {
  if (view.byteLength < 30) return undefined;
  const uint24 = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 2 ** 16;
  switch (textAt(view, 12, 4)) {
    case 'VP8X':
      return { width: uint24(24) + 1, height: uint24(27) + 1 };
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}

/** Says why a model would not accept a picture; undefined when it would. */
export function unfitPicture(size: number, { width, height }: Size): string | undefined {
  if (Math.max(width, height) > PICTURE_MAX_EDGE)
    return `it has ${width} × ${height} pixels, and models take ${PICTURE_MAX_EDGE} a side`;
  if (size > PICTURE_MAX_BYTES) return `it has ${megabytes(size)}, and models take ${megabytes(PICTURE_MAX_BYTES)}`;
  return undefined;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(2)} MB`;
}

/** The member of an attachment's `_meta` with the size of a picture. */
export const PICTURE_SIZE = 'atrium.picture';

/** The width and height of an attached picture, as the host measured them. */
export function pictureSize({ _meta }: Pick<MessageResourceAttachment, '_meta'>): Size | undefined {
  const size = _meta?.[PICTURE_SIZE] as Partial<Size> | undefined;
  if (typeof size?.width !== 'number' || typeof size.height !== 'number') return undefined;
  return { width: size.width, height: size.height };
}

/** True when an attachment claims to be a picture. A client that shows it must examine its bytes. */
export function isPicture(attachment: { readonly type: string; readonly contentType?: string | undefined }): boolean {
  return 'contentType' in attachment && Object.hasOwn(SIZES, attachment.contentType ?? '');
}

/** What a person should know before they send pictures: that the model will not see them. Undefined when it will. */
export function unseenText(agent: AgentInfo | undefined, model: string | undefined): string | undefined {
  const known = agent?.models.find(({ id }) => id === model) ?? (model === undefined ? agent?.models[0] : undefined);
  if (known?.supportsVision) return undefined;
  const name = known?.name ?? model ?? agent?.displayName ?? 'This agent';
  if (known?.supportsVision === false) return `${name} cannot see pictures: it is only told that there are some.`;
  return `It is not known whether ${name} sees pictures: it may only be told that there are some.`;
}
