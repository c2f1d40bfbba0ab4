import { describe, expect, it } from 'vitest';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { ErrorCode } from '../../../src/errors/codes.js';
import { sessionState } from '../../support/builders.js';
import { CHANNEL, forwarded, hostWith, WIRE_SESSION } from './scenes.js';

const view = hostWith(sessionState());
const result = { snapshot: { resource: CHANNEL, state: sessionState(), fromSeq: 5 } };

function subscribe(resource: unknown, connection = {}) {
  return sessionsV1.request({ method: 'subscribe', params: { resource } }, connection, view);
}

function unsubscribe(resource: unknown) {
  return sessionsV1.notification({ method: 'unsubscribe', params: { resource } }, {}, view);
}

describe('sessions-v1 subscriptions', () => {
  it('[V1-001] [V1-008] name a resource, which becomes the channel', () => {
    expect(forwarded(subscribe(WIRE_SESSION))).toMatchObject({ method: 'subscribe', params: { channel: CHANNEL } });
  });

  it('[V1-008] are answered with the snapshot itself', () => {
    const reply = forwarded(subscribe(WIRE_SESSION, { rootUri: 'agenthost:root' })).encodeResult(result, view);
    expect(Object.keys(reply as object)).toEqual(['resource', 'state', 'fromSeq']);
    expect(reply).toMatchObject({ resource: WIRE_SESSION, fromSeq: 5, state: { lifecycle: 'ready' } });
  });

  it('[V1-008] are answered in both forms to a client of the later generation', () => {
    const reply = forwarded(subscribe(WIRE_SESSION, { rootUri: 'agenthost:/root' })).encodeResult(result, view);
    const { snapshot, ...flat } = reply as { snapshot: object };
    expect(flat).toEqual(snapshot);
    expect(flat).toMatchObject({ resource: WIRE_SESSION, fromSeq: 5 });
  });

  it.each(['ahp-terminal:/1', 'ahp-changeset:/1', 'ahp-resource-watch:/1', 'ahp-otlp:/logs'])(
    '[V1-010] find no channel %s, and no state of one is ever shown',
    (resource) => {
      expect(subscribe(resource)).toMatchObject({ kind: 'fail', error: { code: ErrorCode.NotFound } });
      const state = { root: 'file:///', recursive: false };
      expect(sessionsV1.encodeSnapshot({ resource, state, fromSeq: 1 }, {}, view)).toBeUndefined();
    },
  );

  it('[V1-008] need a resource', () => {
    expect(subscribe(undefined)).toMatchObject({ kind: 'fail', error: { code: ErrorCode.InvalidParams } });
  });

  it('[V1-009] end by a notification', () => {
    expect(unsubscribe(WIRE_SESSION)).toEqual({
      kind: 'forward',
      connection: {},
      method: 'unsubscribe',
      params: { channel: CHANNEL },
    });
  });

  it.each([[7], ['ahp-terminal:/1']])('[V1-009] [V1-010] that never were need no end: %s', (resource) => {
    expect(unsubscribe(resource)).toMatchObject({ kind: 'ignore' });
  });

  it('ignores notifications that nobody knows', () => {
    expect(sessionsV1.notification({ method: 'constructor', params: {} }, {}, view)).toMatchObject({ kind: 'ignore' });
  });
});
