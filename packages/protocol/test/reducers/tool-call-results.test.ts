import { describe, expect, it } from 'vitest';
import { SessionStatus } from '../../src/session/status.js';
import type { ToolCallResult } from '../../src/session/tool-calls.js';
import {
  BASE_FIVE,
  CALL,
  callsOf,
  cancelled,
  completed,
  markdown,
  pendingConfirmation,
  pendingResult,
  reduceSession,
  running,
  sessionSummary,
  streaming,
  TURN,
  toolPart,
  withCalls,
  withTurn,
} from '../support/builders.js';

const { InProgress, InputNeeded } = SessionStatus;
const target = { turnId: TURN, toolCallId: CALL };
const once = { id: 'once', label: 'Once', kind: 'approve' as const };
const result: ToolCallResult = { success: true, pastTenseMessage: 'Found four' };
const { invocationMessage, toolInput } = running();

describe('a tool returns', () => {
  const complete = { type: 'session/toolCallComplete', ...target, result } as const;
  const done = { status: 'completed', ...BASE_FIVE, invocationMessage, toolInput, confirmed: 'user-action', ...result };

  it('[ACT-014] and its result takes the place of partial output', () => {
    const state = withCalls(running({ content: [{ type: 'text', text: 'Three so far' }] }));
    const next = reduceSession(state, complete);
    expect(callsOf(next)).toStrictEqual([done]);
    expect(next.summary).toBe(state.summary);
  });

  it('[ACT-014] and has the members of the result that are there, also unknown ones', () => {
    const rich = { ...result, content: [], error: { message: 'Not all' }, took: 7 };
    const [call] = callsOf(reduceSession(withCalls(running()), { ...complete, result: rich }));
    expect(call).toStrictEqual({ ...done, ...rich });
  });

  it('[ACT-014] and on a clash of names the result wins', () => {
    const clash = { ...result, toolInput: 'as it was run' };
    const [call] = callsOf(reduceSession(withCalls(running()), { ...complete, result: clash }));
    expect(call).toHaveProperty('toolInput', 'as it was run');
  });

  it('[ACT-014] and the option that let it run is remembered', () => {
    const [call] = callsOf(reduceSession(withCalls(running({ selectedOption: once })), complete));
    expect(call).toStrictEqual({ ...done, selectedOption: once });
  });

  it('[ACT-014] although nobody was asked yet: then nobody needed to be', () => {
    const state = withCalls(pendingConfirmation({ options: [once], editable: true }));
    const next = reduceSession(state, complete);
    expect(callsOf(next)).toStrictEqual([{ ...done, confirmed: 'not-needed' }]);
    expect(next.summary).toStrictEqual(sessionSummary({ status: InProgress }));
  });

  it('[ACT-014] and a person must look at the result first', () => {
    const next = reduceSession(withCalls(running()), { ...complete, requiresResultConfirmation: true });
    expect(callsOf(next)).toStrictEqual([{ ...done, status: 'pending-result-confirmation' }]);
    expect(next.summary).toStrictEqual(sessionSummary({ status: InputNeeded }));
  });

  it('[ACT-014] and nobody must when the requirement is false', () => {
    const next = reduceSession(withCalls(running()), { ...complete, requiresResultConfirmation: false });
    expect(callsOf(next)).toStrictEqual([done]);
  });

  it('[ACT-014] and the parts beside it stay the same objects', () => {
    const state = withTurn([markdown('m1', 'Text'), toolPart(running()), toolPart(running({ toolCallId: 'call-2' }))]);
    const parts = reduceSession(state, complete).activeTurn?.responseParts;
    expect(parts?.[0]).toBe(state.activeTurn?.responseParts[0]);
    expect(parts?.[1]).toStrictEqual({ kind: 'toolCall', toolCall: done });
    expect(parts?.[2]).toBe(state.activeTurn?.responseParts[2]);
  });

  it.each([streaming(), pendingResult(), completed(), cancelled()])(
    '[ACT-014] which changes nothing for a call that is $status',
    (call) => {
      const state = withCalls(call);
      expect(reduceSession(state, complete)).toBe(state);
    },
  );
});

describe('a person looks at a result', () => {
  const confirm = { type: 'session/toolCallResultConfirmed', ...target } as const;
  const rich = { content: [], structuredContent: { found: 4 }, error: { message: 'Not all' } };

  it('[ACT-015] and lets it pass: all five members of a result are keys', () => {
    const next = reduceSession(withCalls(pendingResult()), { ...confirm, approved: true });
    expect(callsOf(next)).toStrictEqual([
      {
        status: 'completed',
        ...BASE_FIVE,
        invocationMessage,
        toolInput,
        confirmed: 'user-action',
        success: true,
        pastTenseMessage: 'Searched for commas',
        content: undefined,
        structuredContent: undefined,
        error: undefined,
      },
    ]);
    expect(next.summary).toStrictEqual(sessionSummary({ status: InProgress }));
  });

  it('[ACT-015] and lets it pass with its data, but without members that nobody knows', () => {
    const call = { ...pendingResult({ ...rich, selectedOption: once }), took: 7 };
    expect(callsOf(reduceSession(withCalls(call), { ...confirm, approved: true }))).toStrictEqual([
      { ...completed({ ...rich, selectedOption: once }), ...BASE_FIVE },
    ]);
  });

  it('[ACT-015] and refuses it: its data is gone', () => {
    const next = reduceSession(withCalls(pendingResult(rich)), { ...confirm, approved: false });
    expect(callsOf(next)).toStrictEqual([
      { status: 'cancelled', ...BASE_FIVE, invocationMessage, toolInput, reason: 'result-denied' },
    ]);
    expect(next.summary).toStrictEqual(sessionSummary({ status: InProgress }));
  });

  it('[ACT-015] and refuses it, the option that let the call run still known', () => {
    const state = withCalls(pendingResult({ selectedOption: once }));
    const [call] = callsOf(reduceSession(state, { ...confirm, approved: false }));
    expect(call).toHaveProperty('selectedOption', once);
  });

  it.each([streaming(), pendingConfirmation(), running(), completed(), cancelled()])(
    '[ACT-015] which changes nothing for a call that is $status',
    (call) => {
      const state = withCalls(call);
      expect(reduceSession(state, { ...confirm, approved: true })).toBe(state);
    },
  );
});
