/**
 * AHP 0.5.0: 0.5.1 without the list of what waits, capabilities of agents and pages of sessions. `fetchTurns` answers
 * with turns instead of loading them into the state.
 */
import { type Delta, leaveOut, only } from '../upstream/delta.js';
import type { Json } from '../upstream/shapes.js';

const withoutNonce = leaveOut('nonce');
const withoutIntention = leaveOut('intention');

/**
 * Tells the host that the client wants the turns themselves. `limit` and `before` stay as they are, and the result, in
 * the shapes of 1.0, is `{ turns, hasMore }`.
 */
export const ANSWERS_WITH_TURNS = 'x-atrium/answersWithTurns';

export const ahp050: Delta = {
  version: '0.5.0',
  lacks: { actions: ['session/inputNeededSet', 'session/inputNeededRemoved', 'chat/turnsLoaded'] },
  down: {
    SessionState: leaveOut('inputNeeded'),
    ChatState: leaveOut('turnsNextCursor'),
    AgentInfo: leaveOut('capabilities'),
    Customization: only('type', ['agent'], leaveOut('model', 'tools')),
    ToolCall: withoutIntention,
    'chat/toolCallStart': withoutIntention,
    ContentRef: withoutNonce,
    ResponsePart: only('kind', ['contentRef'], withoutNonce),
    ToolResultContent: only('type', ['resource'], withoutNonce),
    MessageAttachment: only('type', ['resource'], withoutNonce),
    'listSessions:result': leaveOut('nextCursor'),
  },
  up: {
    listSessions: leaveOut('filter', 'limit', 'cursor'),
    subscribe: leaveOut('view', 'delivery'),
    fetchTurns: (params: Json) => ({ ...params, [ANSWERS_WITH_TURNS]: true }),
  },
};
