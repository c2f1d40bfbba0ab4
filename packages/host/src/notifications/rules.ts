/**
 * The rule of a receiver: what it hears, about which sessions, when, and in how much detail. Parses and applies rules.
 */
import { RequestError } from '@atrium/core/contracts/request-error.js';
import {
  ErrorCode,
  NOTIFICATION_DETAILS,
  NOTIFICATION_EVENTS,
  type NotificationEvent,
  type NotificationRule,
  type PushSubscriptionKeys,
  type QuietHours,
} from '@atrium/protocol/ahp-1';
import { ENDPOINT_MAX_CHARACTERS, RULE_SESSIONS_MAX } from './limits.js';
import { areUsableKeys } from './web-push.js';

const URI_MAX_CHARACTERS = 500;
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const KEY_MAX_CHARACTERS = 200;

export function isWanted({ events, sessions }: NotificationRule, event: NotificationEvent, session: string): boolean {
  return events.includes(event) && (sessions === undefined || sessions.includes(session));
}

/**
 * Whether now is a quiet time for the receiver, by its own time zone. Hours that end before they begin include
 * midnight.
 */
export function isQuiet({ quiet }: NotificationRule, now: number): boolean {
  if (!quiet) return false;
  const { from, to, timeZone } = quiet;
  const time = clockTime(now, timeZone);
  return from <= to ? from <= time && time < to : time >= from || time < to;
}

/** In the form `23:05`. */
function clockTime(now: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return format.format(now);
}

/** Parses a rule that a client sent. Throws the error to answer with. */
export function readRule(value: unknown): NotificationRule {
  if (!isRecord(value)) throw wrong('/rule must be an object');
  const { events, sessions, quiet, detail } = value;
  if (!Array.isArray(events) || !events.every((each) => NOTIFICATION_EVENTS.some((known) => known === each)))
    throw wrong(`/rule/events must be a list of ${NOTIFICATION_EVENTS.join(', ')}`);
  const level = NOTIFICATION_DETAILS.find((each) => each === detail);
  if (level === undefined) throw wrong(`/rule/detail must be ${NOTIFICATION_DETAILS.join(', ')}`);
  return {
    events: NOTIFICATION_EVENTS.filter((each) => events.includes(each)),
    ...(sessions !== undefined && { sessions: readSessions(sessions) }),
    ...(quiet !== undefined && quiet !== null && { quiet: readQuiet(quiet) }),
    detail: level,
  };
}

function readSessions(value: unknown): string[] {
  const isList = Array.isArray(value) && value.length <= RULE_SESSIONS_MAX;
  if (!isList || !value.every((each) => typeof each === 'string' && each.length <= URI_MAX_CHARACTERS))
    throw wrong(`/rule/sessions must be a list of at most ${RULE_SESSIONS_MAX} URIs`);
  return [...new Set(value as string[])];
}

function readQuiet(value: unknown): QuietHours {
  const { from, to, timeZone } = isRecord(value) ? value : {};
  const isTime = (text: unknown): text is string => typeof text === 'string' && TIME.test(text);
  if (!isTime(from) || !isTime(to)) throw wrong('/rule/quiet must have from and to, such as 22:00');
  if (typeof timeZone !== 'string' || !isTimeZone(timeZone))
    throw wrong('/rule/quiet/timeZone must be the name of a time zone, such as Europe/Berlin');
  return { from, to, timeZone };
}

function isTimeZone(name: string): boolean {
  try {
    return name.length <= 100 && clockTime(0, name) !== '';
  } catch {
    return false;
  }
}

/** Parses what a browser got from its push service. Throws the error to answer with. */
export function readSubscription(value: unknown): PushSubscriptionKeys {
  const { endpoint, keys } = isRecord(value) ? value : {};
  const { p256dh, auth } = isRecord(keys) ? keys : {};
  if (typeof endpoint !== 'string' || endpoint.length > ENDPOINT_MAX_CHARACTERS)
    throw wrong(`/subscription/endpoint must be an address of at most ${ENDPOINT_MAX_CHARACTERS} characters`);
  const isKey = (text: unknown): text is string => typeof text === 'string' && text.length <= KEY_MAX_CHARACTERS;
  if (!isKey(p256dh) || !isKey(auth) || !areUsableKeys({ p256dh, auth }))
    throw wrong('/subscription/keys must be those that the browser gave: p256dh and auth');
  return { endpoint, keys: { p256dh, auth } };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function wrong(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}
