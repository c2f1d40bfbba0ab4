/**
 * A sessions-v1 client as its own text describes it: a snapshot, and a reducer for the sixteen session actions. Written
 * from the client's side, so that the dialect is tested against what such a client would make of it.
 */
import type {
  SessionsV1ActionEnvelope,
  SessionsV1ActiveTurn,
  SessionsV1CompletedToolCall,
  SessionsV1SessionAction,
  SessionsV1SessionState,
  SessionsV1ToolCallState,
  SessionsV1ToolCallStatus,
  SessionsV1Turn,
} from '../../src/dialects/sessions-v1/wire.js';

type SessionsV1ActionMap = {
  [Type in SessionsV1SessionAction['type']]: Extract<SessionsV1SessionAction, { type: Type }>;
};
type Handler<Action> = (state: SessionsV1SessionState, action: Action) => SessionsV1SessionState;

const handlers: { readonly [Type in keyof SessionsV1ActionMap]: Handler<SessionsV1ActionMap[Type]> } = {
  'session/ready': (state) => ({ ...state, lifecycle: 'ready' }),
  'session/creationFailed': (state, { error }) => ({ ...state, lifecycle: 'creationFailed', creationError: error }),
  'session/titleChanged': (state, { title }) => ({ ...state, summary: { ...state.summary, title } }),
  'session/modelChanged': (state, { model }) => ({ ...state, summary: { ...state.summary, model } }),
  'session/turnStarted': (state, { turnId, userMessage }) => ({ ...state, activeTurn: newTurn(turnId, userMessage) }),
  'session/delta': (state, { turnId, content }) =>
    inTurn(state, turnId, (turn) => ({ ...turn, streamingText: turn.streamingText + content })),
  'session/reasoning': (state, { turnId, content }) =>
    inTurn(state, turnId, (turn) => ({ ...turn, reasoning: turn.reasoning + content })),
  'session/responsePart': (state, { turnId, part }) =>
    inTurn(state, turnId, (turn) => ({ ...turn, responseParts: [...turn.responseParts, part] })),
  'session/usage': (state, { turnId, usage }) => inTurn(state, turnId, (turn) => ({ ...turn, usage })),
  'session/toolStart': (state, { turnId, toolCall }) => inTurn(state, turnId, (turn) => withCall(turn, toolCall)),
  'session/toolComplete': (state, { turnId, toolCallId, result }) =>
    inTurn(state, turnId, (turn) => {
      const status: SessionsV1ToolCallStatus = result.success ? 'completed' : 'failed';
      const { success: _success, ...members } = result;
      return changeCall(turn, toolCallId, { ...members, status });
    }),
  'session/permissionRequest': (state, { turnId, request }) =>
    inTurn(state, turnId, (turn) => {
      const pendingPermissions = { ...turn.pendingPermissions, [request.requestId]: request };
      return changeCall({ ...turn, pendingPermissions }, request.toolCallId, { status: 'pending-permission' });
    }),
  'session/permissionResolved': (state, { turnId, requestId, approved }) =>
    inTurn(state, turnId, (turn) => {
      const { [requestId]: request, ...pendingPermissions } = turn.pendingPermissions;
      const status: SessionsV1ToolCallStatus = approved ? 'running' : 'cancelled';
      return request ? changeCall({ ...turn, pendingPermissions }, request.toolCallId, { status }) : turn;
    }),
  'session/turnComplete': (state, { turnId }) => finish(state, turnId, { state: 'complete' }),
  'session/turnCancelled': (state, { turnId }) => finish(state, turnId, { state: 'cancelled' }),
  'session/error': (state, { turnId, error }) => finish(state, turnId, { state: 'error', error }),
};

/** Applies an envelope. Rejected actions change nothing, and neither do types that nobody knows. */
export function applySessionsV1(
  state: SessionsV1SessionState,
  { action, rejectionReason }: SessionsV1ActionEnvelope,
): SessionsV1SessionState {
  if (rejectionReason !== undefined || action.type === 'root/agentsChanged') return state;
  const handler = handlers[action.type] as Handler<SessionsV1SessionAction> | undefined;
  return handler ? handler(state, action) : state;
}

function newTurn(id: string, userMessage: SessionsV1ActiveTurn['userMessage']): SessionsV1ActiveTurn {
  return {
    id,
    userMessage,
    streamingText: '',
    reasoning: '',
    responseParts: [],
    toolCalls: {},
    pendingPermissions: {},
  };
}

function inTurn(
  state: SessionsV1SessionState,
  turnId: string,
  change: (turn: SessionsV1ActiveTurn) => SessionsV1ActiveTurn,
): SessionsV1SessionState {
  const { activeTurn } = state;
  return activeTurn?.id === turnId ? { ...state, activeTurn: change(activeTurn) } : state;
}

function withCall(turn: SessionsV1ActiveTurn, call: SessionsV1ToolCallState): SessionsV1ActiveTurn {
  return { ...turn, toolCalls: { ...turn.toolCalls, [call.toolCallId]: call } };
}

function changeCall(
  turn: SessionsV1ActiveTurn,
  id: string | undefined,
  members: Partial<SessionsV1ToolCallState>,
): SessionsV1ActiveTurn {
  const call = id === undefined ? undefined : turn.toolCalls[id];
  return call ? withCall(turn, { ...call, ...members }) : turn;
}

function finish(
  state: SessionsV1SessionState,
  turnId: string,
  end: Pick<SessionsV1Turn, 'state' | 'error'>,
): SessionsV1SessionState {
  const { activeTurn, ...rest } = state;
  if (activeTurn?.id !== turnId) return state;
  const { id, userMessage, responseParts, streamingText, toolCalls, usage } = activeTurn;
  const finished = Object.values(toolCalls).map(finishCall);
  const turn = { id, userMessage, responseParts, responseText: streamingText, toolCalls: finished, usage, ...end };
  return { ...rest, turns: [...state.turns, turn] };
}

/** What has not come to a result by the end of its turn has no success. */
function finishCall(call: SessionsV1ToolCallState): SessionsV1CompletedToolCall {
  const { toolCallId, toolName, displayName, invocationMessage, toolInput, toolOutput, error } = call;
  const base = { toolCallId, toolName, displayName, invocationMessage, toolInput };
  const pastTenseMessage = call.pastTenseMessage ?? invocationMessage;
  return { ...base, success: call.status === 'completed', pastTenseMessage, toolOutput, error };
}
