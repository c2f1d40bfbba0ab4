/** Questions of a turn to a person. */
import type { SessionInputRequest } from '@atrium/protocol';
import type { InputOutcome } from '../contracts/agent.js';
import { CLIENT_GRACE_MS } from '../limits.js';
import type { TurnRunner } from './turn.js';
import { NO_CALL } from './waiters.js';

export async function askPerson(turn: TurnRunner, request: SessionInputRequest): Promise<InputOutcome> {
  turn.interrupt();
  turn.write({ type: 'session/inputRequested', request });
  cancelUnanswerable(turn, request.id);
  return turn.waitFor([NO_CALL], (_state, step) => {
    const action = step?.envelope.action;
    if (action?.type !== 'session/inputCompleted' || action.requestId !== request.id) return undefined;
    const drafts = step?.before.inputRequests?.find(({ id }) => id === request.id)?.answers;
    return { response: action.response, answers: { ...drafts, ...action.answers } };
  });
}

/** Clients of the oldest wire cannot be asked. With nobody else there, the turn would wait for ever. */
function cancelUnanswerable(turn: TurnRunner, requestId: string): void {
  const { uri, parts } = turn.session;
  parts.core.clock.after(CLIENT_GRACE_MS, () => {
    const isOpen = turn.session.state.inputRequests?.some(({ id }) => id === requestId);
    if (!isOpen || !turn.isActive) return;
    if (parts.core.mayBeAnswered(uri)) return cancelUnanswerable(turn, requestId);
    turn.write({ type: 'session/inputCompleted', requestId, response: 'cancel' });
  });
}
