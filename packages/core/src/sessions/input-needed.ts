/**
 * What waits for a person or a client in a session. It is derived from the chats and kept in the session's state, so
 * that a client that shows only the session knows of it. Questions outside of turns are separate entries.
 */
import type {
  ChatInputRequest,
  ChatState,
  ResponsePart,
  SessionAction,
  SessionInputRequest,
  SessionState,
  ToolCallPendingResultConfirmationState,
  ToolCallState,
} from '@atrium/protocol/ahp-1';
import { isStanding, openParts } from '@atrium/protocol/ahp-1';
import { LISTED_CALL_MAX_CHARACTERS } from './limits.js';

/** The question outside of turns with this id, if it is asked on the chat where it is answered. */
export function standingRequest(
  { inputNeeded = [] }: SessionState,
  requestId: string,
  chat?: string,
): ChatInputRequest | undefined {
  const standing = inputNeeded.filter(isStanding).filter((entry) => chat === undefined || entry.chat === chat);
  return standing.find(({ request }) => request.id === requestId)?.request;
}

/** Everything that waits in the running turn of a chat. */
export function neededBy(chat: ChatState, isDefault = true): SessionInputRequest[] {
  const { activeTurn, resource } = chat;
  if (!activeTurn) return [];
  // Ids of calls and questions are unique only within their turn.
  const place = { chat: resource, turnId: activeTurn.id, suffix: isDefault ? '' : ` ${resource}` };
  const needed: SessionInputRequest[] = [];
  for (const part of openParts(activeTurn)) {
    const request = neededByPart(place, part);
    if (request) needed.push(request);
  }
  return needed;
}

interface Place {
  readonly chat: string;
  readonly turnId: string;
  readonly suffix: string;
}

function neededByPart({ chat, turnId, suffix }: Place, part: ResponsePart): SessionInputRequest | undefined {
  if (part.kind === 'inputRequest') {
    return { kind: 'chatInput', id: `input:${part.request.id}${suffix}`, chat, request: part.request };
  }
  if (part.kind !== 'toolCall') return undefined;
  const toolCall = listedCall(part.toolCall);
  const base = { id: `tool:${toolCall.toolCallId}${suffix}`, chat, turnId };
  switch (toolCall.status) {
    case 'pending-confirmation':
    case 'pending-result-confirmation':
      return { kind: 'toolConfirmation', ...base, toolCall };
    case 'auth-required':
      return { kind: 'toolAuthentication', ...base, toolCall };
    case 'running':
      if (toolCall.contributor?.kind !== 'client') return undefined;
      return { kind: 'toolClientExecution', ...base, clientId: toolCall.contributor.clientId, toolCall };
    default:
      return undefined;
  }
}

/** A call without its output, if that is large: the chat has it, and every client of the session gets this list. */
function listedCall(call: ToolCallState): ToolCallState {
  if (!('content' in call) && !('structuredContent' in call)) return call;
  if (JSON.stringify(call).length <= LISTED_CALL_MAX_CHARACTERS) return call;
  const { content: _content, structuredContent: _structured, ...rest } = call as ToolCallPendingResultConfirmationState;
  return rest as ToolCallState;
}

/** The actions that bring the session's list in line with one of its chats. */
export function inputNeededActions({ inputNeeded = [], defaultChat }: SessionState, chat: ChatState): SessionAction[] {
  const listed = new Map(
    inputNeeded.filter((entry) => entry.chat === chat.resource && !isStanding(entry)).map((entry) => [entry.id, entry]),
  );
  const wanted = neededBy(chat, chat.resource === (defaultChat ?? chat.resource));
  const wantedIds = new Set(wanted.map(({ id }) => id));
  const gone = [...listed.keys()].filter((id) => !wantedIds.has(id));
  return [
    ...gone.map((id) => ({ type: 'session/inputNeededRemoved' as const, id })),
    ...wanted
      .filter((entry) => !isSame(listed.get(entry.id), entry))
      .map((request) => ({ type: 'session/inputNeededSet' as const, request })),
  ];
}

function isSame(a: SessionInputRequest | undefined, b: SessionInputRequest): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Actions after which something new may wait, or no longer waits. Streamed text never causes that. */
const RELEVANT: ReadonlySet<string> = new Set([
  'chat/toolCallReady',
  'chat/toolCallConfirmed',
  'chat/toolCallComplete',
  'chat/toolCallResultConfirmed',
  'chat/toolCallAuthRequired',
  'chat/toolCallAuthResolved',
  'chat/inputRequested',
  'chat/inputAnswerChanged',
  'chat/inputCompleted',
  'chat/responsePart',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/turnResume',
  'chat/error',
  'chat/truncated',
]);

export function mayChangeNeeded(type: string): boolean {
  return RELEVANT.has(type);
}
