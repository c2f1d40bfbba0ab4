/**
 * The service worker of the page posts Allow and Deny here, because it has no connection. Only a page of this host can
 * do so.
 */
import { ANSWER_PATH } from '@atrium/protocol/ahp-1';
import type { Route } from '../server/routes.js';
import type { AnswerResult } from './answers.js';

const STATUS: Readonly<Record<AnswerResult['kind'], number>> = { taken: 200, stale: 409, forbidden: 403 };

export function answerRoute(answer: (key: unknown, approved: unknown) => Promise<AnswerResult>): Route {
  return {
    method: 'POST',
    path: ANSWER_PATH,
    answer: async ({ isPage, body }) => {
      if (!isPage) return { status: 403 };
      const { key, approved } = (body ?? {}) as { readonly key?: unknown; readonly approved?: unknown };
      const { kind, ...json } = await answer(key, approved);
      return { status: STATUS[kind], json };
    },
  };
}
