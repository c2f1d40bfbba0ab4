import { describe, expect, it } from 'vitest';
import { ToolErrorCode } from '../../src/provider/error-codes.js';
import {
  authClaimOf,
  gateDecisionOf,
  ProviderRuleError,
  speaksOurVersion,
  toolOutcomeOf,
  transformContentOf,
} from '../../src/provider/rules.js';

const result = { type: 'tool.result', id: 'c-1' } as const;
const gate = { type: 'gate.result', gateId: 'g', callId: 'c' } as const;
const transform = { type: 'transform.result', callId: 't' } as const;

describe('the version of a hello', () => {
  it('is ours or it is not', () => {
    expect(speaksOurVersion({ protocolVersion: 2 })).toBe(true);
    for (const hello of [{ protocolVersion: 1 }, { protocolVersion: 3 }, { protocolVersion: '2' }, {}]) {
      expect(speaksOurVersion(hello)).toBe(false);
    }
  });
});

describe('the claim of an auth', () => {
  it('is a token, a wish to pair, or nothing', () => {
    expect(authClaimOf({ type: 'auth', token: 'ptk-1' })).toEqual({ by: 'token', token: 'ptk-1' });
    expect(authClaimOf({ type: 'auth', mode: 'pair' })).toEqual({ by: 'pairing' });
    expect(authClaimOf({ type: 'auth', mode: 'pair', name: 'page' })).toEqual({ by: 'pairing', name: 'page' });
    expect(authClaimOf({ type: 'auth' })).toEqual({ by: 'nothing' });
  });

  it('is the token when both are there, even an empty one', () => {
    expect(authClaimOf({ type: 'auth', token: '', mode: 'pair' })).toEqual({ by: 'token', token: '' });
  });
});

describe('the outcome of a tool call', () => {
  it.each(['text', { a: 1 }, [1], null, false])('[GW-113] is a success with data %j', (data) => {
    expect(toolOutcomeOf({ ...result, data })).toEqual({ kind: 'data', data });
  });

  it.each(Object.values(ToolErrorCode))('is a failure with the code %s', (code) => {
    const outcome = { kind: 'failure', code, text: 'no', retryable: true };
    expect(toolOutcomeOf({ ...result, error: 'no', errorCode: code, retryable: true })).toEqual(outcome);
  });

  it('[GW-115] is a failure with a code alone, and INTERNAL with a code nobody knows', () => {
    const failure = { kind: 'failure', retryable: false };
    const cancelled = { ...failure, code: 'CANCELLED', text: 'CANCELLED' };
    expect(toolOutcomeOf({ ...result, errorCode: 'CANCELLED' })).toEqual(cancelled);
    const jammed = { ...failure, code: 'INTERNAL', text: 'Tray 2' };
    expect(toolOutcomeOf({ ...result, error: 'Tray 2', errorCode: 'PAPER_JAM' })).toEqual(jammed);
    expect(toolOutcomeOf({ ...result, errorCode: 'PAPER_JAM' })).toEqual({ ...jammed, text: 'PAPER_JAM' });
    expect(toolOutcomeOf({ ...result, error: 'Tray 2' })).toEqual(jammed);
  });

  it('is a failure even when data came along', () => {
    expect(toolOutcomeOf({ ...result, data: 'half', error: 'no' })).toMatchObject({ kind: 'failure' });
  });

  it('is a file before it is data', () => {
    const file = { path: '/d/x', mimeType: 'text/plain', size: 1, ttl: 60 };
    expect(toolOutcomeOf({ ...result, file })).toEqual({ kind: 'file', file });
    expect(toolOutcomeOf({ ...result, file, data: null })).toEqual({ kind: 'file', file });
  });

  it('is an error of the provider when there is none', () => {
    expect(() => toolOutcomeOf(result)).toThrow(ProviderRuleError);
    expect(() => toolOutcomeOf(result)).toThrow(
      expect.objectContaining({ code: 'INVALID_JSON', replyTo: 'tool.result' }),
    );
  });
});

describe('the decision of a gate', () => {
  it.each(['allow', 'deny', 'context'] as const)('can be %s', (decision) => {
    expect(gateDecisionOf({ ...gate, decision })).toBe(decision);
  });

  it.each(['maybe', 'ALLOW', '', 1, true, null, undefined])('is deny for %j', (decision) => {
    expect(gateDecisionOf({ ...gate, decision })).toBe('deny');
  });

  it('is deny when it is missing', () => {
    expect(gateDecisionOf(gate)).toBe('deny');
  });
});

describe('the content of a transform', () => {
  it('is text, also the empty one', () => {
    expect(transformContentOf({ ...transform, content: 'new' })).toBe('new');
    expect(transformContentOf({ ...transform, content: '' })).toBe('');
  });

  it.each([1, null, {}, undefined])('is nothing for %j', (content) => {
    expect(transformContentOf({ ...transform, content })).toBeUndefined();
  });
});
