/** What a tool gave back beside text: images that a model may see, and words about everything that it will not. */
import type { ToolResultContent } from '@atrium/protocol';
import { sizeText } from '../core/util/text.js';
import { isImage } from './model/attachments.js';
import { IMAGE_MAX_BYTES, IMAGES_MAX_PER_MESSAGE } from './model/limits.js';

export interface ResultImage {
  /** As base64. */
  readonly data: string;
  readonly mediaType: string;
}

export interface ResultData {
  readonly images: readonly ResultImage[];
  /** One line for each thing that cannot be shown to any model. */
  readonly others: readonly string[];
}

/** Four characters stand for three bytes. */
const bytesIn = (data: string): number => Math.floor((data.length * 3) / 4);

export function dataIn(content: readonly ToolResultContent[]): ResultData {
  const images: ResultImage[] = [];
  const others: string[] = [];
  for (const block of content) {
    if (block.type !== 'embeddedResource') continue;
    const { data, contentType: mediaType } = block;
    const isSmall = bytesIn(data) <= IMAGE_MAX_BYTES && images.length < IMAGES_MAX_PER_MESSAGE;
    if (isImage(mediaType) && isSmall) images.push({ data, mediaType });
    else others.push(`[${mediaType} of ${sizeText(bytesIn(data))}, which cannot be shown to you]`);
  }
  return { images, others };
}

/** All that a model reads of a result, but for the images. */
export function textWith(text: string, { others }: ResultData): string {
  return [text, ...others].filter((line) => line !== '').join('\n');
}
