import { describe, expect, it } from 'vitest';
import { NO_MEMORY } from '../../../src/dialects/index.js';
import { translateSteps } from '../../../src/dialects/sessions-v1/actions.js';
import { sessionStateToWire } from '../../../src/dialects/sessions-v1/state.js';
import type { SessionAction } from '../../../src/session/actions.js';
import { sessionReducer } from '../../../src/session/reducer.js';
import type { SessionState } from '../../../src/session/state.js';
import {
  CALL,
  completed,
  pendingConfirmation,
  pendingResult,
  running,
  streaming,
  TURN,
  withCalls,
} from '../../support/builders.js';
import { ORIGIN, sent, stepsFrom, typesSent, WIRE_SESSION } from './scenes.js';

const target = { turnId: TURN, toolCallId: CALL };
const place = { session: WIRE_SESSION, turnId: TURN };
const ask: SessionAction = {
  type: 'session/toolCallReady',
  ...target,
  invocationMessage: 'Search',
  toolInput: 'grep ,',
};
const run: SessionAction = { ...ask, confirmed: 'not-needed' };
const approve: SessionAction = {
  type: 'session/toolCallConfirmed',
  ...target,
  approved: true,
  confirmed: 'user-action',
};
const deny: SessionAction = { type: 'session/toolCallConfirmed', ...target, approved: false, reason: 'denied' };
const result = {
  success: true,
  pastTenseMessage: { markdown: 'Found' },
  content: [{ type: 'text' as const, text: '7' }],
};
const complete: SessionAction = { type: 'session/toolCallComplete', ...target, result };
const completeWithQuestion: SessionAction = { ...complete, requiresResultConfirmation: true };
const acceptResult: SessionAction = { type: 'session/toolCallResultConfirmed', ...target, approved: true };
const denyResult: SessionAction = { type: 'session/toolCallResultConfirmed', ...target, approved: false };

const resolved = (requestId: string, approved: boolean) => {
  return { type: 'session/permissionResolved', ...place, requestId, approved };
};
const done = {
  type: 'session/toolComplete',
  ...place,
  toolCallId: CALL,
  result: { success: true, pastTenseMessage: 'Found', toolOutput: '7' },
};

describe('a tool call in sessions-v1 actions', () => {
  it('[V1-051] starts when its parameters are complete and it may run', () => {
    expect(sent(withCalls(streaming()), run)).toEqual([
      {
        type: 'session/toolStart',
        ...place,
        toolCall: {
          toolCallId: CALL,
          toolName: 'search',
          displayName: 'Search',
          invocationMessage: 'Search',
          toolInput: 'grep ,',
          status: 'running',
          confirmed: 'not-needed',
        },
      },
    ]);
  });

  it('[V1-051] [V1-052] starts with a question when it may not', () => {
    const [start, question] = sent(withCalls(streaming()), ask);
    expect(start).toMatchObject({ type: 'session/toolStart', toolCall: { status: 'pending-permission' } });
    expect(question).toMatchObject({
      type: 'session/permissionRequest',
      ...place,
      request: { requestId: 'call-1#c1', toolCallId: CALL, fullCommandText: 'grep ,' },
    });
  });

  it('[V1-051] starts once', () => {
    expect(typesSent(withCalls(streaming()), run, run)).toEqual(['session/toolStart']);
  });

  it('[V1-052] asks again without starting again', () => {
    expect(typesSent(withCalls(running()), ask)).toEqual(['session/permissionRequest']);
  });

  it('[V1-052] asks nothing when the internal action had no effect', () => {
    expect(sent(withCalls(completed()), ask)).toEqual([]);
    expect(sent(withCalls(pendingConfirmation()), ask)).toEqual([]);
  });

  it('[V1-053] [V1-062] has its question answered', () => {
    expect(sent(withCalls(pendingConfirmation()), approve)).toEqual([resolved('call-1#c1', true)]);
    expect(sent(withCalls(pendingConfirmation()), deny)).toEqual([resolved('call-1#c1', false)]);
    expect(sent(withCalls(running()), approve)).toEqual([]);
  });

  it('[V1-054] completes', () => {
    expect(sent(withCalls(running()), complete)).toEqual([done]);
    expect(sent(withCalls(completed()), complete)).toEqual([]);
    expect(sent(withCalls(streaming()), complete)).toEqual([]);
  });

  it('[V1-053] [V1-054] that completes unasked is approved first', () => {
    expect(sent(withCalls(pendingConfirmation()), complete)).toEqual([resolved('call-1#c1', true), done]);
  });

  it('[V1-052] asks about its result', () => {
    expect(sent(withCalls(running()), completeWithQuestion)).toMatchObject([
      { type: 'session/permissionRequest', request: { requestId: 'call-1#r', toolCallId: CALL } },
    ]);
    expect(typesSent(withCalls(pendingConfirmation()), completeWithQuestion)).toEqual([
      'session/permissionResolved',
      'session/permissionRequest',
    ]);
  });

  it('[V1-053] [V1-054] completes when its result is approved, and not when it is refused', () => {
    expect(sent(withCalls(pendingResult(result)), acceptResult)).toEqual([resolved('call-1#r', true), done]);
    expect(sent(withCalls(pendingResult()), denyResult)).toEqual([resolved('call-1#r', false)]);
    expect(sent(withCalls(running()), acceptResult)).toEqual([]);
  });

  it('tells its whole life in order', () => {
    const life = [ask, approve, ask, approve, completeWithQuestion, acceptResult];
    expect(typesSent(withCalls(streaming()), ...life)).toEqual([
      'session/toolStart',
      'session/permissionRequest',
      'session/permissionResolved',
      'session/permissionRequest',
      'session/permissionResolved',
      'session/permissionRequest',
      'session/permissionResolved',
      'session/toolComplete',
    ]);
  });
});

describe('a call that the host refuses itself', () => {
  const blocked: SessionAction = { ...deny, reasonMessage: { markdown: 'Blocked by browser' } };
  const failed = (message: string) => ({
    type: 'session/toolComplete',
    ...place,
    toolCallId: CALL,
    result: { success: false, pastTenseMessage: message, error: { code: 'denied', message } },
  });

  it('[V1-062] [UNI-075] starts as running and fails, with the reason', () => {
    const [start, end] = sent(withCalls(streaming()), ask, blocked);
    expect(start).toMatchObject({ type: 'session/toolStart', toolCall: { status: 'running' } });
    expect(end).toEqual(failed('Blocked by browser'));
  });

  it('[UNI-075] names who blocked it, live as in a snapshot', () => {
    const reasonMessage = 'ci-watcher: CI is failing on this branch.';
    const result = {
      success: false,
      pastTenseMessage: 'Blocked by ci-watcher: CI is failing on this branch.',
      error: { code: 'denied', message: reasonMessage },
    };
    const actions = [ask, { ...deny, reasonMessage }];
    expect(sent(withCalls(streaming()), ...actions).at(-1)).toMatchObject({ type: 'session/toolComplete', result });
    const after = stepsFrom(withCalls(streaming()), actions).at(-1)?.after ?? withCalls();
    const { success, ...members } = result;
    expect(sessionStateToWire(after).activeTurn?.toolCalls[CALL]).toMatchObject({ status: 'failed', ...members });
    const over = sessionReducer(after, { type: 'session/turnComplete', turnId: TURN }, { now: 1 });
    expect(sessionStateToWire(over).turns.at(-1)?.toolCalls).toMatchObject([result]);
  });

  it('[V1-062] fails with a word of its own when there is no reason', () => {
    expect(sent(withCalls(streaming()), ask, deny).at(-1)).toEqual(failed('Denied'));
  });

  it('[V1-062] that ran already just fails', () => {
    expect(sent(withCalls(running()), ask, blocked)).toEqual([failed('Blocked by browser')]);
  });

  it('[V1-062] after the question went out is its answer, and the reason follows', () => {
    const state = withCalls(streaming());
    const [first, second] = stepsFrom(state, [ask, blocked]).map((step) => [step]);
    const asked = translateSteps(NO_MEMORY, first ?? []);
    const refused = translateSteps(asked.memory, second ?? []);
    expect(asked.frames.map(({ action }) => action.type)).toEqual(['session/toolStart', 'session/permissionRequest']);
    expect(refused.frames.map(({ action }) => action)).toEqual([
      resolved('call-1#c1', false),
      failed('Blocked by browser'),
    ]);
  });

  it.each<[string, SessionState, SessionAction[]]>([
    ['the question was open before', withCalls(pendingConfirmation()), [ask, deny]],
    ['something came between', withCalls(streaming()), [ask, { type: 'session/titleChanged', title: 'x' }, deny]],
    [
      'another call is refused',
      withCalls(streaming(), pendingConfirmation({ toolCallId: 'b' })),
      [ask, { ...deny, toolCallId: 'b' }],
    ],
  ])('[V1-062] is no special case when %s', (_name, state, actions) => {
    expect(typesSent(state, ...actions)).not.toContain('session/toolComplete');
    expect(typesSent(state, ...actions)).toContain('session/permissionResolved');
  });

  it('[V1-062] [V1-070] is not what a person refused, however fast', () => {
    const { frames } = translateSteps(NO_MEMORY, stepsFrom(withCalls(streaming()), [ask, deny], ORIGIN));
    expect(frames.at(-1)).toMatchObject({ action: resolved('call-1#c1', false), origin: ORIGIN });
  });
});
