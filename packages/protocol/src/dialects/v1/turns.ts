/** Turns as version 1 shows them: one string of text, one of reasoning, and tool calls beside them. */
import type { ActiveTurn, ResponsePart, Turn } from '../../session/turns.js';
import type { V1ActiveTurn, V1ResponsePart, V1Turn } from '../../versions/v1.js';
import type { ChannelMemory } from '../dialect.js';
import { compact } from './compact.js';
import { contentRefToV1, flatten, messageToV1, usageToV1 } from './messages.js';
import { pendingRequests } from './permissions.js';
import { completedToolCallToV1, isShown, toolCallsOf, toolCallToV1 } from './tool-calls.js';

export function turnToV1(turn: Turn): V1Turn {
  return compact({
    id: turn.id,
    userMessage: messageToV1(turn.userMessage),
    responseParts: turn.responseParts.flatMap(finishedPartToV1),
    responseText: textOf(turn.responseParts, 'markdown'),
    toolCalls: toolCallsOf(turn).filter(isShown).map(completedToolCallToV1),
    usage: turn.usage && usageToV1(turn.usage),
    state: turn.state,
    error: turn.error,
  });
}

export function activeTurnToV1(turn: ActiveTurn, memory: ChannelMemory): V1ActiveTurn {
  const calls = toolCallsOf(turn).filter(isShown);
  const requests = pendingRequests(memory, turn);
  return compact({
    id: turn.id,
    userMessage: messageToV1(turn.userMessage),
    streamingText: textOf(turn.responseParts, 'markdown'),
    responseParts: turn.responseParts.flatMap(structuredPartToV1),
    toolCalls: Object.fromEntries(calls.map((call) => [call.toolCallId, toolCallToV1(call)])),
    pendingPermissions: Object.fromEntries(requests.map((request) => [request.requestId, request])),
    reasoning: textOf(turn.responseParts, 'reasoning'),
    usage: turn.usage && usageToV1(turn.usage),
  });
}

/** Parts that version 1 lists beside the text while a turn runs. A note of the host is text of its own there. */
export function structuredPartToV1(part: ResponsePart): V1ResponsePart[] {
  if (part.kind === 'contentRef') return [contentRefToV1(part)];
  return part.kind === 'systemNotification' ? [{ kind: 'markdown', content: flatten(part.content) }] : [];
}

/** A finished turn has no member for streamed text, so the text is listed among the parts. */
function finishedPartToV1(part: ResponsePart): V1ResponsePart[] {
  return part.kind === 'markdown' ? [{ kind: 'markdown', content: part.content }] : structuredPartToV1(part);
}

/** Unlike `join`, it does not copy the text of a turn that has only one such part: most have, and it can be large. */
function textOf(parts: readonly ResponsePart[], kind: 'markdown' | 'reasoning'): string {
  return parts.reduce((text, part) => (part.kind === kind ? text + part.content : text), '');
}
