import { describe, expect, it } from 'vitest';
import { NO_MEMORY } from '../../../src/dialects/index.js';
import { translateSteps } from '../../../src/dialects/sessions-v1/actions.js';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import type { SessionAction } from '../../../src/session/actions.js';
import type { SessionState } from '../../../src/session/state.js';
import {
  CALL,
  pendingConfirmation,
  pendingResult,
  running,
  sessionState,
  streaming,
  TURN,
  withCalls,
  withTurn,
} from '../../support/builders.js';
import { CHANNEL, hostWith, ORIGIN, stepsFrom, WIRE_SESSION } from './scenes.js';

const target = { turnId: TURN, toolCallId: CALL };
const acceptResult: SessionAction = { type: 'session/toolCallResultConfirmed', ...target, approved: true };

function frames(state: SessionState, ...actions: SessionAction[]) {
  return translateSteps(NO_MEMORY, stepsFrom(state, actions, ORIGIN)).frames;
}

describe('several sessions-v1 actions from one', () => {
  it('[V1-068] share its number', () => {
    const ask: SessionAction = { type: 'session/toolCallReady', ...target, invocationMessage: 'Search' };
    const numbers = translateSteps(NO_MEMORY, stepsFrom(withCalls(streaming()), [ask])).frames;
    expect(numbers.map(({ serverSeq }) => serverSeq)).toEqual([1, 1]);
  });

  it('[V1-068] carry the origin once, where it was dispatched', () => {
    expect(frames(withCalls(pendingResult()), acceptResult)).toMatchObject([
      { action: { type: 'session/permissionResolved' }, serverSeq: 1, origin: ORIGIN },
      { action: { type: 'session/toolComplete' }, serverSeq: 1 },
    ]);
    expect(frames(withCalls(pendingResult()), acceptResult)[1]).not.toHaveProperty('origin');
  });

  it('[V1-068] carry the origin once for a tool of another client', () => {
    const result = { success: true, pastTenseMessage: 'Done' };
    const complete: SessionAction = { type: 'session/toolCallComplete', ...target, result };
    const origins = frames(withCalls(pendingConfirmation()), complete).map(({ origin }) => origin);
    expect(origins).toEqual([undefined, ORIGIN]);
  });
});

describe('a sessions-v1 client sees its own actions come back', () => {
  const dispatched = [
    { type: 'session/turnStarted', session: WIRE_SESSION, turnId: 't', userMessage: { text: 'Go' } },
    { type: 'session/modelChanged', session: WIRE_SESSION, model: 'large' },
  ];

  it.each(dispatched)('[V1-070] as it dispatched them: $type', (action) => {
    expect(echoOf(sessionState(), action)).toEqual([{ action, serverSeq: 1, origin: ORIGIN }]);
  });

  it('[V1-070] with an attachment', () => {
    const attachments = [{ type: 'file', path: '/a b.ts', displayName: 'a b' }];
    const action = { ...dispatched[0], type: 'session/turnStarted', userMessage: { text: 'Go', attachments } };
    expect(echoOf(sessionState(), action)).toEqual([{ action, serverSeq: 1, origin: ORIGIN }]);
  });

  it.each([
    [pendingConfirmation(), 'call-1#c1', true],
    [pendingConfirmation(), 'call-1#c1', false],
    [pendingResult(), 'call-1#r', false],
  ])('[V1-070] its answers too', (call, requestId, approved) => {
    const action = { type: 'session/permissionResolved', session: WIRE_SESSION, turnId: TURN, requestId, approved };
    expect(echoOf(withCalls(call), action)).toEqual([{ action, serverSeq: 1, origin: ORIGIN }]);
  });

  it('[V1-070] even when somebody else was faster', () => {
    const late: SessionAction = { type: 'session/toolCallConfirmed', ...target, approved: false, reason: 'denied' };
    expect(frames(withCalls(running()), late)).toMatchObject([
      { action: { type: 'session/permissionResolved', approved: false }, origin: ORIGIN },
    ]);
    expect(frames(withCalls(running()), acceptResult)).toMatchObject([{ origin: ORIGIN }]);
    expect(frames(withTurn(), { type: 'session/turnCancelled', turnId: 'x' })).toMatchObject([{ origin: ORIGIN }]);
  });

  /** Sends an action through the dialect into the host, and what becomes of it back. */
  function echoOf(state: SessionState, action: object) {
    const call = { method: 'dispatchAction', params: { clientSeq: ORIGIN.clientSeq, action } };
    const inbound = sessionsV1.notification(call, {}, hostWith(state));
    if (inbound.kind !== 'dispatch') throw new Error('Expected the action to be dispatched.');
    return frames(state, inbound.action as SessionAction);
  }
});

describe('what a sessions-v1 client is told about its own action', () => {
  const action = { type: 'session/modelChanged', session: WIRE_SESSION, model: 'large' };
  const original = { channel: CHANNEL, action };

  it('[V1-071] early: that it will be applied', () => {
    expect(sessionsV1.encodeEcho(original, { serverSeq: 9, origin: ORIGIN })).toEqual({
      method: 'action',
      params: { envelope: { action, serverSeq: 9, origin: ORIGIN } },
    });
  });

  it('[V1-072] that it was rejected, and why', () => {
    const stamp = { serverSeq: 9, origin: ORIGIN, rejectionReason: 'A turn is running.' };
    expect(sessionsV1.encodeRejection(original, stamp)).toEqual({
      method: 'action',
      params: { envelope: { action, ...stamp } },
    });
  });

  it('[V1-072] and others are told nothing of a rejection', () => {
    const [step] = stepsFrom(sessionState(), [{ type: 'session/titleChanged', title: 'x' }], ORIGIN);
    if (!step) throw new Error('There is one step.');
    const rejected = { ...step, envelope: { ...step.envelope, rejectionReason: 'No.' }, after: step.before };
    expect(translateSteps(NO_MEMORY, [rejected]).frames).toEqual([]);
  });
});
