/** Answers to questions. */
import type { SessionInputAnswer, SessionInputRequest, SessionState } from '@atrium/protocol';
import type { Rules } from '../rules.js';

export const inputRules: Rules = {
  'session/inputAnswerChanged': ({ requestId }, { state }) =>
    find(state, requestId) ? undefined : `no question ${requestId} is open`,

  'session/inputCompleted': ({ requestId, response, answers }, { state }) => {
    const request = find(state, requestId);
    if (!request) return `no question ${requestId} is open: somebody answered already`;
    if (response !== 'accept') return undefined;
    const missing = unanswered(request, { ...request.answers, ...answers });
    return missing ? `question ${missing} needs an answer` : undefined;
  },
};

function find(state: SessionState, requestId: string): SessionInputRequest | undefined {
  return state.inputRequests?.find(({ id }) => id === requestId);
}

function unanswered(request: SessionInputRequest, answers: Record<string, SessionInputAnswer>): string | undefined {
  const open = request.questions?.find(({ id, required }) => required && answers[id]?.state !== 'submitted');
  return open?.id;
}
