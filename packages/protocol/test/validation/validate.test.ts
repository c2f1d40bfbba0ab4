import { describe, expect, it } from 'vitest';
import { stateActions } from '../../src/actions.js';
import { hostNotifications } from '../../src/methods.js';
import { describeProblem } from '../../src/validation/check.js';
import {
  checkAction,
  checkClientNotification,
  checkClientRequest,
  checkClientRequestResult,
  checkHostNotification,
  checkHostRequest,
  checkHostRequestResult,
  checkToGateway,
  checkToProvider,
  isClientNotification,
  isClientRequest,
  isHostNotification,
  isHostRequest,
  isKnownAction,
} from '../../src/validation/messages.js';
import {
  clientNotificationExamples,
  clientRequestExamples,
  hostNotificationExamples,
  hostRequestExamples,
} from '../support/examples.js';
import { OWN_FIXTURES, readFixtures } from '../support/fixtures.js';

const entries = <T extends object>(table: T) => Object.entries(table) as [keyof T, T[keyof T]][];

describe('the compiled validators', () => {
  it('accept an example of every message, as it is', () => {
    for (const [method, { params, result }] of entries(clientRequestExamples)) {
      expect(checkClientRequest(method, params), method).toEqual({ ok: true, value: params });
      expect(checkClientRequestResult(method, result), method).toEqual({ ok: true, value: result });
    }
    for (const [method, { params, result }] of entries(hostRequestExamples)) {
      expect(checkHostRequest(method, params), method).toEqual({ ok: true, value: params });
      expect(checkHostRequestResult(method, result), method).toEqual({ ok: true, value: result });
    }
    for (const [method, params] of entries(clientNotificationExamples)) {
      expect(checkClientNotification(method, params), method).toEqual({ ok: true, value: params });
    }
    for (const [method, params] of entries(hostNotificationExamples)) {
      expect(checkHostNotification(method, params), method).toEqual({ ok: true, value: params });
    }
  });

  it('accept every known action of the fixtures', () => {
    const actions = readFixtures(OWN_FIXTURES).flatMap((fixture) => fixture.actions);
    const known = actions.filter(({ type }) => isKnownAction(type));
    for (const action of known) expect(checkAction(action), JSON.stringify(action)).toMatchObject({ ok: true });
    expect(new Set(known.map(({ type }) => type))).toEqual(new Set(Object.keys(stateActions)));
  });

  it('tolerate members that they do not know', () => {
    const params = { channel: 'ahp-session:/1', turns: { last: 50 }, zzz: {} };
    expect(checkClientRequest('subscribe', params)).toEqual({ ok: true, value: params });
  });

  it('carry what a later version may add: part kinds, content types, action types', () => {
    const part = { type: 'session/responsePart', turnId: 't', part: { kind: 'hologram', size: 3 } };
    expect(checkAction(part)).toMatchObject({ ok: true });
    const envelope = { channel: 'ahp-session:/1', serverSeq: 4, action: { type: 'session/future', x: 1 } };
    expect(checkHostNotification('action', envelope)).toMatchObject({ ok: true });
  });

  it('know their methods from any other string', () => {
    expect(isClientRequest('initialize') && isHostRequest('systemMessageTransform')).toBe(true);
    expect(isClientNotification('dispatchAction') && isHostNotification('root/sessionAdded')).toBe(true);
    for (const odd of ['', 'constructor', '__proto__', 'toString', 'systemMessageTransform']) {
      expect(isClientRequest(odd)).toBe(false);
      expect(isClientNotification(odd) || isHostNotification(odd) || isKnownAction(odd)).toBe(false);
    }
    expect(Object.keys(hostNotifications).every(isHostNotification)).toBe(true);
  });
});

describe('a rejection names the place and what was expected there', () => {
  const turnStarted = { type: 'session/turnStarted', turnId: 't', userMessage: { text: 'x' } };

  it.each([
    [{ ...turnStarted, turnId: 5 }, '/turnId', 'a string'],
    [{ ...turnStarted, userMessage: {} }, '/userMessage/text', 'present'],
    [{ ...turnStarted, userMessage: { text: 'x', attachments: {} } }, '/userMessage/attachments', 'an array'],
    [
      { ...turnStarted, userMessage: { text: 'x', attachments: [{ type: 'resource', label: 'l' }] } },
      '/userMessage/attachments/0/uri',
      'present',
    ],
    [{ type: 'session/pendingMessageRemoved', kind: 'later', id: 'a' }, '/kind', 'one of "steering", "queued"'],
    [{ type: 'session/toolCallConfirmed', turnId: 't', toolCallId: 'c', approved: true }, '/confirmed', 'present'],
    [
      { type: 'session/toolCallConfirmed', turnId: 't', toolCallId: 'c', approved: 1 },
      '/approved',
      'one of true, false',
    ],
    [
      { type: 'session/inputAnswerChanged', requestId: 'r', questionId: 'q', answer: { state: 'draft' } },
      '/answer/value',
      'present',
    ],
    [{ type: 'session/nope' }, '/type', 'a known type of action'],
    [null, '/type', 'a known type of action'],
    [{ type: '__proto__' }, '/type', 'a known type of action'],
  ])('%j', (action, path, expected) => {
    expect(checkAction(action)).toEqual({ ok: false, problem: { path, expected } });
  });

  it('in params, results and sequence numbers too', () => {
    const dispatch = (clientSeq: unknown) =>
      checkClientNotification('dispatchAction', { channel: 'ahp-session:/1', clientSeq, action: turnStarted });
    expect(dispatch(-1)).toEqual({ ok: false, problem: { path: '/clientSeq', expected: 'at least 0' } });
    expect(dispatch(1.5)).toEqual({ ok: false, problem: { path: '/clientSeq', expected: 'an integer' } });
    expect(dispatch(2 ** 53)).toEqual({
      ok: false,
      problem: { path: '/clientSeq', expected: `at most ${2 ** 53 - 1}` },
    });
    expect(dispatch(2 ** 53 - 1)).toMatchObject({ ok: true });
    expect(checkClientRequest('ping', { channel: 'ahp-session:/1' })).toEqual({
      ok: false,
      problem: { path: '/channel', expected: '"ahp-root://"' },
    });
    expect(checkClientRequest('ping', undefined)).toEqual({ ok: false, problem: { path: '', expected: 'an object' } });
    expect(checkClientRequestResult('ping', 1)).toEqual({ ok: false, problem: { path: '', expected: 'null' } });
  });

  it('as a sentence', () => {
    expect(describeProblem({ path: '/turnId', expected: 'a string' })).toBe('/turnId must be a string');
    expect(describeProblem({ path: '', expected: 'an object' })).toBe('the value must be an object');
  });

  it('for messages of providers', () => {
    expect(checkToGateway({ type: 'hello', name: 'ci' })).toMatchObject({
      ok: false,
      problem: { path: '/protocolVersion' },
    });
    expect(checkToGateway({ type: 'goodbye', zzz: 1 })).toMatchObject({ ok: true });
    expect(checkToGateway({ type: 'tool.call' })).toMatchObject({ ok: false, problem: { path: '/type' } });
    expect(checkToProvider({ type: 'auth.pairing', prompt: 'Type the code' })).toMatchObject({ ok: true });
    expect(checkToProvider([])).toMatchObject({ ok: false });
  });
});

describe('null where a member may be absent', () => {
  it('is read as absence, at any depth', () => {
    const checked = checkAction({
      type: 'session/turnStarted',
      turnId: 't',
      queuedMessageId: null,
      userMessage: { text: 'x', attachments: [{ type: 'simple', label: 'l', range: null, _meta: { keep: null } }] },
    });
    expect(checked).toEqual({
      ok: true,
      value: {
        type: 'session/turnStarted',
        turnId: 't',
        userMessage: { text: 'x', attachments: [{ type: 'simple', label: 'l', _meta: { keep: null } }] },
      },
    });
  });

  it('in a snapshot leaves no active turn', () => {
    const { params, result } = clientRequestExamples.subscribe;
    const state = { ...(result.snapshot?.state ?? {}), activeTurn: null };
    const checked = checkClientRequestResult('subscribe', { snapshot: { ...result.snapshot, state } });
    expect(params.channel).toBe('ahp-session:/7c1e');
    expect(checked).toEqual({ ok: true, value: result });
  });

  it('stays where it means something', () => {
    const release = { type: 'session/activeClientChanged', activeClient: null };
    expect(checkAction(release)).toEqual({ ok: true, value: release });
    const config = { type: 'session/configChanged', config: { a: null }, replace: null };
    expect(checkAction(config)).toEqual({ ok: true, value: { type: 'session/configChanged', config: { a: null } } });
  });

  it('does not excuse a member that must be there', () => {
    expect(checkAction({ type: 'session/titleChanged', title: null })).toEqual({
      ok: false,
      problem: { path: '/title', expected: 'a string' },
    });
  });
});
