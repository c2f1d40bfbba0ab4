/** Keeps what a tool says within bounds: a result is stored, sent to every client, and read by the model. */
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol';
import { sizeText } from '../tools/text.js';

/** All text of a result together. */
export const RESULT_TEXT_MAX_CHARACTERS = 2 ** 20;
/** All embedded data of a result together, as it travels. */
export const RESULT_DATA_MAX_CHARACTERS = 4 * 2 ** 20;

export function bounded(result: ToolCallResult): ToolCallResult {
  const { content, structuredContent, ...rest } = result;
  const structured = structuredContent && JSON.stringify(structuredContent).length <= RESULT_TEXT_MAX_CHARACTERS;
  return {
    ...rest,
    ...(content && { content: boundedContent(content) }),
    ...(structured && { structuredContent }),
  };
}

/** What does not fit is cut or left out, and says so. */
export function boundedContent(content: readonly ToolResultContent[]): ToolResultContent[] {
  let textLeft = RESULT_TEXT_MAX_CHARACTERS;
  let dataLeft = RESULT_DATA_MAX_CHARACTERS;
  return content.map((block) => {
    if (block.type === 'text') {
      const { text } = block;
      const room = textLeft;
      textLeft = Math.max(0, room - text.length);
      return text.length <= room ? block : { ...block, text: `${text.slice(0, room)}\n[Cut: it is too long.]` };
    }
    if (block.type !== 'embeddedResource') return block;
    const { data, contentType } = block;
    if (data.length > dataLeft) {
      return { type: 'text', text: `[Left out: ${contentType} of ${sizeText(data.length)}, which is too large.]` };
    }
    dataLeft -= data.length;
    return block;
  });
}
