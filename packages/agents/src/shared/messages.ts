/** A person's message as an agent sends it to its model: the text, the attached images, and a title made from it. */
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ImagePart } from '@ai-sdk/provider-utils';
import { type Folders, resolveInside } from '@atrium/core/util/paths.js';
import {
  type Message,
  type MessageAttachment,
  PICTURE_MAX_BYTES,
  pictureOf,
  unfitPicture,
} from '@atrium/protocol/ahp-1';

/** A larger image is only named. */
export const IMAGE_MAX_BYTES = PICTURE_MAX_BYTES;
export const IMAGES_MAX_PER_MESSAGE = 20;

export const TITLE_MAX_CHARACTERS = 50;

/** A person's message, with one line for each attachment, including images. */
export function messageText(message: Message): string {
  return [message.text, ...(message.attachments ?? []).map(attachmentLine)].join('\n');
}

function attachmentLine(attachment: MessageAttachment): string {
  if (attachment.type === 'simple') return `[Attached] ${attachment.modelRepresentation ?? attachment.label}`;
  const where = attachment.type === 'resource' ? `${attachment.label}: ${attachment.uri}` : attachment.label;
  return `[Attached] ${where}`;
}

/** The images that the message itself contains. */
export function embeddedImages({ attachments = [] }: Message): ImagePart[] {
  return attachments.flatMap((attachment) => embeddedImage(attachment) ?? []).slice(0, IMAGES_MAX_PER_MESSAGE);
}

/**
 * The embedded images, and those in the session's folder that the message names. Files that cannot be read are skipped.
 */
export async function attachedImages(message: Message, folders: Folders): Promise<ImagePart[]> {
  const { attachments = [] } = message;
  // Read only as many as may be sent.
  const named = attachments.filter(namesImage).slice(0, IMAGES_MAX_PER_MESSAGE);
  const images = await Promise.all(
    named.map((attachment) => embeddedImage(attachment) ?? imageFile(attachment, folders).catch(() => undefined)),
  );
  return images.flatMap((image) => image ?? []);
}

function embeddedImage(attachment: MessageAttachment): ImagePart | undefined {
  if (attachment.type !== 'embeddedResource' || !isImage(attachment.contentType)) return undefined;
  const { data, contentType } = attachment;
  return data.length > Math.ceil(IMAGE_MAX_BYTES / 3) * 4
    ? undefined
    : { type: 'image', image: data, mediaType: contentType };
}

async function imageFile(attachment: MessageAttachment, folders: Folders): Promise<ImagePart | undefined> {
  if (attachment.type !== 'resource' || !isImage(attachment.contentType)) return undefined;
  const { real } = await resolveInside(folders, fileURLToPath(attachment.uri));
  const stats = await stat(real);
  if (!stats.isFile() || stats.size > IMAGE_MAX_BYTES) return undefined;
  const bytes = await readFile(real);
  const picture = pictureOf(bytes);
  if (!picture || unfitPicture(bytes.length, picture) !== undefined) return undefined;
  return { type: 'image', image: bytes.toString('base64'), mediaType: picture.contentType };
}

function namesImage(attachment: MessageAttachment): boolean {
  return 'contentType' in attachment && isImage(attachment.contentType);
}

/** True for image types that all models with vision take. */
export function isImage(contentType: string | undefined): contentType is string {
  return contentType !== undefined && /^image\/(?:png|jpeg|gif|webp)$/.test(contentType);
}

/** A session's title, made from its first message; empty when the message is. */
export function titleFrom(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim();
  return line.charAt(0).toUpperCase() + cutAtWord(line).slice(1);
}

/** Cuts at a space, if there is one near enough to the end. */
function cutAtWord(line: string): string {
  if (line.length <= TITLE_MAX_CHARACTERS) return line;
  const start = line.slice(0, TITLE_MAX_CHARACTERS - 1);
  const space = start.lastIndexOf(' ');
  return `${space > TITLE_MAX_CHARACTERS / 2 ? start.slice(0, space) : start}…`;
}
