/** The result of a call: bounded before it is stored, sent to every client and read by the model; then the outcome of the call. */
import type { ToolCallResult, ToolCallState, ToolResultContent } from '@atrium/protocol';
import type { ToolOutcome } from '../contracts/agent.js';
import { beginning, sizeText } from '../util/text.js';

/** All text of a result together. */
export const RESULT_TEXT_MAX_CHARACTERS = 2 ** 20;
/** All embedded data of a result together, as it travels. */
export const RESULT_DATA_MAX_CHARACTERS = 4 * 2 ** 20;

/** Output that is shown while a tool runs: its end only, because every change sends all of it again. */
const PROGRESS_TEXT_MAX_CHARACTERS = 64 * 2 ** 10;
const PROGRESS_DATA_MAX_CHARACTERS = 64 * 2 ** 10;

/** The result, with content that does not fit cut or left out; the content says so. */
export function bounded(result: ToolCallResult): ToolCallResult {
  const { content, structuredContent, ...rest } = result;
  const structured = structuredContent && JSON.stringify(structuredContent).length <= RESULT_TEXT_MAX_CHARACTERS;
  return {
    ...rest,
    ...(content && { content: boundedContent(content) }),
    ...(structured && { structuredContent }),
  };
}

function boundedContent(content: readonly ToolResultContent[]): ToolResultContent[] {
  const room = { text: RESULT_TEXT_MAX_CHARACTERS, data: RESULT_DATA_MAX_CHARACTERS };
  return content.map((block) => fitted(block, room, (text, max) => `${beginning(text, max)}\n[Cut: it is too long.]`));
}

/** The same for output that is shown while a tool runs. */
export function progressContent(content: readonly ToolResultContent[]): ToolResultContent[] {
  const room = { text: PROGRESS_TEXT_MAX_CHARACTERS, data: PROGRESS_DATA_MAX_CHARACTERS };
  return content.map((block) => fitted(block, room, (text, max) => `[…]\n${max > 0 ? text.slice(-max) : ''}`));
}

interface Room {
  text: number;
  data: number;
}

/** One block, cut to the room that is left; takes its share of the room. */
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

/** The outcome of a call that is over. */
export function outcomeOf(call: ToolCallState): ToolOutcome {
  if (call.status !== 'completed') return { kind: 'denied', reason: reasonOf(call) };
  const { success, content = [], toolCallId: callId } = call;
  return { kind: 'completed', success, text: textOfResult(call), content, callId };
}

/** Why a call did not run, in words for the model: a person's suggestion says most. */
export function reasonOf(call: ToolCallState): string {
  if (call.status !== 'cancelled') return 'the call is over';
  const plainly = call.reason === 'skipped' ? 'the person skipped it' : 'the person said no';
  return call.userSuggestion?.text ?? plain(call.reasonMessage) ?? plainly;
}

export function plain(text: string | { markdown: string } | undefined): string | undefined {
  return typeof text === 'object' ? text.markdown : text;
}

export type CompletedCall = Extract<ToolCallState, { status: 'completed' }>;

/** The part of a result that is text for a model. */
export function textOfResult({ content = [], structuredContent, error }: CompletedCall): string {
  const texts = content.flatMap((block) => (block.type === 'text' ? block.text : []));
  return texts.join('\n') || (structuredContent && JSON.stringify(structuredContent)) || (error?.message ?? '');
}
