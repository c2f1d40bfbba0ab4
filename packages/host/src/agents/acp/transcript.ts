/** What was said so far, as text for an agent that cannot load its session. The end counts most, so it is kept. */
import type { ResponsePart, ToolCallState, Turn } from '@atrium/protocol';
import { shorten } from '../../tools/text.js';
import { TRANSCRIPT_MAX_CHARACTERS, TRANSCRIPT_RESULT_MAX_CHARACTERS } from './limits.js';

const HEAD = 'This session began earlier. This is what was said in it so far; it is not a request:';

export function transcriptOf(turns: readonly Turn[]): string | undefined {
  if (turns.length === 0) return undefined;
  const text = turns.map(exchangeText).join('\n\n');
  const isCut = text.length > TRANSCRIPT_MAX_CHARACTERS;
  const kept = isCut ? `[…]${text.slice(-TRANSCRIPT_MAX_CHARACTERS)}` : text;
  return `${HEAD}\n\n<transcript>\n${kept}\n</transcript>`;
}

function exchangeText({ userMessage, responseParts }: Turn): string {
  const answers = responseParts.flatMap(partText);
  return [`User: ${userMessage.text}`, ...answers.map((answer) => `You: ${answer}`)].join('\n');
}

function partText(part: ResponsePart): string[] {
  if (part.kind === 'markdown') return part.content === '' ? [] : [part.content];
  return part.kind === 'toolCall' ? [callText(part.toolCall)] : [];
}

function callText(call: ToolCallState): string {
  const input =
    'toolInput' in call && call.toolInput ? ` ${shorten(call.toolInput, TRANSCRIPT_RESULT_MAX_CHARACTERS)}` : '';
  const content = call.status === 'completed' ? (call.content ?? []) : [];
  const output = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(' ');
  const end = call.status === 'completed' ? shorten(output, TRANSCRIPT_RESULT_MAX_CHARACTERS) : 'did not run';
  return `[used the tool ${call.toolName}${input}: ${end}]`;
}
