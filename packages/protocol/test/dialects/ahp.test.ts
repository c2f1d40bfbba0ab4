import { describe, expect, it } from 'vitest';
import { ahp02 } from '../../src/dialects/ahp-0.2/codec.js';
import { ahp03 } from '../../src/dialects/ahp-0.3/codec.js';
import { DIALECTS_0_3, NO_MEMORY } from '../../src/dialects/index.js';
import { hostNotifications, hostRequests } from '../../src/methods.js';
import { rootState, sessionState } from '../support/builders.js';
import { randomHistory } from '../support/session-history.js';
import { CHANNEL, forwarded, hostWith, ORIGIN, stepsFrom } from './sessions-v1/scenes.js';

const view = hostWith(sessionState());
const snapshot = { resource: CHANNEL, state: sessionState(), fromSeq: 1 };

describe.each([ahp02, ahp03])('AHP $traits.version', (dialect) => {
  it('passes requests and their results as they are', () => {
    const call = { method: 'anything', params: { channel: CHANNEL, more: 1 } };
    const request = forwarded(dialect.request(call, {}, view));
    expect(request).toMatchObject(call);
    expect(request.encodeResult(snapshot, view)).toBe(snapshot);
  });

  it('passes notifications, snapshots and errors as they are', () => {
    const call = { method: 'unsubscribe', params: { channel: CHANNEL } };
    const error = { code: -32009, message: 'm', data: { request: {} } };
    expect(dialect.notification(call, {}, view)).toEqual({ kind: 'forward', connection: {}, ...call });
    expect(dialect.encodeSnapshot(snapshot, {}, view)).toBe(snapshot);
    expect(dialect.encodeError(error)).toBe(error);
  });

  it('takes actions, turns down what is none, and drops what could not be answered', () => {
    const params = { channel: CHANNEL, clientSeq: 4, action: { type: 'session/ready' } };
    const dispatch = (changed: object) =>
      dialect.notification({ method: 'dispatchAction', params: { ...params, ...changed } }, {}, view);
    const { channel, action } = params;
    expect(dispatch({})).toEqual({ kind: 'dispatch', connection: {}, ...params, original: { channel, action } });
    for (const broken of [{ channel: 1 }, { clientSeq: 'x' }]) {
      expect(dispatch(broken)).toEqual({ kind: 'ignore', connection: {} });
    }
    for (const odd of [null, 'x', {}, { type: 1 }]) {
      const original = { channel, action: odd };
      expect(dispatch({ action: odd })).toMatchObject({ kind: 'reject', clientSeq: 4, original });
    }
  });

  it('sends actions flat, with their origin', () => {
    const [step] = stepsFrom(sessionState(), [{ type: 'session/ready' }], ORIGIN);
    const { frames, memory } = dialect.encodeSteps(NO_MEMORY, step ? [step] : []);
    expect(frames).toEqual([{ method: 'action', params: step?.envelope, channel: CHANNEL, origin: ORIGIN }]);
    expect(memory).toBe(NO_MEMORY);
  });

  it('sends own actions back flat', () => {
    const original = { channel: CHANNEL, action: { type: 'session/ready' } };
    const stamp = { serverSeq: 3, origin: ORIGIN };
    const rejectionReason = 'No.';
    expect(dialect.encodeEcho(original, stamp)).toEqual({ method: 'action', params: { ...original, ...stamp } });
    expect(dialect.encodeRejection(original, { ...stamp, rejectionReason })).toEqual({
      method: 'action',
      params: { ...original, ...stamp, rejectionReason },
    });
  });

  it('may ask for nothing that does not exist', () => {
    expect(dialect.canSend('toString')).toBe(false);
  });
});

describe('AHP 0.2.0 beside 0.3.0', () => {
  it('[UNI-007] [SMT-001] gets the same actions', () => {
    const { steps } = randomHistory(11, 200);
    const wrapped = steps.map(({ action, before, after }, index) => {
      return { envelope: { channel: CHANNEL, action, serverSeq: index }, before, after };
    });
    expect(ahp02.encodeSteps(NO_MEMORY, wrapped)).toEqual(ahp03.encodeSteps(NO_MEMORY, wrapped));
  });

  it('[UNI-007] [SMT-001] gets the same notifications', () => {
    for (const method of [...Object.keys(hostNotifications), 'future/unheardOf']) {
      const call = { method, params: { channel: CHANNEL } };
      expect(ahp02.encodeNotification(call, view)).toBe(ahp03.encodeNotification(call, view));
    }
  });

  it('[UNI-007] gets the two members of 0.3.0 as plain data', () => {
    const systemMessageSections = [{ id: 'tone', label: 'Tone' }];
    const agents = [{ provider: 'p', displayName: 'P', description: '', models: [], systemMessageSections }];
    const root = { resource: 'ahp-root://', state: rootState({ agents }), fromSeq: 1 };
    expect(ahp02.encodeSnapshot(root, {}, view)).toEqual(root);
  });

  it('gets actions that nobody here knows', () => {
    const action = { type: 'future/unheardOf' } as never;
    const step = { envelope: { channel: CHANNEL, action, serverSeq: 1 }, before: undefined, after: undefined };
    expect(ahp02.encodeSteps(NO_MEMORY, [step]).frames).toHaveLength(1);
  });

  it('[UNI-007] [UNI-008] [UNI-083] [SMT-001] is never asked to transform a system message', () => {
    const differing = Object.keys(hostRequests).filter((method) => ahp02.canSend(method) !== ahp03.canSend(method));
    expect(differing).toEqual(['systemMessageTransform']);
    const asked = DIALECTS_0_3.filter((dialect) => dialect.canSend('systemMessageTransform'));
    expect(asked).toEqual([ahp03]);
  });
});
