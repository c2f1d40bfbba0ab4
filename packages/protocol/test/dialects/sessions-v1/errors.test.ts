import { describe, expect, it } from 'vitest';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { ErrorCode } from '../../../src/errors/codes.js';

describe('sessions-v1 errors', () => {
  it('[V1-021] call an unknown provider an internal error', () => {
    const error = { code: ErrorCode.ProviderNotFound, message: 'acme', data: { provider: 'acme' } };
    expect(sessionsV1.encodeError(error)).toEqual({ code: -32603, message: 'No agent for provider: acme' });
  });

  it.each(Object.entries(ErrorCode).filter(([name]) => name !== 'ProviderNotFound'))(
    '[V1-021] keep the number of %s and drop its data',
    (_name, code) => {
      expect(sessionsV1.encodeError({ code, message: 'm', data: { more: 1 } })).toEqual({ code, message: 'm' });
    },
  );

  it('[V1-022] ask for a token in a plain sentence', () => {
    const error = { code: ErrorCode.AuthRequired, message: 'Sign in first', data: { resources: [] } };
    expect(sessionsV1.encodeError(error)).toEqual({ code: -32007, message: 'Sign in first' });
  });
});
