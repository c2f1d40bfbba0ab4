/** What a person attached to a message, as the model gets it: images where it can see, words for everything else. */
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { MessageAttachment, UserMessage } from '@atrium/protocol';
import type { ImagePart } from 'ai';
import { resolveInside } from '../../core/util/paths.js';
import { IMAGE_MAX_BYTES, IMAGES_MAX_PER_MESSAGE } from './limits.js';

/** By their own words, or by where they are. */
export function attachmentLines({ attachments = [] }: UserMessage): string[] {
  return attachments.map((attachment) => {
    if (attachment.type === 'simple') return `[Attached] ${attachment.modelRepresentation ?? attachment.label}`;
    const where = attachment.type === 'resource' ? `${attachment.label}: ${attachment.uri}` : attachment.label;
    return `[Attached] ${where}`;
  });
}

/** Images that travel with the message. */
export function embeddedImages({ attachments = [] }: UserMessage): ImagePart[] {
  return attachments.flatMap((attachment) => embeddedImage(attachment) ?? []).slice(0, IMAGES_MAX_PER_MESSAGE);
}

/** Those, and images in the session's folder that the message names. One that cannot be read is only named. */
export async function attachedImages(message: UserMessage, folder: string | undefined): Promise<ImagePart[]> {
  const { attachments = [] } = message;
  // Only as many are read as may be sent.
  const named = attachments.filter(isOfImage).slice(0, IMAGES_MAX_PER_MESSAGE);
  const images = await Promise.all(
    named.map((attachment) => embeddedImage(attachment) ?? imageFile(attachment, folder).catch(() => undefined)),
  );
  return images.flatMap((image) => image ?? []);
}

function embeddedImage(attachment: MessageAttachment): ImagePart | undefined {
  if (attachment.type !== 'embeddedResource' || !isImage(attachment.contentType)) return undefined;
  const { data, contentType } = attachment;
  return data.length > (IMAGE_MAX_BYTES * 4) / 3 ? undefined : { type: 'image', image: data, mediaType: contentType };
}

async function imageFile(attachment: MessageAttachment, folder: string | undefined): Promise<ImagePart | undefined> {
  if (attachment.type !== 'resource' || !isImage(attachment.contentType)) return undefined;
  const { real } = await resolveInside(folder, fileURLToPath(attachment.uri));
  const stats = await stat(real);
  if (!stats.isFile() || stats.size > IMAGE_MAX_BYTES) return undefined;
  return { type: 'image', image: (await readFile(real)).toString('base64'), mediaType: attachment.contentType };
}

function isOfImage(attachment: MessageAttachment): boolean {
  return 'contentType' in attachment && isImage(attachment.contentType);
}

export function isImage(contentType: string | undefined): contentType is string {
  return contentType !== undefined && /^image\/(?:png|jpeg|gif|webp)$/.test(contentType);
}
