import { describe, expect, it } from 'vitest';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { ErrorCode } from '../../../src/errors/codes.js';
import { sessionState, sessionSummary } from '../../support/builders.js';
import { CHANNEL, forwarded, hostWith, WIRE_SESSION } from './scenes.js';

const empty = hostWith();

function request(method: string, params: Record<string, unknown>, connection = {}, view = empty) {
  return sessionsV1.request({ method, params }, connection, view);
}

describe('creating a session in sessions-v1', () => {
  it('[V1-001] [V1-011] takes the provider from the URI', () => {
    const { method, params, encodeResult } = forwarded(
      request('createSession', { session: 'echo:/new', model: 'large' }),
    );
    expect(method).toBe('createSession');
    expect(params).toEqual({ channel: 'ahp-session:/new', provider: 'echo', model: { id: 'large' } });
    expect(encodeResult(null, empty)).toBeNull();
  });

  it('[V1-011] takes a given provider, the model and the directory', () => {
    const asked = { session: 'echo:/new', provider: 'echo', workingDirectory: 'file:///srv' };
    expect(forwarded(request('createSession', asked)).params).toEqual({
      channel: 'ahp-session:/new',
      provider: 'echo',
      workingDirectory: 'file:///srv',
    });
  });

  it('[V1-007] [V1-011] keeps the URI when the provider is another: it could not be found again', () => {
    const { params } = forwarded(request('createSession', { session: 'copilot:/x', provider: 'claude' }));
    expect(params).toEqual({ channel: 'copilot:/x', provider: 'claude' });
  });

  it('[V1-011] takes null for nothing', () => {
    const asked = { session: 'echo:/new', provider: null, model: null, workingDirectory: null };
    const created = { channel: 'ahp-session:/new', provider: 'echo' };
    expect(forwarded(request('createSession', asked)).params).toEqual(created);
  });

  it('[V1-011] leaves the provider open under an internal URI', () => {
    expect(forwarded(request('createSession', { session: CHANNEL })).params).toEqual({ channel: CHANNEL });
  });

  it('[V1-011] refuses a URI that already names a session of either kind', () => {
    const mapped = sessionState({ summary: sessionSummary({ resource: 'ahp-session:/x', provider: 'copilot' }) });
    const own = sessionState({ summary: sessionSummary({ resource: 'copilot:/x', provider: 'claude' }) });
    const taken = { kind: 'fail', error: { code: ErrorCode.SessionAlreadyExists } };
    const asClaude = { session: 'copilot:/x', provider: 'claude' };
    expect(request('createSession', asClaude, {}, hostWith(mapped))).toMatchObject(taken);
    expect(request('createSession', { session: 'copilot:/x' }, {}, hostWith(own))).toMatchObject(taken);
  });

  it.each([{}, { session: 'echo:/x', provider: 1 }, { session: 'echo:/x', model: { id: 'large' } }])(
    '[V1-011] refuses what it cannot read: %o',
    (params) => {
      expect(request('createSession', params)).toMatchObject({
        kind: 'fail',
        error: { code: ErrorCode.InvalidParams },
      });
    },
  );
});

describe('sessions in sessions-v1', () => {
  const view = hostWith(sessionState());
  const items = [sessionSummary(), sessionSummary({ resource: 'own:/2', status: 8 })];

  it('[V1-012] are disposed by their URI', () => {
    const { params, encodeResult } = forwarded(request('disposeSession', { session: WIRE_SESSION }, {}, view));
    expect(params).toEqual({ channel: CHANNEL });
    expect(encodeResult(null, view)).toBeNull();
    expect(request('disposeSession', {}, {}, view)).toMatchObject({ kind: 'fail' });
  });

  it('[V1-001] [V1-013] are listed as a bare array of mapped summaries', () => {
    const { method, params, encodeResult } = forwarded(request('listSessions', { filter: { open: true } }));
    expect({ method, params }).toEqual({
      method: 'listSessions',
      params: { channel: 'ahp-root://', filter: { open: true } },
    });
    expect(encodeResult({ items }, view)).toMatchObject([{ resource: WIRE_SESSION }, { resource: 'own:/2' }]);
  });

  it('[V1-013] are listed under two names to a client of the later generation', () => {
    const { encodeResult } = forwarded(request('listSessions', {}, { rootUri: 'agenthost:/root' }));
    const { sessions, items: same } = encodeResult({ items }, view) as Record<string, unknown[]>;
    expect(sessions).toMatchObject([{ resource: WIRE_SESSION }, { resource: 'own:/2' }]);
    expect(same).toEqual(sessions);
  });
});
