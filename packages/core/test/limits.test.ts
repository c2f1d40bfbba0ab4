/** Limits that the documentation names, in its words: other tests go up to the constant, whatever its value is. */
import { describe, expect, it } from 'vitest';
import * as channels from '../src/channels/limits.js';
import * as log from '../src/log/limits.js';
import * as sessions from '../src/sessions/limits.js';
import * as toolCalls from '../src/tool-calls/limits.js';
import * as wire from '../src/wire/limits.js';

const SECOND = 1_000;
const DAY = 86_400_000;
const KIB = 1_024;
const MIB = 1_048_576;

describe('a limit', () => {
  it('[REL-098] of time is as long as it says', () => {
    expect(sessions).toMatchObject({
      CLIENT_GRACE_MS: 30 * SECOND,
      IDLE_SESSION_MS: 60 * SECOND,
      PROCESSES_IDLE_MS: 60 * SECOND,
      DISPOSED_KEPT_MS: 30 * DAY,
      UNFINISHED_KEPT_MS: DAY,
      HOUSEKEEPING_EVERY_MS: DAY / 4,
      AGENT_CLOSE_MAX_MS: 10 * SECOND,
    });
    expect(wire).toMatchObject({
      HANDSHAKE_TIMEOUT_MS: 10 * SECOND,
      CLIENT_KEPT_MS: 30 * DAY,
      CLIENT_NOTED_EVERY_MS: DAY,
      HOST_REQUEST_TIMEOUT_MS: 10 * SECOND,
    });
    expect(toolCalls).toMatchObject({
      GATES_TIMEOUT_MS: 5 * SECOND,
      EXTENSION_TIMEOUT_MS: 600 * SECOND,
      JUDGEMENT_TIMEOUT_MS: 30 * SECOND,
    });
    expect(channels).toMatchObject({ STORE_RETRY_MS: SECOND, UNAVAILABLE_RETRIES_MAX: 60 });
  });

  it('[REL-098] of memory is as large as it says', () => {
    expect(sessions).toMatchObject({
      PART_TEXT_MAX_CHARACTERS: 2 * MIB,
      TURN_TEXT_MAX_CHARACTERS: 64 * MIB,
      NOTE_MAX_CHARACTERS: 16 * KIB,
      PENDING_MESSAGES_MAX_CHARACTERS: 16 * MIB,
      ANSWER_MAX_CHARACTERS: 256 * KIB,
      CHOICE_MAX_CHARACTERS: 16 * KIB,
      SUMMARY_MAX_CHARACTERS: 64 * KIB,
    });
    expect(wire).toMatchObject({
      OUTBOX_MAX_BYTES: 16 * MIB,
      MERGED_OUTPUT_MAX_CHARACTERS: 64 * KIB,
      OUTBOX_MERGE_BYTES: 64 * KIB,
      CLIENT_FRAME_MAX_BYTES: 2_000_000,
      PAYLOAD_MAX_BYTES: 8 * MIB,
      INBOUND_MAX_CHARACTERS: 64 * MIB,
    });
    expect(log).toMatchObject({ REPLAY_MAX_ENVELOPES: 1_000, REPLAY_MAX_BYTES: 8 * MIB });
    expect(toolCalls).toMatchObject({
      TURN_CONTEXT_MAX_CHARACTERS: 256 * KIB,
      INLINE_TEXT_MAX_CHARACTERS: 64 * KIB,
      INLINE_DATA_MAX_BYTES: 16 * KIB,
      PREVIEW_MAX_CHARACTERS: 4 * KIB,
      REFERENCED_INPUT_MAX_BYTES: 4 * MIB,
      GATE_TEXT_MAX_CHARACTERS: 4_000,
      JUDGEMENT_REASON_MAX_CHARACTERS: 1_000,
      BLOB_MAX_BYTES: 16 * MIB,
    });
  });
});
