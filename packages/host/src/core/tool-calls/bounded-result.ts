/** Keeps what a tool says within bounds: a result is stored, sent to every client, and read by the model. */
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol';
import { beginning, sizeText } from '../util/text.js';

/** All text of a result together. */
export const RESULT_TEXT_MAX_CHARACTERS = 2 ** 20;
/** All embedded data of a result together, as it travels. */
export const RESULT_DATA_MAX_CHARACTERS = 4 * 2 ** 20;

/** Output that is shown while a tool runs: the end of it, for it is told anew each time. */
export const PROGRESS_TEXT_MAX_CHARACTERS = 64 * 2 ** 10;
export const PROGRESS_DATA_MAX_CHARACTERS = 64 * 2 ** 10;

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
function boundedContent(content: readonly ToolResultContent[]): ToolResultContent[] {
  const room = { text: RESULT_TEXT_MAX_CHARACTERS, data: RESULT_DATA_MAX_CHARACTERS };
  return content.map((block) => fitted(block, room, (text, max) => `${beginning(text, max)}\n[Cut: it is too long.]`));
}

/** The same for what is shown while a tool runs. */
export function progressContent(content: readonly ToolResultContent[]): ToolResultContent[] {
  const room = { text: PROGRESS_TEXT_MAX_CHARACTERS, data: PROGRESS_DATA_MAX_CHARACTERS };
  return content.map((block) => fitted(block, room, (text, max) => `[…]\n${max > 0 ? text.slice(-max) : ''}`));
}

interface Room {
  text: number;
  data: number;
}

/** One block, with what is left of the room; takes its share. */
function fitted(block: ToolResultContent, room: Room, cut: (text: string, max: number) => string): ToolResultContent {
  if (block.type === 'text') {
    const { text } = block;
    const max = room.text;
    room.text = Math.max(0, max - text.length);
    return text.length <= max ? block : { ...block, text: cut(text, max) };
  }
  if (block.type !== 'embeddedResource') return block;
  const { data, contentType } = block;
  if (data.length > room.data) {
    return { type: 'text', text: `[Left out: ${contentType} of ${sizeText(data.length)}, which is too large.]` };
  }
  room.data -= data.length;
  return block;
}
