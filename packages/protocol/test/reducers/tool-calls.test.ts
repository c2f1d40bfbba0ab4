import { describe, expect, it } from 'vitest';
import type { SessionAction } from '../../src/session/actions.js';
import { SessionStatus } from '../../src/session/status.js';
import {
  BASE_FIVE,
  BEFORE,
  CALL,
  callsOf,
  cancelled,
  completed,
  markdown,
  pendingConfirmation,
  pendingResult,
  reduceSession,
  running,
  sessionState,
  sessionSummary,
  streaming,
  TURN,
  toolPart,
  withCalls,
  withTurn,
} from '../support/builders.js';

const { Idle, Error: Failed, InProgress, InputNeeded, IsRead, IsArchived } = SessionStatus;
const target = { turnId: TURN, toolCallId: CALL };
const once = { id: 'once', label: 'Once', kind: 'approve' as const };

describe('a call begins', () => {
  const start = { type: 'session/toolCallStart', ...target, toolName: 'search', displayName: 'Search' } as const;

  it('[ACT-010] without parameters, its two optional members there as keys', () => {
    const state = withTurn([markdown('m1', 'Let me see')]);
    const result = reduceSession(state, start);
    const call = { kind: 'toolCall', toolCall: { ...BASE_FIVE, status: 'streaming' } };
    expect(result).toStrictEqual({
      ...state,
      activeTurn: { ...state.activeTurn, responseParts: [markdown('m1', 'Let me see'), call] },
    });
    expect(result.activeTurn?.responseParts[0]).toBe(state.activeTurn?.responseParts[0]);
    expect(result.summary).toBe(state.summary);
  });

  it('[ACT-010] and remembers the client that owns the tool, and its metadata', () => {
    const result = reduceSession(withTurn(), { ...start, toolClientId: 'desk', _meta: { shell: 'sh' } });
    expect(callsOf(result)).toStrictEqual([
      { ...BASE_FIVE, toolClientId: 'desk', _meta: { shell: 'sh' }, status: 'streaming' },
    ]);
  });

  it('[ACT-010] also under an id that is taken', () => {
    expect(callsOf(reduceSession(withCalls(running()), start))).toHaveLength(2);
  });

  it('[ACT-010] but not in another turn, or without one', () => {
    const state = withTurn();
    expect(reduceSession(state, { ...start, turnId: 'turn-other' })).toBe(state);
    const idle = sessionState();
    expect(reduceSession(idle, start)).toBe(idle);
  });
});

describe('parameters of a call stream in', () => {
  const delta = { type: 'session/toolCallDelta', ...target, content: '{"fi' } as const;

  it('[ACT-011] to nothing at first, then to what was there', () => {
    const first = reduceSession(withCalls(streaming()), delta);
    expect(callsOf(first)).toStrictEqual([{ ...streaming(), partialInput: '{"fi', invocationMessage: undefined }]);
    const second = reduceSession(first, { ...delta, content: 'nd":', invocationMessage: 'Search' });
    expect(callsOf(second)).toStrictEqual([{ ...streaming(), partialInput: '{"find":', invocationMessage: 'Search' }]);
    expect(second.summary).toBe(first.summary);
  });

  it('[ACT-011] and keep the invocation message that was there, and members that nobody knows', () => {
    const call = { ...streaming({ invocationMessage: { markdown: '*Search*' } }), colour: 'green' };
    const [result] = callsOf(reduceSession(withCalls(call), delta));
    expect(result).toStrictEqual({ ...call, partialInput: '{"fi' });
  });

  it('[ACT-011] to every call with the id, and to no other part', () => {
    const other = streaming({ toolCallId: 'call-2' });
    const state = withTurn([markdown(CALL, 'Text'), toolPart(streaming()), toolPart(other), toolPart(streaming())]);
    const result = reduceSession(state, delta);
    expect(callsOf(result).map((call) => 'partialInput' in call)).toStrictEqual([true, false, true]);
    expect(result.activeTurn?.responseParts[0]).toBe(state.activeTurn?.responseParts[0]);
    expect(result.activeTurn?.responseParts[2]).toBe(state.activeTurn?.responseParts[2]);
  });

  it.each([pendingConfirmation(), running(), pendingResult(), completed(), cancelled()])(
    '[ACT-011] but not to a call that is $status',
    (call) => {
      const state = withCalls(call);
      expect(reduceSession(state, delta)).toBe(state);
    },
  );
});

describe('the parameters of a call are complete', () => {
  const ready = { type: 'session/toolCallReady', ...target, invocationMessage: 'Search for dots' } as const;

  it.each([streaming({ partialInput: '{' }), running({ content: [], selectedOption: once })])(
    '[ACT-012] and one that is $status runs when nobody needs to be asked',
    (call) => {
      const result = reduceSession(withCalls(call), { ...ready, confirmed: 'setting' });
      expect(callsOf(result)).toStrictEqual([
        {
          status: 'running',
          ...BASE_FIVE,
          invocationMessage: 'Search for dots',
          toolInput: undefined,
          confirmed: 'setting',
        },
      ]);
      expect(result.summary.status).toBe(InProgress);
    },
  );

  it.each([streaming({ partialInput: '{' }), running({ content: [], selectedOption: once })])(
    '[ACT-012] and one that is $status waits for a person otherwise; nothing of an earlier run survives',
    (call) => {
      const result = reduceSession(withCalls(call), ready);
      expect(callsOf(result)).toStrictEqual([
        {
          status: 'pending-confirmation',
          ...BASE_FIVE,
          invocationMessage: 'Search for dots',
          toolInput: undefined,
          confirmationTitle: undefined,
          edits: undefined,
          editable: undefined,
        },
      ]);
      expect(result.summary).toStrictEqual(sessionSummary({ status: InputNeeded }));
    },
  );

  it('[ACT-012] and all that a person needs to decide is there', () => {
    const question = { confirmationTitle: 'May I?', edits: { items: [] }, editable: true, options: [once] };
    const result = reduceSession(withCalls(streaming()), { ...ready, toolInput: '{}', ...question });
    expect(callsOf(result)).toStrictEqual([
      {
        status: 'pending-confirmation',
        ...BASE_FIVE,
        invocationMessage: 'Search for dots',
        toolInput: '{}',
        ...question,
      },
    ]);
  });

  it('[ACT-012] and an empty list of options is a list', () => {
    const [call] = callsOf(reduceSession(withCalls(streaming()), { ...ready, options: [] }));
    expect(call).toHaveProperty('options', []);
  });

  it('[ACT-012] and the call keeps its owner and the metadata of its start', () => {
    const state = withCalls(streaming({ toolClientId: 'desk', _meta: { of: 'start' } }));
    const [call] = callsOf(reduceSession(state, { ...ready, _meta: { of: 'later' } }));
    expect(call).toMatchObject({ toolClientId: 'desk', _meta: { of: 'start' } });
  });

  it.each([pendingConfirmation(), pendingResult(), completed(), cancelled()])(
    '[ACT-012] which changes nothing for a call that is $status',
    (call) => {
      const state = withCalls(call);
      expect(reduceSession(state, ready)).toBe(state);
    },
  );

  it('[ACT-012] and a running call asks again, waits, and runs again', () => {
    const asked = reduceSession(withCalls(running()), ready);
    expect(asked.summary.status).toBe(InputNeeded);
    const approve = { type: 'session/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action' } as const;
    const approved = reduceSession(asked, approve);
    expect(callsOf(approved)[0]?.status).toBe('running');
    expect(approved.summary).toStrictEqual(sessionSummary({ status: InProgress }));
  });
});

describe('the output of a running call', () => {
  const content = [{ type: 'text' as const, text: 'Three so far' }];
  const change = { type: 'session/toolCallContentChanged', ...target, content } as const;

  it('[ACT-016] replaces what was there, and nothing else', () => {
    const call = running({ content: [{ type: 'text', text: 'One so far' }], selectedOption: once });
    const state = withCalls(call);
    const result = reduceSession(state, change);
    expect(callsOf(result)).toStrictEqual([{ ...call, content }]);
    expect(result.summary).toBe(state.summary);
  });

  it.each([streaming(), pendingConfirmation(), pendingResult(), completed(), cancelled()])(
    '[ACT-016] is not for a call that is $status',
    (call) => {
      const state = withCalls(call);
      expect(reduceSession(state, change)).toBe(state);
    },
  );

  it('[ACT-016] is not for an unknown call or another turn, and does not repair the status', () => {
    const stale = withTurn([toolPart(running())], { summary: sessionSummary({ status: Idle }) });
    expect(reduceSession(stale, { ...change, toolCallId: 'call-2' })).toBe(stale);
    expect(reduceSession(stale, { ...change, turnId: 'turn-other' })).toBe(stale);
  });
});

describe('a call action that finds no call still repairs the status', () => {
  const late: { id: string; action: SessionAction }[] = [
    { id: '[ACT-012]', action: { type: 'session/toolCallReady', ...target, invocationMessage: '' } },
    {
      id: '[ACT-013]',
      action: { type: 'session/toolCallConfirmed', ...target, approved: false, reason: 'denied' },
    },
    {
      id: '[ACT-014]',
      action: { type: 'session/toolCallComplete', ...target, result: { success: true, pastTenseMessage: '' } },
    },
    { id: '[ACT-015]', action: { type: 'session/toolCallResultConfirmed', ...target, approved: true } },
  ];

  it.each(late)('$id $action.type after a failed turn', ({ action }) => {
    const state = sessionState({ summary: sessionSummary({ status: Failed | IsRead | IsArchived }) });
    const result = reduceSession(state, action);
    expect(result.summary).toStrictEqual({ ...state.summary, status: Idle | IsRead | IsArchived });
    expect(result.summary.modifiedAt).toBe(BEFORE);
    expect(result.turns).toBe(state.turns);
  });

  it.each(late)('$id $action.type in a turn that counts as idle', ({ action }) => {
    const state = withTurn([], { summary: sessionSummary({ status: Idle }) });
    expect(reduceSession(state, action).summary.status).toBe(InProgress);
  });

  it.each(late)('$id $action.type of another turn, beside a call that waits', ({ action }) => {
    const waiting = pendingResult({ toolCallId: 'call-2' });
    const state = withTurn([toolPart(waiting)], { summary: sessionSummary({ status: InProgress }) });
    const result = reduceSession(state, { ...action, turnId: 'turn-other' } as SessionAction);
    expect(result.summary.status).toBe(InputNeeded);
    expect(result.activeTurn).toBe(state.activeTurn);
  });

  it.each(late)('$id $action.type returns the very same state when the status is true', ({ action }) => {
    const state = withTurn();
    expect(reduceSession(state, action)).toBe(state);
  });
});
