import { describe, expect, it } from 'vitest';
import { FATAL_GATEWAY_ERRORS, GatewayErrorCode, ToolErrorCode } from '../../src/provider/error-codes.js';
import { ProviderErrorMessage } from '../../src/provider/messages-to-provider.js';
import { acceptorOf } from '../support/plain-schema.js';

const TEN_CODES = [
  'INVALID_JSON',
  'UNKNOWN_TYPE',
  'INVALID_SESSION',
  'AUTH_FAILED',
  'DUPLICATE_INSTANCE',
  'TOOL_CONFLICT',
  'RATE_LIMITED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_VERSION',
  'UNAUTHORIZED',
];

describe('the codes of the gateway', () => {
  it('[GW-218] are these ten', () => {
    expect(Object.values(GatewayErrorCode)).toEqual(TEN_CODES);
  });

  it('[GW-218] are the only ones that an error may have', () => {
    const isError = acceptorOf(ProviderErrorMessage);
    for (const code of TEN_CODES) expect(isError({ type: 'error', code, message: 'x' })).toBe(true);
    expect(isError({ type: 'error', code: 'INVALID_STATE', message: 'x' })).toBe(false);
  });

  it('[GW-219] are fatal in two cases only', () => {
    expect([...FATAL_GATEWAY_ERRORS].sort()).toEqual(['AUTH_FAILED', 'UNSUPPORTED_VERSION']);
  });
});

describe('the codes of a failed tool call', () => {
  it('[GW-114] are six for the provider, and one more of the gateway', () => {
    const six = ['NOT_FOUND', 'TIMEOUT', 'CANCELLED', 'DISCONNECTED', 'UNAUTHORIZED', 'INTERNAL'];
    expect(Object.values(ToolErrorCode)).toEqual([...six, 'RATE_LIMITED']);
  });
});
