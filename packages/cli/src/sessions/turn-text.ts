/** Reads turns and tool calls out of a session's state, and answers calls that ask for permission. */
import type {
  ActiveTurn,
  ConfirmationOption,
  ResponsePart,
  SessionAction,
  SessionState,
  StringOrMarkdown,
  ToolCallState,
  Turn,
} from '@atrium/protocol';

export type AnyTurn = ActiveTurn | Turn;

/** The turn with this id, running or over. New ones stand at the end. */
export function turnOf({ activeTurn, turns }: SessionState, id: string): AnyTurn | undefined {
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

/** The answer without reasoning, calls and notes. */
export function answerText(parts: readonly ResponsePart[]): string {
  return parts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('\n\n');
}

export function plain(text: StringOrMarkdown | undefined): string {
  if (text === undefined) return '';
  return typeof text === 'string' ? text : text.markdown;
}

/** What a tool returned, as far as it is text. */
export function outputText(call: ToolCallState): string {
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

// Answers to a call, as actions. Where the call has options of its own, the answer names one.

type PendingCall = Extract<ToolCallState, { status: 'pending-confirmation' }>;

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

export function approve({ turnId, call }: Target, { option, editedInput }: Approval = {}): SessionAction {
  const chosen = option ?? plainOption(call, 'approve');
  return {
    type: 'session/toolCallConfirmed',
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
  /** For the model: why, or what to do instead. */
  readonly reason?: string;
}

export function deny({ turnId, call }: Target, { option, reason }: Denial = {}): SessionAction {
  const chosen = option ?? plainOption(call, 'deny');
  return {
    type: 'session/toolCallConfirmed',
    turnId,
    toolCallId: call.toolCallId,
    approved: false,
    reason: 'denied',
    ...(reason !== undefined && { reasonMessage: reason }),
    ...(chosen && { selectedOptionId: chosen.id }),
  };
}

/** The plain yes or no among the options: the first that does not last. */
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
