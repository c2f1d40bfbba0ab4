/**
 * A version-1 client as its own text describes it: a snapshot, and a reducer for the sixteen session actions. Written
 * from the client's side, so that the dialect is tested against what such a client would make of it.
 */
import type {
  V1ActionEnvelope,
  V1ActiveTurn,
  V1CompletedToolCall,
  V1SessionAction,
  V1SessionState,
  V1ToolCallState,
  V1ToolCallStatus,
  V1Turn,
} from '../../src/versions/v1.js';

type V1ActionMap = { [Type in V1SessionAction['type']]: Extract<V1SessionAction, { type: Type }> };
type Handler<Action> = (state: V1SessionState, action: Action) => V1SessionState;

const handlers: { readonly [Type in keyof V1ActionMap]: Handler<V1ActionMap[Type]> } = {
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
      const status: V1ToolCallStatus = result.success ? 'completed' : 'failed';
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
      const status: V1ToolCallStatus = approved ? 'running' : 'cancelled';
      return request ? changeCall({ ...turn, pendingPermissions }, request.toolCallId, { status }) : turn;
    }),
  'session/turnComplete': (state, { turnId }) => finish(state, turnId, { state: 'complete' }),
  'session/turnCancelled': (state, { turnId }) => finish(state, turnId, { state: 'cancelled' }),
  'session/error': (state, { turnId, error }) => finish(state, turnId, { state: 'error', error }),
};

/** Applies an envelope. Rejected actions change nothing, and neither do types that nobody knows. */
export function applyV1(state: V1SessionState, { action, rejectionReason }: V1ActionEnvelope): V1SessionState {
  if (rejectionReason !== undefined || action.type === 'root/agentsChanged') return state;
  const handler = handlers[action.type] as Handler<V1SessionAction> | undefined;
  return handler ? handler(state, action) : state;
}

function newTurn(id: string, userMessage: V1ActiveTurn['userMessage']): V1ActiveTurn {
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

function inTurn(state: V1SessionState, turnId: string, change: (turn: V1ActiveTurn) => V1ActiveTurn): V1SessionState {
  const { activeTurn } = state;
  return activeTurn?.id === turnId ? { ...state, activeTurn: change(activeTurn) } : state;
}

function withCall(turn: V1ActiveTurn, call: V1ToolCallState): V1ActiveTurn {
  return { ...turn, toolCalls: { ...turn.toolCalls, [call.toolCallId]: call } };
}

function changeCall(turn: V1ActiveTurn, id: string | undefined, members: Partial<V1ToolCallState>): V1ActiveTurn {
  const call = id === undefined ? undefined : turn.toolCalls[id];
  return call ? withCall(turn, { ...call, ...members }) : turn;
}

function finish(state: V1SessionState, turnId: string, end: Pick<V1Turn, 'state' | 'error'>): V1SessionState {
  const { activeTurn, ...rest } = state;
  if (activeTurn?.id !== turnId) return state;
  const { id, userMessage, responseParts, streamingText, toolCalls, usage } = activeTurn;
  const finished = Object.values(toolCalls).map(finishCall);
  const turn = { id, userMessage, responseParts, responseText: streamingText, toolCalls: finished, usage, ...end };
  return { ...rest, turns: [...state.turns, turn] };
}

/** What has not come to a result by the end of its turn has no success. */
function finishCall(call: V1ToolCallState): V1CompletedToolCall {
  const { toolCallId, toolName, displayName, invocationMessage, toolInput, toolOutput, error } = call;
  const base = { toolCallId, toolName, displayName, invocationMessage, toolInput };
  const pastTenseMessage = call.pastTenseMessage ?? invocationMessage;
  return { ...base, success: call.status === 'completed', pastTenseMessage, toolOutput, error };
}
