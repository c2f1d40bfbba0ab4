import { describe, expect, it } from 'vitest';
import type { SessionInputAnswer } from '../../src/session/input.js';
import { SessionStatus } from '../../src/session/status.js';
import {
  inputRequest,
  NOW,
  pendingConfirmation,
  reduceSession,
  sessionState,
  sessionSummary,
  toolPart,
  withTurn,
} from '../support/builders.js';

const { Idle, InProgress, InputNeeded, IsRead, IsArchived } = SessionStatus;
const draft = (value: string): SessionInputAnswer => ({ state: 'draft', value: { kind: 'text', value } });

describe('a question is asked', () => {
  const ask = (request: ReturnType<typeof inputRequest>) => ({ type: 'session/inputRequested', request }) as const;

  it('[ACT-031] and the session needs input, unread', () => {
    const state = withTurn([], { summary: sessionSummary({ status: InProgress | IsRead | IsArchived }) });
    expect(reduceSession(state, ask(inputRequest('q')))).toStrictEqual({
      ...state,
      inputRequests: [{ id: 'q', message: 'Question q' }],
      summary: { ...state.summary, status: InputNeeded | IsArchived, modifiedAt: NOW },
    });
  });

  it('[ACT-031] also while no turn runs', () => {
    expect(reduceSession(sessionState(), ask(inputRequest('q'))).summary.status).toBe(InputNeeded);
  });

  it('[ACT-031] after the ones that are open', () => {
    const open = inputRequest('p', { answers: { a: draft('x') } });
    const result = reduceSession(sessionState({ inputRequests: [open] }), ask(inputRequest('q')));
    expect(result.inputRequests).toStrictEqual([open, inputRequest('q')]);
    expect(result.inputRequests?.[0]).toBe(open);
  });

  it('[ACT-031] again: it is replaced in place and keeps the drafts', () => {
    const first = inputRequest('q', { url: 'https://example.test/', answers: { a: draft('x') } });
    const state = sessionState({ inputRequests: [first, inputRequest('p')] });
    const result = reduceSession(state, ask({ id: 'q', message: 'Anew' }));
    expect(result.inputRequests).toStrictEqual([
      { id: 'q', message: 'Anew', answers: { a: draft('x') } },
      inputRequest('p'),
    ]);
  });

  it('[ACT-031] again with answers of its own, which win', () => {
    const state = sessionState({ inputRequests: [inputRequest('q', { answers: { a: draft('x') } })] });
    const result = reduceSession(state, ask(inputRequest('q', { answers: {} })));
    expect(result.inputRequests).toStrictEqual([inputRequest('q', { answers: {} })]);
  });

  it('[ACT-031] again without any answers: their key is there', () => {
    const state = sessionState({ inputRequests: [inputRequest('q')] });
    const result = reduceSession(state, ask(inputRequest('q')));
    expect(result.inputRequests).toStrictEqual([inputRequest('q', { answers: undefined })]);
  });
});

describe('an answer is drafted', () => {
  const write = (questionId: string, answer?: SessionInputAnswer, requestId = 'q') =>
    ({ type: 'session/inputAnswerChanged', requestId, questionId, answer }) as const;

  it('[ACT-032] as the first one; the status stays, though stale, and the session stays read', () => {
    const summary = sessionSummary({ status: Idle | IsRead });
    const state = sessionState({ summary, inputRequests: [inputRequest('p'), inputRequest('q')] });
    const result = reduceSession(state, write('a', draft('x')));
    expect(result).toStrictEqual({
      ...state,
      inputRequests: [inputRequest('p'), inputRequest('q', { answers: { a: draft('x') } })],
      summary: { ...summary, modifiedAt: NOW },
    });
    expect(result.inputRequests?.[0]).toBe(state.inputRequests?.[0]);
  });

  it('[ACT-032] beside others, or in place of an earlier one', () => {
    const state = sessionState({ inputRequests: [inputRequest('q', { answers: { a: draft('x') } })] });
    const both = reduceSession(state, write('b', { state: 'skipped' }));
    expect(both.inputRequests?.[0]?.answers).toStrictEqual({ a: draft('x'), b: { state: 'skipped' } });
    const changed = reduceSession(both, write('a', draft('y')));
    expect(changed.inputRequests?.[0]?.answers).toStrictEqual({ a: draft('y'), b: { state: 'skipped' } });
  });

  it('[ACT-032] and taken back', () => {
    const answers = { a: draft('x'), b: draft('y') };
    const state = sessionState({ inputRequests: [inputRequest('q', { answers })] });
    const one = reduceSession(state, write('a'));
    expect(one.inputRequests).toStrictEqual([inputRequest('q', { answers: { b: draft('y') } })]);
    const none = reduceSession(one, write('b'));
    expect(none.inputRequests).toStrictEqual([inputRequest('q', { answers: undefined })]);
  });

  it('[ACT-032] and taken back though it was never there: the time moves on, the key of the answers appears', () => {
    const state = sessionState({ inputRequests: [inputRequest('q')] });
    expect(reduceSession(state, write('a'))).toStrictEqual({
      ...state,
      inputRequests: [inputRequest('q', { answers: undefined })],
      summary: { ...state.summary, modifiedAt: NOW },
    });
  });

  it('[ACT-032] which changes nothing when nobody asked', () => {
    const state = sessionState({ inputRequests: [inputRequest('q')] });
    expect(reduceSession(state, write('a', draft('x'), 'unknown'))).toBe(state);
    const silent = sessionState();
    expect(reduceSession(silent, write('a', draft('x')))).toBe(silent);
  });

  it('[ACT-032] to a question named __proto__, which is a name like any other', () => {
    const state = sessionState({ inputRequests: [inputRequest('q')] });
    const written = reduceSession(state, write('__proto__', draft('x')));
    const answers = written.inputRequests?.[0]?.answers ?? {};
    expect(Object.keys(answers)).toStrictEqual(['__proto__']);
    expect(Object.getPrototypeOf(answers)).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, 'state')).toBe(false);
    const taken = reduceSession(written, write('__proto__'));
    expect(taken.inputRequests).toStrictEqual([inputRequest('q', { answers: undefined })]);
  });
});

describe('a question is closed', () => {
  const close = (requestId: string) => ({ type: 'session/inputCompleted', requestId, response: 'accept' }) as const;

  it('[ACT-033] as the last one: the list goes, key and all', () => {
    const state = withTurn([], {
      inputRequests: [inputRequest('q')],
      summary: sessionSummary({ status: InputNeeded | IsRead }),
    });
    const { inputRequests: _closed, ...rest } = state;
    expect(reduceSession(state, close('q'))).toStrictEqual({
      ...rest,
      summary: { ...state.summary, status: InProgress | IsRead, modifiedAt: NOW },
    });
  });

  it('[ACT-033] without a turn: the session is idle', () => {
    const state = sessionState({ inputRequests: [inputRequest('q')] });
    expect(reduceSession(state, close('q')).summary.status).toBe(Idle);
  });

  it('[ACT-033] beside others: input is still needed', () => {
    const state = sessionState({ inputRequests: [inputRequest('q'), inputRequest('p'), inputRequest('q')] });
    const result = reduceSession(state, close('q'));
    expect(result.inputRequests).toStrictEqual([inputRequest('p')]);
    expect(result.summary.status).toBe(InputNeeded);
  });

  it('[ACT-033] while a call waits: input is still needed', () => {
    const state = withTurn([toolPart(pendingConfirmation())], { inputRequests: [inputRequest('q')] });
    expect(reduceSession(state, close('q')).summary.status).toBe(InputNeeded);
  });

  it('[ACT-033] whatever the answers: those are for the host', () => {
    const state = sessionState({ inputRequests: [inputRequest('q'), inputRequest('p')] });
    const answers = { a: draft('x') };
    expect(reduceSession(state, { ...close('q'), response: 'decline', answers })).toStrictEqual(
      reduceSession(state, close('q')),
    );
  });

  it('[ACT-033] which changes nothing when nobody asked', () => {
    const state = sessionState({ inputRequests: [inputRequest('q')] });
    expect(reduceSession(state, close('unknown'))).toBe(state);
    const silent = sessionState();
    expect(reduceSession(silent, close('q'))).toBe(silent);
  });
});
