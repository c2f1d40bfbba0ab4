/** The life of a tool call, from its start to its result. An action that does not fit the call's state changes nothing. */
import { withPart, withPartsOf } from '../../parts.js';
import { withMembers, withoutMember } from '../../reducing.js';
import { present } from '../reducing.js';
import { type ChatHandlers, refreshed, withActiveTurn } from './reducing.js';
import type { ChatState } from './state.js';
import type {
  ChatToolCallCompleteAction,
  ChatToolCallConfirmedAction,
  ChatToolCallReadyAction,
  toolCallActions,
} from './tool-call-actions.js';
import type {
  ToolCallAuthRequiredState,
  ToolCallContributor,
  ToolCallPendingConfirmationState,
  ToolCallPendingResultConfirmationState,
  ToolCallRunningState,
  ToolCallState,
  ToolCallStreamingState,
} from './tool-calls.js';
import type { ResponsePart } from './turns.js';

export const toolCallHandlers: ChatHandlers<keyof typeof toolCallActions> = {
  'chat/toolCallStart': (state, action) =>
    withActiveTurn(state, action.turnId, (turn) => {
      const toolCall: ToolCallState = { status: 'streaming', ...baseOf(action) };
      return withPart(turn, { kind: 'toolCall', toolCall });
    }),

  'chat/toolCallDelta': (state, action) =>
    withToolCall(state, action, (call) => {
      if (call.status !== 'streaming') return undefined;
      const { content, invocationMessage } = action;
      const partialInput = content === undefined ? undefined : (call.partialInput ?? '') + content;
      return withMembers(call, present({ partialInput, invocationMessage }));
    }),

  'chat/toolCallReady': (state, action) =>
    withToolCall(state, action, (call) => {
      const { status } = call;
      const fits = status === 'streaming' || status === 'running' || status === 'pending-confirmation';
      return fits ? ready(call, action) : undefined;
    }),

  'chat/toolCallConfirmed': (state, action) =>
    withToolCall(state, action, (call) =>
      call.status === 'pending-confirmation' ? answered(call, action) : undefined,
    ),

  'chat/toolCallComplete': (state, action) =>
    withToolCall(state, action, (call) => {
      if (call.status === 'auth-required') return failedWithoutToken(call, action);
      return call.status === 'running' || call.status === 'pending-confirmation' ? returned(call, action) : undefined;
    }),

  'chat/toolCallResultConfirmed': (state, action) =>
    withToolCall(state, action, (call) =>
      call.status === 'pending-result-confirmation' ? resultConfirmed(call, action.approved) : undefined,
    ),

  'chat/toolCallContentChanged': (state, action) =>
    withToolCall(state, action, (call) =>
      call.status === 'running' ? withMembers(call, { content: action.content }) : undefined,
    ),

  'chat/toolCallAuthRequired': (state, action) =>
    withToolCall(state, action, (call) => {
      if (call.status !== 'running' || call.contributor?.kind !== 'mcp') return undefined;
      return { ...call, contributor: call.contributor, status: 'auth-required', auth: action.auth };
    }),

  'chat/toolCallAuthResolved': (state, action) =>
    withToolCall(state, action, (call) =>
      call.status === 'auth-required' ? { ...withoutMember(call, 'auth'), status: 'running' } : undefined,
    ),
};

interface ToolCallAction {
  readonly turnId: string;
  readonly toolCallId: string;
  readonly _meta?: Record<string, unknown>;
}

/**
 * Changes every call with this id in the active turn, and the chat's status. `change` returns undefined for a call that
 * the action does not fit; for the others, the action's metadata replaces that of the call.
 */
function withToolCall(
  state: ChatState,
  { turnId, toolCallId, _meta }: ToolCallAction,
  change: (call: ToolCallState) => ToolCallState | undefined,
): ChatState {
  const changedPart = (part: ResponsePart): ResponsePart => {
    if (part.kind !== 'toolCall') return part;
    const changed = change(part.toolCall);
    return changed ? withMembers(part, { toolCall: withMembers(changed, present({ _meta })) }) : part;
  };
  const changed = withActiveTurn(state, turnId, (turn) => withPartsOf(turn, toolCallId, changedPart));
  return changed === state ? state : refreshed(changed);
}

type ReadyCall = ToolCallStreamingState | ToolCallRunningState | ToolCallPendingConfirmationState;

/**
 * The parameters are complete: the call runs, or waits for a person. Members that the action leaves out keep what a
 * person saw before; if the call runs, only the input is kept.
 */
function ready(call: ReadyCall, action: ChatToolCallReadyAction): ToolCallState {
  const { invocationMessage, confirmed, intention = call.intention } = action;
  const base = baseOf({ ...call, intention, contributor: refined(call.contributor, action.contributor) });
  const toolInput = action.toolInput ?? (call.status === 'streaming' ? undefined : call.toolInput);
  if (confirmed) return present({ status: 'running', ...base, invocationMessage, toolInput, confirmed });
  const asked = call.status === 'pending-confirmation' ? call : undefined;
  return present({
    status: 'pending-confirmation',
    ...base,
    invocationMessage,
    toolInput,
    confirmationTitle: action.confirmationTitle ?? asked?.confirmationTitle,
    riskAssessment: action.riskAssessment ?? asked?.riskAssessment,
    edits: action.edits ?? asked?.edits,
    editable: action.editable ?? asked?.editable,
    options: action.options ?? asked?.options,
  });
}

/** A client's call stays that client's, and no other call becomes a client's later. Everything else may arrive late. */
function refined(
  known: ToolCallContributor | undefined,
  contributor: ToolCallContributor | undefined,
): ToolCallContributor | undefined {
  if (!contributor) return known;
  if (known?.kind === 'client')
    return contributor.kind === 'client' ? { ...contributor, clientId: known.clientId } : known;
  return contributor.kind === 'client' ? known : contributor;
}

/** A person approved or denied the call. An edit replaces the input, unless the input is a reference. */
function answered(call: ToolCallPendingConfirmationState, action: ChatToolCallConfirmedAction): ToolCallState {
  const { invocationMessage, toolInput, options } = call;
  const selectedOption = action.selectedOptionId && options?.find(({ id }) => id === action.selectedOptionId);
  const chosen = { ...baseOf(call), invocationMessage, ...(selectedOption && { selectedOption }) };
  if (!action.approved) {
    const { reason, reasonMessage, userSuggestion } = action;
    return present({ status: 'cancelled', ...chosen, toolInput, reason, reasonMessage, userSuggestion });
  }
  const input = typeof toolInput === 'object' ? toolInput : (action.editedToolInput ?? toolInput);
  return present({ status: 'running', ...chosen, toolInput: input, confirmed: action.confirmed });
}

/** The call with its result, which replaces partial output. */
function returned(
  call: ToolCallRunningState | ToolCallPendingConfirmationState,
  { result, requiresResultConfirmation }: ChatToolCallCompleteAction,
): ToolCallState {
  const isRunning = call.status === 'running';
  return present({
    status: requiresResultConfirmation ? 'pending-result-confirmation' : 'completed',
    ...baseOf(call),
    invocationMessage: call.invocationMessage,
    toolInput: call.toolInput,
    confirmed: isRunning ? call.confirmed : 'not-needed',
    selectedOption: isRunning ? call.selectedOption : undefined,
    ...result,
  });
}

/** A call cannot succeed without its token. Its failure needs no confirmation, and keeps earlier output. */
function failedWithoutToken(
  call: ToolCallAuthRequiredState,
  { result }: ChatToolCallCompleteAction,
): ToolCallState | undefined {
  if (result.success) return undefined;
  const { invocationMessage, toolInput, confirmed, selectedOption, content } = call;
  return present<ToolCallState>({
    status: 'completed',
    ...baseOf(call),
    invocationMessage,
    toolInput,
    confirmed,
    selectedOption,
    ...result,
    content: result.content ?? content,
  });
}

/** The result is released, or discarded with its data. */
function resultConfirmed(call: ToolCallPendingResultConfirmationState, approved: boolean): ToolCallState {
  if (approved) return { ...call, status: 'completed' };
  const { invocationMessage, toolInput, selectedOption } = call;
  return present({
    status: 'cancelled',
    ...baseOf(call),
    invocationMessage,
    toolInput,
    reason: 'result-denied',
    selectedOption,
  });
}

/** A part as history keeps it: an unfinished tool call becomes skipped. Unknown states stay. */
export function settled(part: ResponsePart): ResponsePart {
  return part.kind === 'toolCall' ? { ...part, toolCall: skipped(part.toolCall) } : part;
}

function skipped(call: ToolCallState): ToolCallState {
  switch (call.status) {
    case 'streaming':
      return cancelled(call, call.invocationMessage ?? '');
    case 'pending-confirmation':
    case 'running':
    case 'auth-required':
    case 'pending-result-confirmation':
      return cancelled(call, call.invocationMessage, call.toolInput);
    default:
      return call;
  }
}

function cancelled(
  call: ToolCallState,
  invocationMessage: ToolCallRunningState['invocationMessage'],
  toolInput?: ToolCallRunningState['toolInput'],
): ToolCallState {
  return present({ status: 'cancelled', ...baseOf(call), invocationMessage, toolInput, reason: 'skipped' });
}

/** The members that a tool call has from its start to its end. */
type ToolCallBase = Pick<
  ToolCallState,
  'toolCallId' | 'toolName' | 'displayName' | 'intention' | 'contributor' | '_meta'
>;

function baseOf({ toolCallId, toolName, displayName, intention, contributor, _meta }: ToolCallBase): ToolCallBase {
  return present({ toolCallId, toolName, displayName, intention, contributor, _meta });
}
