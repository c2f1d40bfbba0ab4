/**
 * AHP 0.5.0: 0.5.1 without the list of what waits, capabilities of agents and pages of sessions. `fetchTurns` answers
 * with turns instead of loading them into the state.
 */
import { PRIVATE } from '../../ahp-1/private-members.js';
import { leaveOut, only, type VersionDelta } from '../upstream/delta.js';

const withoutNonce = leaveOut('nonce');
const withoutIntention = leaveOut('intention');

export const ahp050: VersionDelta = {
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
    // The page under the private name asks for turns in the answer.
    fetchTurns: ({ channel, ...page }) => ({ channel, [PRIVATE]: page }),
  },
};
