import { describe, expect, it } from 'vitest';
import { stateActions } from '../../../src/actions.js';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { memoryWith } from '../../../src/dialects/sessions-v1/tool-calls.js';
import { CALL, pendingConfirmation, pendingResult, running, TURN, withCalls } from '../../support/builders.js';
import { CHANNEL, hostWith, WIRE_SESSION } from './scenes.js';

const asking = hostWith(withCalls(pendingConfirmation()));
const target = { turnId: TURN, toolCallId: CALL };

function dispatch(action: unknown, view = asking, clientSeq: unknown = 4) {
  return sessionsV1.notification({ method: 'dispatchAction', params: { clientSeq, action } }, {}, view);
}

function resolve(requestId: string, approved: unknown, view = asking, turnId = TURN) {
  return dispatch({ type: 'session/permissionResolved', session: WIRE_SESSION, turnId, requestId, approved }, view);
}

describe('actions of sessions-v1 clients', () => {
  it('[V1-001] [V1-017] [V1-044] [V1-047] start a turn in the session that they name', () => {
    const userMessage = { text: 'Go', attachments: [{ type: 'file', path: '/a.ts' }] };
    const action = { type: 'session/turnStarted', session: WIRE_SESSION, turnId: 't1', userMessage };
    const file = { type: 'resource', uri: 'file:///a.ts', label: 'a.ts', displayKind: 'document' };
    expect(dispatch(action)).toEqual({
      kind: 'dispatch',
      connection: {},
      channel: CHANNEL,
      clientSeq: 4,
      action: { type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'Go', attachments: [file] } },
      original: { channel: CHANNEL, action },
    });
  });

  it('[V1-047] take null for nothing', () => {
    const file = { type: 'file', path: '/a.ts', displayName: null };
    const start = (attachments: unknown) =>
      dispatch({
        type: 'session/turnStarted',
        session: WIRE_SESSION,
        turnId: 't',
        userMessage: { text: 'Go', attachments },
      });
    expect(start(null)).toMatchObject({ kind: 'dispatch', action: { userMessage: { text: 'Go' } } });
    expect(start([file])).toMatchObject({ action: { userMessage: { attachments: [{ label: 'a.ts' }] } } });
  });

  it('[V1-043] [V1-055] cancel a turn', () => {
    const action = { type: 'session/turnCancelled', session: WIRE_SESSION, turnId: 't1' };
    expect(dispatch(action)).toMatchObject({ action: { type: 'session/turnCancelled', turnId: 't1' } });
  });

  it('[V1-043] [V1-059] choose a model by its id', () => {
    const action = { type: 'session/modelChanged', session: WIRE_SESSION, model: 'large' };
    expect(dispatch(action)).toMatchObject({ action: { type: 'session/modelChanged', model: { id: 'large' } } });
  });

  it.each([
    [true, { approved: true, confirmed: 'user-action' }],
    [false, { approved: false, reason: 'denied' }],
  ])('[V1-043] [V1-053] answer a question: %s', (approved, answer) => {
    const action = { type: 'session/toolCallConfirmed', ...target, ...answer };
    expect(resolve('call-1#c1', approved)).toMatchObject({ kind: 'dispatch', action });
  });

  it('[V1-053] [V1-067] answer the question that is open now', () => {
    const view = hostWith(withCalls(pendingConfirmation()));
    view.memories.set(CHANNEL, memoryWith({ turnId: TURN, counts: new Map([[CALL, 2]]) }));
    expect(resolve('call-1#c2', true, view)).toMatchObject({ kind: 'dispatch' });
    expect(resolve('call-1#c1', true, view)).toMatchObject({ kind: 'reject' });
  });

  it.each([true, false])('[V1-053] answer for a result: %s', (approved) => {
    const action = { type: 'session/toolCallResultConfirmed', ...target, approved };
    expect(resolve('call-1#r', approved, hostWith(withCalls(pendingResult())))).toMatchObject({ action });
  });

  it.each([
    ['unknown', 'call-9#c1', asking, TURN],
    ['of the other phase', 'call-1#r', asking, TURN],
    ['settled', 'call-1#c1', hostWith(withCalls(running())), TURN],
    ['of another turn', 'call-1#c1', asking, 'turn-before'],
  ])('[V1-053] [V1-072] are sent back when the request is %s', (_name, requestId, view, turnId) => {
    const result = resolve(requestId, true, view, turnId);
    expect(result).toMatchObject({ kind: 'reject', clientSeq: 4, reason: expect.stringContaining('open') });
    expect(result).toMatchObject({ original: { action: { type: 'session/permissionResolved', requestId } } });
  });
});

describe('actions that sessions-v1 clients may not dispatch', () => {
  const ALLOWED = ['session/turnStarted', 'session/turnCancelled', 'session/modelChanged'];
  const V1_ONLY = ['session/toolStart', 'session/toolComplete', 'session/permissionRequest', 'toString'];
  const forbidden = [...Object.keys(stateActions).filter((type) => !ALLOWED.includes(type)), ...V1_ONLY];

  it.each(forbidden)('[V1-043] [V1-054] [V1-057] %s', (type) => {
    const action = { type, session: WIRE_SESSION, turnId: TURN, title: 'Mine' };
    expect(dispatch(action)).toMatchObject({
      kind: 'reject',
      original: { action },
      reason: expect.stringContaining(type),
    });
  });

  it.each([
    [{ type: 'session/turnStarted', session: WIRE_SESSION, turnId: 't' }],
    [
      {
        type: 'session/turnStarted',
        session: WIRE_SESSION,
        turnId: 't',
        userMessage: { text: 'x', attachments: [{}] },
      },
    ],
    [{ type: 'session/turnCancelled', session: WIRE_SESSION }],
    [{ type: 'session/modelChanged', session: WIRE_SESSION, model: { id: 'large' } }],
    [{ type: 'session/permissionResolved', session: WIRE_SESSION, turnId: TURN, requestId: 'call-1#c1' }],
    [{ type: 'session/turnCancelled', turnId: 't' }],
  ])('are sent back when they cannot be read: %o', (action) => {
    expect(dispatch(action)).toMatchObject({ kind: 'reject', original: { action } });
  });

  it('are dropped when there is nobody to answer or nothing to change', () => {
    const cancel = { type: 'session/turnCancelled', session: 'echo:/gone', turnId: 't' };
    expect(dispatch(cancel)).toMatchObject({ kind: 'ignore' });
    expect(dispatch({ ...cancel, session: WIRE_SESSION }, asking, 'four')).toMatchObject({ kind: 'ignore' });
    expect(dispatch('cancel')).toMatchObject({ kind: 'ignore' });
    expect(dispatch({ session: WIRE_SESSION })).toMatchObject({ kind: 'ignore' });
  });
});
