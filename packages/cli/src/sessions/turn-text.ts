/** Reads turns and tool calls out of a session's state, and answers calls that ask for permission. */
import type { DispatchOf, OpenSessionState } from '@atrium/client';
import {
  type ActiveTurn,
  type ChatInputRequest,
  type ChatState,
  type ConfirmationOption,
  type ErrorResponsePart,
  type InputRequestResponsePart,
  isStanding,
  type Message,
  type ResponsePart,
  type StringOrMarkdown,
  selectionOf,
  type ToolCallState,
  type Turn,
} from '@atrium/protocol/ahp-1';

export type AnyTurn = ActiveTurn | Turn;
/** An action of a person in an open session, on the channel of the session or of the chat. */
export type OpenAction = DispatchOf<'session'> | DispatchOf<'chat'>;

/** The turn with this id, running or finished. Searches from the end, where new turns are. */
export function turnOf({ activeTurn, turns }: ChatState, id: string): AnyTurn | undefined {
  return activeTurn?.id === id ? activeTurn : turns.findLast((turn) => turn.id === id);
}

export function isOver(turn: AnyTurn): turn is Turn {
  return 'state' in turn;
}

export function callsIn(turn: AnyTurn | undefined): ToolCallState[] {
  return (turn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

export function pendingCalls(turn: AnyTurn | undefined): PendingCall[] {
  return callsIn(turn).filter((call) => call.status === 'pending-confirmation');
}

/** The reason of a failure: the last part of a failed turn. */
export function failureOf({ responseParts }: AnyTurn): ErrorResponsePart | undefined {
  const last = responseParts.at(-1);
  return last?.kind === 'error' ? last : undefined;
}

/** The failed turn that can resume where it stopped: only the last one, and only while none runs. */
export function resumableTurn({ activeTurn, turns }: ChatState): Turn | undefined {
  const last = turns.at(-1);
  if (activeTurn || last?.state !== 'error') return undefined;
  return failureOf(last)?.resumable ? last : undefined;
}

/** An open question, and the chat that takes its answer. */
export interface OpenRequest {
  readonly request: ChatInputRequest;
  readonly chat: string;
}

/** The open questions of the running turn, then those outside of turns, such as whether to trust a folder. */
export function openRequests({ session, chat }: OpenSessionState): OpenRequest[] {
  const parts = (chat.activeTurn?.responseParts ?? []).filter((part) => part.kind === 'inputRequest');
  const known = new Set(parts.map(({ request }) => request.id));
  const asked = parts.flatMap(({ request, response }) =>
    response === undefined ? [{ request, chat: chat.resource }] : [],
  );
  const listed = (session.inputNeeded ?? []).flatMap((entry) => {
    if (entry.kind !== 'chatInput' || known.has(entry.request.id)) return [];
    const { request, chat: asker } = entry;
    const isHere = isStanding(entry) || (asker === chat.resource && chat.activeTurn !== undefined);
    return isHere ? [{ request, chat: asker }] : [];
  });
  return [...asked, ...listed];
}

/** The model and the agent of a message. In AHP a session has no choice of its own: each message names them. */
export type Selection = Pick<Message, 'model' | 'agent'>;

/** The selection of the next message unless the person chooses: that of the draft, or of the last message. */
export function carriedSelection({ draft, activeTurn, turns }: ChatState): Selection {
  const last = (activeTurn ?? turns.at(-1))?.message;
  const model = draft?.model ?? last?.model;
  const agent = draft?.agent ?? last?.agent;
  return { ...(model && { model }), ...(agent && { agent }) };
}

/** The model of the next message, as far as it is known here. */
export function modelOf({ session, chat }: OpenSessionState): Message['model'] {
  return carriedSelection(chat).model ?? selectionOf(session._meta).model;
}

export function userMessage(text: string, selection: Selection): Message {
  return { text, origin: { kind: 'user' }, ...selection };
}

const ANSWERS: Readonly<Record<string, string>> = { accept: 'answered', decline: 'declined', cancel: 'taken back' };

/** The question to the person; the answers are only for the agent. */
export function questionText({ request, response }: InputRequestResponsePart): string {
  const asked = [request.message ?? '', ...(request.questions ?? []).map(({ message }) => message)];
  const texts = [...new Set(asked)].filter((text) => text !== '');
  return [...texts.map((text) => `? ${text}`), response ? `(${ANSWERS[response]})` : '(not answered yet)'].join('\n');
}

/** The answer without reasoning, calls and notes. */
export function answerText(parts: readonly ResponsePart[]): string {
  return parts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('\n\n');
}

export function plain(text: StringOrMarkdown | undefined): string {
  if (text === undefined) return '';
  return typeof text === 'string' ? text : text.markdown;
}

/** The text in a tool's result. */
export function outputText(call: ToolCallState): string {
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

// Answers to a call, as actions. If the call has options of its own, the answer names one.

export type PendingCall = Extract<ToolCallState, { status: 'pending-confirmation' }>;

/** The option with which the host does not ask about a tool again in this session. */
const ALLOW_IN_SESSION = 'allow-session';

export interface Target {
  readonly turnId: string;
  readonly call: PendingCall;
}

export interface Approval {
  readonly option?: ConfirmationOption | undefined;
  readonly editedInput?: string;
}

export function approve({ turnId, call }: Target, { option, editedInput }: Approval = {}): OpenAction {
  const chosen = option ?? plainOption(call, 'approve');
  return {
    type: 'chat/toolCallConfirmed',
    turnId,
    toolCallId: call.toolCallId,
    approved: true,
    confirmed: 'user-action',
    ...(editedInput !== undefined && { editedToolInput: editedInput }),
    ...(chosen && { selectedOptionId: chosen.id }),
  };
}

interface Denial {
  readonly option?: ConfirmationOption | undefined;
  /** For the model: the reason, or what to do instead. */
  readonly reason?: string;
}

export function deny({ turnId, call }: Target, { option, reason }: Denial = {}): OpenAction {
  const chosen = option ?? plainOption(call, 'deny');
  return {
    type: 'chat/toolCallConfirmed',
    turnId,
    toolCallId: call.toolCallId,
    approved: false,
    reason: 'denied',
    ...(reason !== undefined && { reasonMessage: reason }),
    ...(chosen && { selectedOptionId: chosen.id }),
  };
}

/** The plain yes or no among the options: the first that counts once only. */
export function plainOption(
  { options = [] }: PendingCall,
  kind: ConfirmationOption['kind'],
): ConfirmationOption | undefined {
  const fitting = options.filter((option) => option.kind === kind);
  return fitting.find(({ id }) => id !== ALLOW_IN_SESSION) ?? fitting[0];
}

/** The option that allows the tool for the rest of the session, if it is offered. */
export function lastingOption({ options = [] }: PendingCall): ConfirmationOption | undefined {
  return options.find(({ id, kind }) => id === ALLOW_IN_SESSION && kind === 'approve');
}
