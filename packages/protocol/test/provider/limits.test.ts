import { describe, expect, it } from 'vitest';
import * as limits from '../../src/provider/limits.js';
import { ProviderName } from '../../src/provider/parts.js';
import { acceptorOf } from '../support/plain-schema.js';

const MEGABYTE = 1_048_576;

const COUNTS = {
  TOOLS_PER_PROVIDER_MAX: 100,
  HOOK_RULES_PER_PROVIDER_MAX: 50,
  STREAMS_PER_PROVIDER_MAX: 20,
  EVENTS_PER_STREAM_MAX: 200,
  STREAM_QUERY_LAST_MAX: 100,
  CONNECTIONS_MAX: 50,
  PAIRING_ATTEMPTS_PER_MINUTE_MAX: 5,
  REBINDS_PER_MINUTE_MAX: 10,
  PUSHES_PER_SECOND_MAX: 10,
  QUEUED_CALLS_MAX: 10,
} satisfies Partial<typeof limits>;

const OTHERS = {
  PROVIDER_PROTOCOL_VERSION: 2,
  GATEWAY_DEFAULT_PORT: 9400,
  EXIT_GRACE_MS: 30_000,
  EXIT_CLOSE_CODE: 1001,
  CONNECTIONS_FULL_HTTP_STATUS: 503,
  AUTH_TIMEOUT_MS: 10_000,
  ILLEGAL_MESSAGES_BEFORE_AUTH_MAX: 5,
  PING_INTERVAL_MS: 15_000,
  MISSED_PINGS_MAX: 2,
  PAIRING_CODE_DIGITS: 6,
  PAIRING_CODE_TTL_MS: 120_000,
  RECONNECT_WINDOW_MS: 30_000,
  NAME_MAX_CHARS: 64,
  TOOL_RESULT_MAX_BYTES: 5 * MEGABYTE,
  MESSAGE_MAX_BYTES: 2 * MEGABYTE,
  FRAME_MAX_BYTES: 16 * MEGABYTE,
  FRAME_TOO_BIG_CLOSE_CODE: 1009,
  FILE_RESULT_MAX_BYTES: 64 * MEGABYTE,
  TOOL_TIMEOUT_DEFAULT_MS: 60_000,
  CANCELLED_SLOT_RELEASE_MS: 5_000,
  INSTANCE_RETRIES_MAX: 1,
  GATE_TIMEOUT_MS: 5_000,
  MATCH_BUDGET_MS: 1,
  TRANSFORM_TIMEOUT_MS: 2_000,
  HELD_INJECTS_MAX: 10,
  INJECT_CYCLES_MAX: 3,
  RATE_LIMIT_RETRY_AFTER_MS: 1_000,
  SHUTDOWN_DEADLINE_MS: 10_000,
} satisfies Partial<typeof limits>;

describe('limits', () => {
  it.each(Object.entries(COUNTS))('[GW-216] %s is %i', (name, value) => {
    expect(limits).toHaveProperty(name, value);
  });

  it.each(Object.entries(OTHERS))('%s is %i', (name, value) => {
    expect(limits).toHaveProperty(name, value);
  });

  it('are all in one of the two lists above', () => {
    expect(Object.keys({ ...COUNTS, ...OTHERS }).sort()).toEqual(Object.keys(limits).sort());
  });

  it('agree with the pattern of names', () => {
    const isName = acceptorOf(ProviderName);
    expect(isName('n'.repeat(limits.NAME_MAX_CHARS))).toBe(true);
    expect(isName('n'.repeat(limits.NAME_MAX_CHARS + 1))).toBe(false);
  });
});
