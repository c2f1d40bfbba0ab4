/** A person's message, as Claude gets it: text, and the images that came with it. */
import type { UserMessage } from '@atrium/protocol';
import { attachedImages, attachmentLines } from '../model/attachments.js';
import type { InputBlock } from './sdk.js';

export function messageText(message: UserMessage): string {
  return [message.text, ...attachmentLines(message)].join('\n');
}

export async function messageBlocks(message: UserMessage, folder: string): Promise<InputBlock[]> {
  const images = await attachedImages(message, folder);
  return [
    ...images.map(({ image, mediaType }): InputBlock => {
      const source = { type: 'base64' as const, media_type: mediaType ?? 'image/png', data: String(image) };
      return { type: 'image', source };
    }),
    textBlock(messageText(message)),
  ];
}

export function textBlock(text: string): InputBlock {
  return { type: 'text', text };
}
