/** What was said in a session, told again to a Copilot that does not know it: its files are gone, or history was cut. */
import type { Turn } from '@atrium/protocol';
import { TRANSCRIPT_MAX_CHARACTERS } from './limits.js';

/** Undefined when nothing was said. The newest stay when it is too much. */
export function transcriptOf(turns: readonly Turn[]): string | undefined {
  const told: string[] = [];
  let room = TRANSCRIPT_MAX_CHARACTERS;
  for (const text of turns.map(lines).reverse()) {
    if (text.length > room) break;
    room -= text.length;
    told.unshift(text);
  }
  if (told.length === 0) return undefined;
  return `[Earlier in this session, as far as it is known:\n${told.join('\n')}\n]`;
}

function lines({ userMessage, responseParts }: Turn): string {
  const said = responseParts.map((part) => {
    if (part.kind === 'markdown') return `You: ${part.content}`;
    if (part.kind !== 'toolCall') return '';
    const { toolCall } = part;
    const input = 'toolInput' in toolCall ? (toolCall.toolInput ?? '') : '';
    return `You used ${toolCall.toolName} ${input}: ${resultOf(toolCall)}`;
  });
  return [`Person: ${userMessage.text}`, ...said.filter((line) => line !== '')].join('\n');
}

type ToolCall = Extract<Turn['responseParts'][number], { kind: 'toolCall' }>['toolCall'];

function resultOf(call: ToolCall): string {
  if (call.status !== 'completed') return 'it did not run';
  const texts = (call.content ?? []).flatMap((block) => (block.type === 'text' ? block.text : []));
  return texts.join('\n') || (call.error?.message ?? 'done');
}
