import { describe, expect, it } from 'vitest';
import { SessionStatus } from '../../src/session/status.js';
import {
  BASE_FIVE,
  CALL,
  callsOf,
  cancelled,
  completed,
  inputRequest,
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

const { InProgress, InputNeeded, IsRead } = SessionStatus;
const target = { turnId: TURN, toolCallId: CALL };
const once = { id: 'once', label: 'Once', kind: 'approve' as const, group: 1 };
const never = { id: 'never', label: 'Never', kind: 'deny' as const };
const asked = pendingConfirmation({ options: [once, never], editable: true, confirmationTitle: 'May I?' });

describe('a person says yes', () => {
  const yes = { type: 'session/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action' } as const;
  const runs = {
    status: 'running',
    ...BASE_FIVE,
    invocationMessage: asked.invocationMessage,
    toolInput: asked.toolInput,
    confirmed: 'user-action',
  };

  it('[ACT-013] and the call runs with the parameters that were asked about', () => {
    const state = withCalls(asked);
    const result = reduceSession(state, yes);
    expect(callsOf(result)).toStrictEqual([runs]);
    expect(result.summary).toStrictEqual(sessionSummary({ status: InProgress }));
  });

  it('[ACT-013] and has edited the input, perhaps to nothing', () => {
    const edited = (editedToolInput: string) => callsOf(reduceSession(withCalls(asked), { ...yes, editedToolInput }));
    expect(edited('{"find":";"}')).toStrictEqual([{ ...runs, toolInput: '{"find":";"}' }]);
    expect(edited('')).toStrictEqual([{ ...runs, toolInput: '' }]);
  });

  it('[ACT-013] by an option, which is kept whole', () => {
    const [call] = callsOf(reduceSession(withCalls(asked), { ...yes, selectedOptionId: 'once' }));
    expect(call).toStrictEqual({ ...runs, selectedOption: once });
  });

  it('[ACT-013] by an option that means no: the answer counts, not the option', () => {
    const [call] = callsOf(reduceSession(withCalls(asked), { ...yes, selectedOptionId: 'never' }));
    expect(call).toStrictEqual({ ...runs, selectedOption: never });
  });

  it.each(['unknown', ''])('[ACT-013] by an option that was not offered: %j', (selectedOptionId) => {
    expect(callsOf(reduceSession(withCalls(asked), { ...yes, selectedOptionId }))).toStrictEqual([runs]);
  });

  it('[ACT-013] by an option where none were offered', () => {
    const result = reduceSession(withCalls(pendingConfirmation()), { ...yes, selectedOptionId: 'once' });
    expect(callsOf(result)).toStrictEqual([runs]);
  });

  it('[ACT-013] by the first of two options with the same id', () => {
    const second = { ...never, id: 'once' };
    const state = withCalls(pendingConfirmation({ options: [once, second] }));
    expect(callsOf(reduceSession(state, { ...yes, selectedOptionId: 'once' }))).toStrictEqual([
      { ...runs, selectedOption: once },
    ]);
  });

  it('[ACT-013] but metadata of the answer is ignored', () => {
    const state = withCalls(pendingConfirmation({ _meta: { of: 'start' }, toolClientId: 'desk' }));
    const [call] = callsOf(reduceSession(state, { ...yes, _meta: { of: 'answer' } }));
    expect(call).toMatchObject({ _meta: { of: 'start' }, toolClientId: 'desk' });
  });

  it('[ACT-013] to every call with the id', () => {
    const result = reduceSession(withCalls(asked, asked), yes);
    expect(callsOf(result)).toStrictEqual([runs, runs]);
  });

  it('[ACT-013] and the session still needs input when another call or a question waits', () => {
    const other = withCalls(asked, pendingConfirmation({ toolCallId: 'call-2' }));
    expect(reduceSession(other, yes).summary).toBe(other.summary);
    const question = withTurn([toolPart(asked)], {
      inputRequests: [inputRequest('q')],
      summary: sessionSummary({ status: InputNeeded | IsRead }),
    });
    expect(reduceSession(question, yes).summary).toBe(question.summary);
  });

  it.each([streaming(), running(), pendingResult(), completed(), cancelled()])(
    '[ACT-013] which changes nothing for a call that is $status',
    (call) => {
      const state = withCalls(call);
      expect(reduceSession(state, yes)).toBe(state);
    },
  );
});

describe('a person says no', () => {
  const no = { type: 'session/toolCallConfirmed', ...target, approved: false, reason: 'denied' } as const;
  const refused = {
    status: 'cancelled',
    ...BASE_FIVE,
    invocationMessage: asked.invocationMessage,
    toolInput: asked.toolInput,
    reason: 'denied',
    reasonMessage: undefined,
    userSuggestion: undefined,
  };

  it('[ACT-013] and the call is over, with keys for words that nobody said', () => {
    const result = reduceSession(withCalls(asked), no);
    expect(callsOf(result)).toStrictEqual([refused]);
    expect(result.summary).toStrictEqual(sessionSummary({ status: InProgress }));
  });

  it('[ACT-013] and says why, what to do instead, and by which option', () => {
    const words = { reasonMessage: { markdown: '*Too slow*' }, userSuggestion: { text: 'Use the index' } };
    const action = { ...no, ...words, reason: 'skipped', selectedOptionId: 'never' } as const;
    expect(callsOf(reduceSession(withCalls(asked), action))).toStrictEqual([
      { ...refused, ...words, reason: 'skipped', selectedOption: never },
    ]);
  });
});
