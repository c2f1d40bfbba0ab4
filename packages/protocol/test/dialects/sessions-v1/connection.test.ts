import { describe, expect, it } from 'vitest';
import { ahp03 } from '../../../src/dialects/ahp-0.3/codec.js';
import { dialectOfferedIn } from '../../../src/dialects/index.js';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { memoryWith } from '../../../src/dialects/sessions-v1/tool-calls.js';
import { ErrorCode } from '../../../src/errors/codes.js';
import { hostRequests } from '../../../src/methods.js';
import { pendingConfirmation, sessionState, withCalls } from '../../support/builders.js';
import { CHANNEL, forwarded, hostWith, WIRE_SESSION } from './scenes.js';

const view = hostWith(sessionState());
const terminal = { title: 'Build', content: [], claim: { kind: 'client' as const, clientId: 'c' } };

function initialize(params: Record<string, unknown> = {}) {
  return sessionsV1.request(
    { method: 'initialize', params: { protocolVersion: 1, clientId: 'c', ...params } },
    {},
    view,
  );
}

describe('finding out that a client speaks sessions-v1', () => {
  it('[V1-002] a number in place of a list says so', () => {
    expect(dialectOfferedIn({ protocolVersion: 1, clientId: 'c' })?.traits.version).toBe(sessionsV1.traits.version);
    expect(dialectOfferedIn({ protocolVersion: 7, clientId: 'c' })?.traits.version).toBe(sessionsV1.traits.version);
    expect(dialectOfferedIn({ protocolVersions: ['0.3.0'], clientId: 'c' })).toBeUndefined();
    expect(dialectOfferedIn({ protocolVersion: 1, protocolVersions: ['0.3.0'], clientId: 'c' })).toBeUndefined();
    expect(dialectOfferedIn({ protocolVersion: '1' })).toBeUndefined();
  });
});

describe('the sessions-v1 handshake', () => {
  it('[V1-001] [V1-003] becomes an internal one, on the root channel', () => {
    const request = forwarded(initialize({ initialSubscriptions: ['agenthost:root', WIRE_SESSION] }));
    expect(request.method).toBe('initialize');
    expect(request.params).toEqual({
      channel: 'ahp-root://',
      protocolVersions: ['0.3.0'],
      clientId: 'c',
      initialSubscriptions: ['ahp-root://', CHANNEL],
    });
  });

  it.each([0, 2, 1.5])('[V1-003] refuses version %s', (protocolVersion) => {
    expect(initialize({ protocolVersion })).toMatchObject({
      kind: 'fail',
      error: { code: ErrorCode.UnsupportedProtocolVersion },
    });
  });

  it('[V1-003] refuses subscriptions that are not a list of URIs', () => {
    expect(initialize({ initialSubscriptions: 'agenthost:root' })).toMatchObject({
      kind: 'fail',
      error: { code: ErrorCode.InvalidParams },
    });
  });

  it('[V1-010] leaves out channels that sessions-v1 does not have', () => {
    const uris = ['ahp-terminal:/1', WIRE_SESSION, 'ahp-changeset:/1', 'ahp-resource-watch:/1', 'ahp-otlp:/logs'];
    expect(forwarded(initialize({ initialSubscriptions: uris })).params).toMatchObject({
      initialSubscriptions: [CHANNEL],
    });
  });

  it('[V1-004] is answered with the number 1, mapped snapshots and nothing newer', () => {
    const result = {
      protocolVersion: '0.3.0',
      serverSeq: 12,
      snapshots: [
        { resource: 'ahp-root://', state: { agents: [], activeSessions: 2 }, fromSeq: 12 },
        { resource: CHANNEL, state: sessionState(), fromSeq: 12 },
        { resource: 'ahp-terminal:/1', state: terminal, fromSeq: 12 },
      ],
      defaultDirectory: 'file:///home',
      completionTriggerCharacters: ['@'],
      telemetry: { logs: 'ahp-otlp:/logs' },
    };
    const request = forwarded(initialize({ initialSubscriptions: ['agenthost:/root', WIRE_SESSION] }));
    const reply = request.encodeResult(result, view) as { snapshots: { resource: string }[] };
    expect(reply).toEqual({
      protocolVersion: 1,
      serverSeq: 12,
      snapshots: expect.any(Array),
      defaultDirectory: 'file:///home',
    });
    expect(reply.snapshots.map(({ resource }) => resource)).toEqual(['agenthost:/root', WIRE_SESSION]);
  });

  it('[V1-020] the host asks sessions-v1 clients for nothing', () => {
    expect(Object.keys(hostRequests).filter((method) => sessionsV1.canSend(method))).toEqual([]);
    expect(Object.keys(hostRequests).filter((method) => !ahp03.canSend(method))).toEqual([]);
  });
});

describe('a sessions-v1 reconnect', () => {
  const reconnect = (subscriptions: unknown) =>
    sessionsV1.request(
      { method: 'reconnect', params: { clientId: 'c', lastSeenServerSeq: 9, subscriptions } },
      {},
      view,
    );

  it('[V1-001] [V1-073] maps its URIs', () => {
    const { method, params, connection } = forwarded(reconnect(['agenthost:/root', WIRE_SESSION, 'ahp-terminal:/1']));
    expect(method).toBe('reconnect');
    expect(params).toMatchObject({ channel: 'ahp-root://', clientId: 'c', lastSeenServerSeq: 9 });
    expect(params.subscriptions).toEqual(['ahp-root://', CHANNEL]);
    expect(connection).toEqual({ rootUri: 'agenthost:/root' });
  });

  it('[V1-073] refuses subscriptions that are not a list of URIs', () => {
    expect(reconnect([1])).toMatchObject({ kind: 'fail', error: { code: ErrorCode.InvalidParams } });
  });

  it('[V1-074] passes a replay on, without what sessions-v1 does not have', () => {
    const request = forwarded(reconnect([WIRE_SESSION]));
    const actions = [{ action: { type: 'session/titleChanged', session: WIRE_SESSION, title: 'T' }, serverSeq: 10 }];
    const result = { type: 'replay', actions, missing: [], settled: [] };
    expect(request.encodeResult(result, view)).toEqual({ type: 'replay', actions });
  });

  it('[V1-075] [V1-076] is answered with mapped snapshots, open questions among them, and nothing else', () => {
    const state = withCalls(pendingConfirmation());
    const host = hostWith(state);
    host.memories.set(CHANNEL, memoryWith({ turnId: 'turn-now', counts: new Map([['call-1', 3]]) }));
    const result = { type: 'snapshot', snapshots: [{ resource: CHANNEL, state, fromSeq: 20 }] };
    const reply = forwarded(reconnect([WIRE_SESSION, 'echo:/gone'])).encodeResult(result, host);
    expect(Object.keys(reply as object)).toEqual(['type', 'snapshots']);
    expect(reply).toMatchObject({
      type: 'snapshot',
      snapshots: [
        { resource: WIRE_SESSION, state: { activeTurn: { pendingPermissions: { 'call-1#c3': {} } } }, fromSeq: 20 },
      ],
    });
  });
});
