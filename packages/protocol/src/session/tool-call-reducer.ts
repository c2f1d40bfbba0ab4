/** The life of a tool call, from its start to its result. An action that does not fit the call's state changes nothing. */
import { withPart, withPartsOf } from '../parts.js';
import { refreshed, type SessionHandlers, withActiveTurn } from './reducing.js';
import type { SessionState } from './state.js';
import type {
  SessionToolCallCompleteAction,
  SessionToolCallConfirmedAction,
  SessionToolCallReadyAction,
} from './tool-call-actions.js';
import type {
  ConfirmationOption,
  ToolCallPendingConfirmationState,
  ToolCallPendingResultConfirmationState,
  ToolCallRunningState,
  ToolCallState,
} from './tool-calls.js';
import type { ResponsePart } from './turns.js';

export const toolCallHandlers: SessionHandlers<
  | 'session/toolCallStart'
  | 'session/toolCallDelta'
  | 'session/toolCallReady'
  | 'session/toolCallConfirmed'
  | 'session/toolCallComplete'
  | 'session/toolCallResultConfirmed'
  | 'session/toolCallContentChanged'
> = {
  'session/toolCallStart': (state, action) =>
    withActiveTurn(state, action.turnId, (turn) => {
      const toolCall = { ...baseOf(action), status: 'streaming' as const };
      return withPart(turn, { kind: 'toolCall', toolCall });
    }),

  'session/toolCallDelta': (state, action) =>
    withToolCall(state, action, (call) => {
      if (call.status !== 'streaming') return call;
      const partialInput = (call.partialInput ?? '') + action.content;
      return { ...call, partialInput, invocationMessage: action.invocationMessage ?? call.invocationMessage };
    }),

  'session/toolCallReady': (state, action) =>
    refreshed(
      withToolCall(state, action, (call) =>
        call.status === 'streaming' || call.status === 'running' ? ready(call, action) : call,
      ),
    ),

  'session/toolCallConfirmed': (state, action) =>
    refreshed(
      withToolCall(state, action, (call) => (call.status === 'pending-confirmation' ? answered(call, action) : call)),
    ),

  'session/toolCallComplete': (state, action) =>
    refreshed(
      withToolCall(state, action, (call) =>
        call.status === 'running' || call.status === 'pending-confirmation' ? completedFrom(call, action) : call,
      ),
    ),

  'session/toolCallResultConfirmed': (state, action) =>
    refreshed(
      withToolCall(state, action, (call) =>
        call.status === 'pending-result-confirmation' ? resultConfirmed(call, action.approved) : call,
      ),
    ),

  'session/toolCallContentChanged': (state, action) =>
    withToolCall(state, action, (call) => (call.status === 'running' ? { ...call, content: action.content } : call)),
};

interface Target {
  readonly turnId: string;
  readonly toolCallId: string;
}

/** Changes every call with this id in the active turn. */
function withToolCall(
  state: SessionState,
  { turnId, toolCallId }: Target,
  change: (call: ToolCallState) => ToolCallState,
): SessionState {
  const changedPart = (part: ResponsePart): ResponsePart => {
    if (part.kind !== 'toolCall') return part;
    const toolCall = change(part.toolCall);
    return toolCall === part.toolCall ? part : { ...part, toolCall };
  };
  return withActiveTurn(state, turnId, (turn) => withPartsOf(turn, toolCallId, changedPart));
}

/** The parameters are complete: the call runs, or waits for a person. Nothing of an earlier run survives. */
function ready(call: ToolCallState, action: SessionToolCallReadyAction): ToolCallState {
  const { invocationMessage, toolInput, confirmed, confirmationTitle, edits, editable, options } = action;
  if (confirmed) return { status: 'running', ...baseOf(call), invocationMessage, toolInput, confirmed };
  return {
    status: 'pending-confirmation',
    ...baseOf(call),
    invocationMessage,
    toolInput,
    confirmationTitle,
    edits,
    editable,
    ...(options && { options }),
  };
}

/** A person approved or denied the call. `""` is a legal edit of the input. */
function answered(call: ToolCallPendingConfirmationState, action: SessionToolCallConfirmedAction): ToolCallState {
  const { invocationMessage, toolInput } = call;
  const selectedOption = optionChosen(call, action.selectedOptionId);
  if (action.approved) {
    return {
      status: 'running',
      ...baseOf(call),
      invocationMessage,
      toolInput: action.editedToolInput ?? toolInput,
      confirmed: action.confirmed,
      ...(selectedOption && { selectedOption }),
    };
  }
  return {
    status: 'cancelled',
    ...baseOf(call),
    invocationMessage,
    toolInput,
    reason: action.reason,
    reasonMessage: action.reasonMessage,
    userSuggestion: action.userSuggestion,
    ...(selectedOption && { selectedOption }),
  };
}

function optionChosen(
  { options }: ToolCallPendingConfirmationState,
  id: string | undefined,
): ConfirmationOption | undefined {
  return id ? options?.find((option) => option.id === id) : undefined;
}

/** The call with its result, which replaces partial output. */
function completedFrom(
  call: ToolCallRunningState | ToolCallPendingConfirmationState,
  { result, requiresResultConfirmation }: SessionToolCallCompleteAction,
): ToolCallState {
  const running = call.status === 'running';
  return {
    status: requiresResultConfirmation ? 'pending-result-confirmation' : 'completed',
    ...baseOf(call),
    invocationMessage: call.invocationMessage,
    toolInput: call.toolInput,
    confirmed: running ? call.confirmed : 'not-needed',
    ...(running && call.selectedOption && { selectedOption: call.selectedOption }),
    ...result,
  };
}

/** The result is released, or discarded with its data. */
function resultConfirmed(call: ToolCallPendingResultConfirmationState, approved: boolean): ToolCallState {
  const { invocationMessage, toolInput, selectedOption } = call;
  const chosen = selectedOption && { selectedOption };
  if (!approved) {
    return {
      status: 'cancelled',
      ...baseOf(call),
      invocationMessage,
      toolInput,
      reason: 'result-denied',
      ...chosen,
    };
  }
  const { confirmed, success, pastTenseMessage, content, structuredContent, error } = call;
  return {
    status: 'completed',
    ...baseOf(call),
    invocationMessage,
    toolInput,
    confirmed,
    ...chosen,
    success,
    pastTenseMessage,
    content,
    structuredContent,
    error,
  };
}

/** The five members that a tool call has from its start to its end. */
type ToolCallBase = Pick<ToolCallState, 'toolCallId' | 'toolName' | 'displayName' | 'toolClientId' | '_meta'>;

/** Sets all five keys, even to undefined: a strict comparison can tell the difference. */
export function baseOf({ toolCallId, toolName, displayName, toolClientId, _meta }: ToolCallBase): ToolCallBase {
  return { toolCallId, toolName, displayName, toolClientId, _meta };
}
