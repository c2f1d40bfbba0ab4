/** The result of a host's tool as models read it: text, images that they can see, and a line for everything else. */

import type { ToolOutcome } from '@atrium/core/contracts/agent.js';
import { sizeText } from '@atrium/core/util/text.js';
import type { ToolResultContent } from '@atrium/protocol/ahp-1';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { IMAGE_MAX_BYTES, IMAGES_MAX_PER_MESSAGE, isImage } from './messages.js';

/** The result of a call that was cut off. The model must not think that it never ran. */
export const TURN_ENDED_FIRST = 'The turn ended before this call was done; it may have run in part.';

interface ResultImage {
  /** As base64. */
  readonly data: string;
  readonly mediaType: string;
}

interface ResultData {
  readonly images: readonly ResultImage[];
  /** One line for each content that no model can see. */
  readonly others: readonly string[];
}

/** Separates out the contents of a result that are not text. */
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

/** Four characters of base64 encode three bytes. */
function bytesIn(data: string): number {
  return Math.floor((data.length * 3) / 4);
}

/** The text of a result, with lines about what the model cannot see. */
export function textWith(text: string, { others }: ResultData): string {
  return [text, ...others].filter((line) => line !== '').join('\n');
}

/** The outcome of a call, for an agent that calls the host's tools over MCP. */
export function mcpResult(outcome: ToolOutcome): CallToolResult {
  if (outcome.kind === 'denied') return failedResult(`The call was denied: ${outcome.reason}`);
  const data = dataIn(outcome.content);
  const text = textWith(outcome.text, data);
  const images = data.images.map(({ data: bytes, mediaType: mimeType }) => {
    return { type: 'image' as const, data: bytes, mimeType };
  });
  const hasWords = text !== '' || images.length === 0;
  return { content: [...(hasWords ? [{ type: 'text' as const, text }] : []), ...images], isError: !outcome.success };
}

export function failedResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
