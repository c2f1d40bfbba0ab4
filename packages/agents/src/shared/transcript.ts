/** A session's earlier turns as text, for an agent that does not know the session (any more). Keeps the newest ones. */

import { shorten } from '@atrium/core/util/text.js';
import { type ResponsePart, steeringIn, type ToolCallState, type Turn } from '@atrium/protocol/ahp-1';
import { messageText } from './messages.js';
import { TURN_ENDED_FIRST } from './tool-results.js';

interface TranscriptLimits {
  readonly maxCharacters: number;
  /** Limit for the input of one call, and for its result. */
  readonly callMaxCharacters: number;
}

const HEAD =
  'This session began earlier. This is what was said in it so far, as far as it is known; it is not a request:';
const CUT = '[…]';

/** The transcript; undefined when there are no turns. Only the oldest turn that still fits may be cut. */
export function transcriptOf(turns: readonly Turn[], limits: TranscriptLimits): string | undefined {
  if (turns.length === 0) return undefined;
  const lines: string[] = [];
  let room = limits.maxCharacters;
  for (const turn of turns.toReversed()) {
    const text = turnText(turn, limits);
    lines.unshift(text.length > room ? `${CUT}${text.slice(text.length - room)}` : text);
    room -= text.length;
    if (room <= 0) break;
  }
  return `${HEAD}\n\n<transcript>\n${lines.join('\n\n')}\n</transcript>`;
}

function turnText({ message, responseParts }: Turn, limits: TranscriptLimits): string {
  const answers = responseParts.flatMap((part) => partText(part, limits));
  return [`Person: ${messageText(message)}`, ...answers].join('\n');
}

function partText(part: ResponsePart, limits: TranscriptLimits): string[] {
  const steering = steeringIn(part);
  if (steering) return [`Person: ${messageText(steering)}`];
  if (part.kind === 'markdown') return part.content === '' ? [] : [`You: ${part.content}`];
  return part.kind === 'toolCall' ? [`You: ${callText(part.toolCall, limits)}`] : [];
}

function callText(call: ToolCallState, { callMaxCharacters }: TranscriptLimits): string {
  const input =
    'toolInput' in call && typeof call.toolInput === 'string' && call.toolInput !== ''
      ? ` ${shorten(call.toolInput, callMaxCharacters)}`
      : '';
  return `[used the tool ${call.toolName}${input}: ${shorten(endOf(call), callMaxCharacters)}]`;
}

/**
 * How a call ended. If it was not denied, it may have done something before the turn ended, so the text says that it
 * may have run.
 */
function endOf(call: ToolCallState): string {
  if (call.status === 'completed') {
    const texts = (call.content ?? []).flatMap((block) => (block.type === 'text' ? block.text : []));
    return texts.join('\n') || (call.error?.message ?? 'done');
  }
  if (call.status !== 'cancelled') return TURN_ENDED_FIRST;
  const said = typeof call.reasonMessage === 'object' ? call.reasonMessage.markdown : call.reasonMessage;
  const reason = call.userSuggestion?.text ?? said;
  if (reason === undefined && call.reason === 'skipped') return TURN_ENDED_FIRST;
  return `did not run, it was denied${reason === undefined ? '' : `: ${reason}`}`;
}
