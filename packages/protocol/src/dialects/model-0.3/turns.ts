/**
 * The conversation of a chat as 0.3.0 shows it. Three rules apply to every shape: what has a counterpart is renamed;
 * what a 1.0 action can change but no 0.3.0 action can is left out, so that a client that follows by actions sees what
 * a snapshot shows; everything else passes, including unknown members.
 */

import { steeringIn } from '../../ahp-1/chat/steering.js';
import type * as Ahp1 from '../../ahp-1/index.js';
import { PERMISSION_META_KEY } from '../../ahp-1/session/permissions.js';
import type * as Ahp03 from '../../index.js';
import { openParts, translatedTurn, turnMembers } from '../../parts.js';

/** Caches a translation for as long as its source lives. States are immutable, and mostly shared. */
export function cached<From extends object, To>(translate: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, To>();
  return (from) => {
    const made = known.get(from);
    if (made !== undefined) return made;
    const fresh = translate(from);
    known.set(from, fresh);
    return fresh;
  };
}

/**
 * 0.3.0 has no members for the origin of a message, and for the model and agent it was sent with. It has no chats to
 * attach.
 */
export function messageDown({ origin, model, agent, attachments, ...message }: Ahp1.Message): Ahp03.UserMessage {
  const shown = attachments?.some(isChat) ? attachments.filter((attachment) => !isChat(attachment)) : attachments;
  return { ...message, ...(shown && { attachments: shown }) } as Ahp03.UserMessage;
}

function isChat({ type }: { readonly type: string }): boolean {
  return type === 'chat';
}

/** 0.3.0 would take a subagent's chat for a session. */
export function contentDown(content: readonly Ahp1.ToolResultContent[]): Ahp03.ToolResultContent[] {
  return content.filter(({ type }) => type !== 'subagent') as Ahp03.ToolResultContent[];
}

export function pendingDown({ message, ...rest }: Ahp1.PendingMessage): Ahp03.PendingMessage {
  return { ...rest, userMessage: messageDown(message) };
}

/** The members, of all states of a call, that change on the way down. */
type AnyToolCall = Ahp1.ToolCallState & {
  readonly toolInput?: Ahp1.ToolInput;
  readonly riskAssessment?: unknown;
  readonly auth?: unknown;
  readonly content?: readonly Ahp1.ToolResultContent[];
  readonly userSuggestion?: Ahp1.Message;
};

export function toolClientOf(contributor: Ahp1.ToolCallContributor | undefined): { toolClientId?: string } {
  return contributor?.kind === 'client' ? { toolClientId: contributor.clientId } : {};
}

/** Text stays; a reference is left out, because 0.3.0 has none and looking it up takes time. */
export function toolInputDown(toolInput: Ahp1.ToolInput | undefined): { toolInput?: string } {
  return typeof toolInput === 'string' ? { toolInput } : {};
}

/** 0.3.0 keeps the metadata that a call began with. What rules said comes later, so it is left out. */
function startedMeta(meta: Ahp1.Meta | undefined): Ahp1.Meta | undefined {
  const { [PERMISSION_META_KEY]: _decided, ...rest } = meta ?? {};
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/** A call. One that waits for a token looks as if it were running. */
export const toolCallDown = cached((call: Ahp1.ToolCallState): Ahp03.ToolCallState => {
  const { status, contributor, intention, toolInput, riskAssessment, auth, content, userSuggestion, _meta, ...rest } =
    call as AnyToolCall;
  const meta = startedMeta(_meta);
  return {
    ...rest,
    ...(meta && { _meta: meta }),
    status: status === 'auth-required' ? 'running' : status,
    ...toolClientOf(contributor),
    ...toolInputDown(toolInput),
    ...(content && { content: contentDown(content) }),
    ...(userSuggestion && { userSuggestion: messageDown(userSuggestion) }),
  } as Ahp03.ToolCallState;
});

/** A part in 0.3.0. Questions are beside its turns there, and the error is a member of the turn. */
export function partDown(part: Ahp1.ResponsePart): Ahp03.ResponsePart | undefined {
  if (part.kind === 'inputRequest' || part.kind === 'error') return undefined;
  if (part.kind === 'systemNotification') return notificationDown(part);
  return part.kind === 'toolCall' ? { ...part, toolCall: toolCallDown(part.toolCall) } : part;
}

/** Our 0.3.0 has a member for a steering message. */
function notificationDown(part: Ahp1.SystemNotificationResponsePart): Ahp03.ResponsePart {
  const steering = steeringIn(part);
  if (!steering) return part;
  const { _meta, ...rest } = part;
  return { ...rest, userMessage: messageDown(steering) } as Ahp03.SteeringPart;
}

function partsDown(parts: readonly Ahp1.ResponsePart[]): Ahp03.ResponsePart[] {
  const shown: Ahp03.ResponsePart[] = [];
  for (const part of parts) {
    const down = partDown(part);
    if (down) shown.push(down);
  }
  return shown;
}

export const activeTurnDown = cached((turn: Ahp1.ActiveTurn): Ahp03.ActiveTurn => {
  const { startedAt, message, ...rest } = turnMembers(turn);
  const members = { ...rest, userMessage: messageDown(message) };
  return translatedTurn<Ahp03.ActiveTurn, Ahp1.ActiveTurn>(turn, members, partDown);
});

export const turnDown = cached((turn: Ahp1.Turn): Ahp03.Turn => {
  const { startedAt, duration, message, responseParts, ...rest } = turn;
  const shown = { ...rest, userMessage: messageDown(message), responseParts: partsDown(responseParts) };
  const failure = turn.state === 'error' && responseParts.findLast((part) => part.kind === 'error');
  return failure && failure.kind === 'error' ? { ...shown, error: failure.error } : shown;
});

/** One list of finished turns serves all steps until a turn ends. */
export const turnsDown = cached((turns: readonly Ahp1.Turn[]): Ahp03.Turn[] => turns.map(turnDown));

/** The unanswered questions of the running turn. */
export function openRequests(turn: Ahp1.ActiveTurn | undefined): Ahp1.ChatInputRequest[] {
  const requests: Ahp1.ChatInputRequest[] = [];
  for (const part of turn ? openParts(turn) : []) if (part.kind === 'inputRequest') requests.push(part.request);
  return requests;
}

/** True when a person must decide about a call, in a way that 0.3.0 can show. */
export function hasPendingCall(turn: Ahp1.ActiveTurn | undefined): boolean {
  for (const part of turn ? openParts(turn) : []) {
    const status = part.kind === 'toolCall' && part.toolCall.status;
    if (status === 'pending-confirmation' || status === 'pending-result-confirmation') return true;
  }
  return false;
}
