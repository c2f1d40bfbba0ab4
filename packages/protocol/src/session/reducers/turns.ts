/** The life of a session and of its turns: begin, end, cut off. */
import type { ErrorInfo } from '../../common/error-info.js';
import { withMembers, withoutMember } from '../../reducing.js';
import type { ResponsePart } from '../state/response-part.js';
import type { SessionState } from '../state/session-state.js';
import type { ToolCallResponsePart } from '../state/tool-call-response-part.js';
import type { TurnState } from '../state/turn-state.js';
import { SessionStatus } from '../status.js';
import type { SessionHandlers } from './family.js';
import { withoutQueued } from './pending-messages.js';
import { touched, touchedUnread } from './status.js';
import { baseOf } from './tool-call-base.js';

export const turnHandlers: SessionHandlers<
  | 'session/ready'
  | 'session/creationFailed'
  | 'session/turnStarted'
  | 'session/turnComplete'
  | 'session/turnCancelled'
  | 'session/error'
  | 'session/truncated'
> = {
  'session/ready': (state) => withMembers(state, { lifecycle: 'ready' }),

  'session/creationFailed': (state, { error }) =>
    withMembers(state, { lifecycle: 'creationFailed', creationError: error }),

  'session/turnStarted': (state, { turnId, userMessage, queuedMessageId }, { now }) => {
    const activeTurn = { id: turnId, userMessage, responseParts: [], usage: undefined };
    const started = touchedUnread({ ...state, activeTurn }, now);
    return queuedMessageId ? withoutPending(started, queuedMessageId) : started;
  },

  'session/turnComplete': (state, { turnId }, { now }) => endTurn(state, { turnId, ended: 'complete', now }),

  'session/turnCancelled': (state, { turnId }, { now }) => endTurn(state, { turnId, ended: 'cancelled', now }),

  'session/error': (state, { turnId, error }, { now }) => endTurn(state, { turnId, ended: 'error', error, now }),

  'session/truncated': (state, { turnId }, { now }) => {
    const cutsAll = turnId === undefined || turnId === null;
    const keep = cutsAll ? 0 : state.turns.findIndex((turn) => turn.id === turnId) + 1;
    if (!cutsAll && keep === 0) return state;
    const rest = withoutMember(state, 'inputRequests');
    return touched({ ...rest, turns: state.turns.slice(0, keep), activeTurn: undefined }, now);
  },
};

interface TurnEnd {
  readonly turnId: string;
  readonly ended: TurnState;
  readonly error?: ErrorInfo;
  readonly now: number;
}

/** Moves the active turn to the finished ones. Calls that were still going are cancelled with it. */
function endTurn(state: SessionState, { turnId, ended, error, now }: TurnEnd): SessionState {
  const { activeTurn } = state;
  if (!activeTurn || activeTurn.id !== turnId) return state;
  const turn = {
    id: activeTurn.id,
    userMessage: activeTurn.userMessage,
    responseParts: activeTurn.responseParts.map(settled),
    usage: activeTurn.usage,
    state: ended,
    error,
  };
  const rest = withoutMember(state, 'inputRequests');
  const forced = ended === 'error' ? SessionStatus.Error : undefined;
  return touched({ ...rest, turns: [...state.turns, turn], activeTurn: undefined }, now, forced);
}

/** A part as it stays in history: a tool call that did not end is skipped. */
function settled(part: ResponsePart): ResponsePart {
  if (part.kind !== 'toolCall') return part;
  const { status } = part.toolCall;
  return status === 'completed' || status === 'cancelled' ? part : skipped(part);
}

function skipped({ toolCall }: ToolCallResponsePart): ToolCallResponsePart {
  const streaming = toolCall.status === 'streaming';
  return {
    kind: 'toolCall',
    toolCall: {
      status: 'cancelled',
      ...baseOf(toolCall),
      invocationMessage: streaming ? (toolCall.invocationMessage ?? '') : toolCall.invocationMessage,
      toolInput: streaming ? undefined : toolCall.toolInput,
      reason: 'skipped',
    },
  };
}

/** The waiting message that became a turn waits no longer, whichever kind it was. */
function withoutPending(state: SessionState, id: string): SessionState {
  const steered = state.steeringMessage?.id === id ? { ...state, steeringMessage: undefined } : state;
  return steered.queuedMessages ? withoutQueued(steered, id) : steered;
}
