/** Answers to questions. */
import type { SessionInputAnswer, SessionInputRequest, SessionState } from '@atrium/protocol';
import { ANSWER_MAX_CHARACTERS } from '../../limits.js';
import type { Rules } from '../rules.js';

export const inputRules: Rules = {
  'session/inputAnswerChanged': ({ requestId, questionId, answer }, { state }) => {
    const request = find(state, requestId);
    if (!request) return `no question ${requestId} is open`;
    if (!request.questions?.some(({ id }) => id === questionId)) return `${requestId} does not ask ${questionId}`;
    const isTooLong = answer !== undefined && JSON.stringify(answer).length > ANSWER_MAX_CHARACTERS;
    return isTooLong ? `an answer may have ${ANSWER_MAX_CHARACTERS} characters as JSON` : undefined;
  },

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
