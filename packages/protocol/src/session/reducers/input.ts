/** Questions to people: asked, answered in drafts that all clients share, and closed. */
import { withElement, withoutMember } from '../../reducing.js';
import type { SessionInputAnswer } from '../state/session-input-answer.js';
import type { SessionInputRequest } from '../state/session-input-request.js';
import type { SessionHandlers } from './family.js';
import { touched, touchedUnread } from './status.js';

export const inputHandlers: SessionHandlers<
  'session/inputRequested' | 'session/inputAnswerChanged' | 'session/inputCompleted'
> = {
  'session/inputRequested': (state, { request }, { now }) =>
    touchedUnread({ ...state, inputRequests: withRequest(state.inputRequests ?? [], request) }, now),

  'session/inputAnswerChanged': (state, { requestId, questionId, answer }, { now }) => {
    const requests = state.inputRequests ?? [];
    const index = requests.findIndex(({ id }) => id === requestId);
    const request = requests[index];
    if (!request) return state;
    const inputRequests = withElement(requests, index, {
      ...request,
      answers: withAnswer(request.answers ?? {}, questionId, answer),
    });
    return { ...state, inputRequests, summary: { ...state.summary, modifiedAt: now } };
  },

  'session/inputCompleted': (state, { requestId }, { now }) => {
    const open = state.inputRequests?.filter(({ id }) => id !== requestId);
    if (!open || open.length === state.inputRequests?.length) return state;
    return touched(open.length ? { ...state, inputRequests: open } : withoutMember(state, 'inputRequests'), now);
  },
};

/** Asked again under the same id, a request is amended; drafts survive unless it brings answers of its own. */
function withRequest(requests: SessionInputRequest[], request: SessionInputRequest): SessionInputRequest[] {
  const index = requests.findIndex(({ id }) => id === request.id);
  if (index < 0) return [...requests, request];
  return withElement(requests, index, { ...request, answers: request.answers ?? requests[index]?.answers });
}

type Answers = Record<string, SessionInputAnswer>;

function withAnswer(answers: Answers, questionId: string, answer: SessionInputAnswer | undefined): Answers | undefined {
  if (answer) return { ...answers, [questionId]: answer };
  const rest = withoutMember(answers, questionId);
  return Object.keys(rest).length ? rest : undefined;
}
