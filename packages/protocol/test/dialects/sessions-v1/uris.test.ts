import { describe, expect, it } from 'vitest';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { sessionFromWire, sessionToWire } from '../../../src/dialects/sessions-v1/uris.js';
import { sessionState, sessionSummary } from '../../support/builders.js';
import { CHANNEL, forwarded, hostWith, WIRE_SESSION } from './scenes.js';

const empty = hostWith();

describe('sessions-v1 session URIs', () => {
  it('[V1-007] carry the provider as their scheme', () => {
    expect(sessionToWire(CHANNEL, 'echo')).toBe(WIRE_SESSION);
  });

  it('[V1-007] lead back to the session of that provider', () => {
    const { providerOf } = hostWith(sessionState());
    expect(sessionFromWire(WIRE_SESSION, providerOf)).toBe(CHANNEL);
  });

  it('[V1-007] show a session with a scheme of its own unchanged, and find it again', () => {
    const own = sessionState({ summary: sessionSummary({ resource: 'copilot:/x', provider: 'claude' }) });
    expect(sessionToWire('copilot:/x', 'claude')).toBe('copilot:/x');
    expect(sessionFromWire('copilot:/x', hostWith(own).providerOf)).toBe('copilot:/x');
  });

  it('[V1-007] prefer the session of the provider in the scheme', () => {
    const mapped = sessionState({ summary: sessionSummary({ resource: 'ahp-session:/x', provider: 'copilot' }) });
    const own = sessionState({ summary: sessionSummary({ resource: 'copilot:/x', provider: 'claude' }) });
    expect(sessionFromWire('copilot:/x', hostWith(own, mapped).providerOf)).toBe('ahp-session:/x');
  });

  it('[V1-007] do not find a session of another provider', () => {
    const { providerOf } = hostWith(sessionState());
    expect(providerOf(sessionFromWire('other:/nowhere', providerOf))).toBeUndefined();
  });

  it('[V1-007] of sessions that nobody knows map to the name they would have', () => {
    expect(sessionFromWire('echo:/new', empty.providerOf)).toBe('ahp-session:/new');
    expect(sessionFromWire('no scheme', empty.providerOf)).toBe('ahp-session:no scheme');
  });

  it('[V1-007] need no table: after any restart every session keeps both its names', () => {
    for (const resource of ['ahp-session:/one', 'ahp-session:/a:b', 'own:/x', 'ahp-session:opaque']) {
      const { providerOf } = hostWith(sessionState({ summary: sessionSummary({ resource }) }));
      expect(sessionFromWire(sessionToWire(resource, 'echo'), providerOf)).toBe(resource);
    }
  });
});

describe('the sessions-v1 root URI', () => {
  const subscribe = (resource: string, connection = {}) =>
    forwarded(sessionsV1.request({ method: 'subscribe', params: { resource } }, connection, empty));
  const root = { snapshot: { resource: 'ahp-root://', state: { agents: [] }, fromSeq: 3 } };

  it.each(['agenthost:root', 'agenthost:/root'] as const)(
    '[V1-006] is known as %s and shown as it was asked for',
    (uri) => {
      const request = subscribe(uri);
      expect(request.params).toEqual({ channel: 'ahp-root://' });
      expect(request.connection).toEqual({ rootUri: uri });
      expect(request.encodeResult(root, empty)).toMatchObject({ resource: uri, fromSeq: 3 });
    },
  );

  it('[V1-006] is remembered from the handshake', () => {
    const params = { protocolVersion: 1, clientId: 'c', initialSubscriptions: ['echo:/one', 'agenthost:/root'] };
    expect(sessionsV1.request({ method: 'initialize', params }, {}, empty).connection).toEqual({
      rootUri: 'agenthost:/root',
    });
  });

  it('[V1-006] leaves the connection as it is when nothing about it changes', () => {
    const connection = { rootUri: 'agenthost:root' } as const;
    expect(subscribe('agenthost:root', connection).connection).toBe(connection);
    expect(subscribe(WIRE_SESSION, connection).connection).toBe(connection);
  });

  it('[V1-006] stands in its first spelling as long as the client has not used one', () => {
    const shown = sessionsV1.encodeSnapshot(root.snapshot, {}, empty);
    expect(shown).toMatchObject({ resource: 'agenthost:root' });
  });
});
