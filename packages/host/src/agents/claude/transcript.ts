/** Tells Claude what a session was about when its own memory of it is gone: the turns, newest kept, as one text. */
import type { ResponsePart, ToolCallState, Turn } from '@atrium/protocol';
import { shorten } from '../../tools/text.js';
import { TRANSCRIPT_MAX_CHARACTERS, TRANSCRIPT_RESULT_MAX_CHARACTERS } from './limits.js';
import { messageText } from './message.js';

/** Undefined when there is nothing to tell. */
export function transcriptOf(turns: readonly Turn[]): string | undefined {
  const kept: string[] = [];
  let room = TRANSCRIPT_MAX_CHARACTERS;
  for (const turn of turns.toReversed()) {
    const text = told(turn);
    room -= text.length;
    if (room < 0) break;
    kept.unshift(text);
  }
  if (kept.length === 0) return undefined;
  return ['[Earlier in this session, as far as it is known:]', ...kept, '[End of what came earlier.]'].join('\n\n');
}

function told({ userMessage, responseParts }: Turn): string {
  return [`The person: ${messageText(userMessage)}`, ...responseParts.flatMap(partText)].join('\n\n');
}

function partText(part: ResponsePart): string[] {
  if (part.kind === 'markdown' && part.content !== '') return [`You: ${part.content}`];
  return part.kind === 'toolCall' ? [`You called ${callText(part.toolCall)}`] : [];
}

function callText(call: ToolCallState): string {
  const input = 'toolInput' in call ? shorten(call.toolInput ?? '', TRANSCRIPT_RESULT_MAX_CHARACTERS) : '';
  if (call.status !== 'completed') return `${call.toolName} ${input}. It did not run.`;
  const texts = (call.content ?? []).flatMap((block) => (block.type === 'text' ? block.text : []));
  const result = texts.join('\n') || (call.error?.message ?? '');
  return `${call.toolName} ${input}. The result was: ${result.slice(0, TRANSCRIPT_RESULT_MAX_CHARACTERS)}`;
}
