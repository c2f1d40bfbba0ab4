/** Limits of notifications: how many, how long, how late, how often. */

/** All receivers of one host, of all kinds together. */
export const RECEIVERS_MAX = 50;
/** Receivers of one device. */
export const RECEIVERS_PER_DEVICE_MAX = 5;
export const RECEIVER_NAME_MAX_CHARACTERS = 80;
/** Sessions that one rule names. */
export const RULE_SESSIONS_MAX = 100;
/** Addresses of push services have a few hundred characters. */
export const ENDPOINT_MAX_CHARACTERS = 2_000;
/** Events that wait, or whose notifications may have to be withdrawn. Further ones are not reported. */
export const EVENTS_MAX = 500;
/** Messages to one receiver within an hour, so that an agent that never stops asking stops ringing. */
export const MESSAGES_PER_HOUR_MAX = 60;
/** Tests by one device within a minute; each is a request to a server that the device named. */
export const TESTS_PER_MINUTE_MAX = 6;

/** Gives a person who is about to look the time to do so. */
export const QUESTION_DELAY_MS = 5_000;
export const END_DELAY_MS = 15_000;
/**
 * A client that never reports its view counts as viewing a session for this long after each action of its person there.
 */
export const UNREPORTED_VIEW_MS = 60_000;

/** Push services accept 4 kB, and encryption adds to the payload. */
export const PAYLOAD_MAX_BYTES = 3_000;
export const TITLE_MAX_CHARACTERS = 100;
export const BODY_MAX_CHARACTERS = 300;
/** A phone shows this much of a notification without a touch; longer commands get no buttons. */
export const WHOLE_COMMAND_MAX_CHARACTERS = 120;

/** How long a push service keeps a message for a device that is away, in seconds. */
export const TTL_SECONDS = {
  question: 60 * 60,
  budget: 60 * 60,
  ended: 4 * 60 * 60,
  failed: 4 * 60 * 60,
  automation: 12 * 60 * 60,
  test: 60,
} as const;

/** Attempts to send one message. */
export const ATTEMPTS_MAX = 6;
/** The wait before the second attempt; each later wait is four times as long. */
export const RETRY_FIRST_MS = 2_000;
/** A server may request a longer wait, up to this. */
export const RETRY_MAX_MS = 10 * 60_000;
export const SEND_TIMEOUT_MS = 10_000;
/** How much of an answer is read. */
export const ANSWER_MAX_BYTES = 4_096;
/** Messages being sent at once; further ones wait. */
export const SENDS_AT_ONCE_MAX = 8;
/** A push service may refuse a token that is valid for longer than a day. */
export const VAPID_VALID_MS = 12 * 60 * 60_000;
