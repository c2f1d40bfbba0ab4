/**
 * Notifications: methods of our own beside the protocol, and their messages. A receiver is a place where people are
 * notified: a browser with Web Push, an open page, a webhook, the desktop of the host's machine.
 */
import type { URI } from '../common/types.js';

/** Lists the receivers, and what a browser needs to become one. */
export const NOTIFICATIONS_METHOD = 'atrium/notifications';
/** Adds or changes a receiver. */
export const SET_RECEIVER_METHOD = 'atrium/setReceiver';
export const REMOVE_RECEIVER_METHOD = 'atrium/removeReceiver';
/** Sends one receiver a message now. */
export const TEST_RECEIVER_METHOD = 'atrium/testReceiver';
/** Tells the host which session a person is looking at. */
export const VIEW_METHOD = 'atrium/view';
/** Tells a connected client what to show. */
export const NOTIFIED_METHOD = 'atrium/notified';
/** Where a service worker sends Allow and Deny. */
export const ANSWER_PATH = '/notifications/answer';

export const NOTIFICATION_EVENTS = ['question', 'ended', 'failed', 'budget', 'automation'] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** How much a notification reveals: only that there is something, which session, or what would run. */
export const NOTIFICATION_DETAILS = ['nothing', 'title', 'command'] as const;
export type NotificationDetail = (typeof NOTIFICATION_DETAILS)[number];

export const RECEIVER_KINDS = ['push', 'page', 'webhook', 'desktop'] as const;
export type ReceiverKind = (typeof RECEIVER_KINDS)[number];

export const WEBHOOK_FORMATS = ['json', 'ntfy', 'slack'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** From `22:00` to `07:00`, on the clocks of this time zone. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

export interface NotificationRule {
  readonly events: readonly NotificationEvent[];
  /** Absent: all sessions. */
  readonly sessions?: readonly URI[];
  readonly quiet?: QuietHours;
  readonly detail: NotificationDetail;
}

export const DEFAULT_RULE: NotificationRule = { events: NOTIFICATION_EVENTS, detail: 'title' };

/** A receiver as it is listed, without its secrets. */
export interface NotificationReceiver {
  readonly id: string;
  readonly kind: ReceiverKind;
  readonly name: string;
  readonly rule: NotificationRule;
  /** Where it is sent, without the secret part of the address. */
  readonly address?: string;
  readonly format?: WebhookFormat;
  /** The device that it belongs to. */
  readonly device?: string;
  readonly createdAt: string;
  /** When the last message reached it. */
  readonly sentAt?: string;
  /** Why the last message did not reach it. */
  readonly problem?: string;
}

/** The answer to `atrium/notifications`. */
export interface NotificationReceivers {
  readonly items: readonly NotificationReceiver[];
  /** The host's key for `PushManager.subscribe`. */
  readonly publicKey: string;
  /** The host's machine can show notifications on its desktop. */
  readonly hasDesktop: boolean;
}

/** What a browser gets from its push service. */
export interface PushSubscriptionKeys {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** The params of `atrium/setReceiver`; with an `id`, they change an existing receiver. */
export interface SetReceiverParams {
  readonly id?: string;
  readonly kind?: ReceiverKind;
  readonly name?: string;
  readonly rule?: NotificationRule;
  readonly subscription?: PushSubscriptionKeys;
  readonly url?: string;
  readonly format?: WebhookFormat;
}

/** `secret` is present only in the answer that created it. */
export interface SetReceiverResult {
  readonly receiver: NotificationReceiver;
  readonly secret?: string;
}

/** The params of `atrium/view`. A client sends it again whenever they change. */
export interface ViewParams {
  /** Absent: no session. */
  readonly session?: URI;
  /** A person can see the session now. */
  readonly isInView: boolean;
  /** The client itself shows notifications while it is connected. */
  readonly shows?: boolean;
  /** The receiver whose rules apply to it. */
  readonly receiver?: string;
}

/** What a receiver shows, by Web Push or in a connected client. */
export interface NotificationMessage {
  /** Equal for one event, however often it is sent. */
  readonly id: string;
  /** A notification replaces the previous one with the same tag. */
  readonly tag: string;
  /** `close`: what was shown under this tag has been settled. */
  readonly kind: 'show' | 'close';
  readonly event: NotificationEvent | 'test';
  readonly title: string;
  readonly body?: string;
  readonly session?: URI;
  /** Required for Allow and Deny, which are offered only if the text above shows everything that would run. */
  readonly answerKey?: string;
}

/** What a service worker sends to `ANSWER_PATH`. */
export interface NotificationAnswer {
  readonly key: string;
  readonly approved: boolean;
}

/** Reads a message that came from outside; undefined when it is not ours. */
export function readNotificationMessage(value: unknown): NotificationMessage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, tag, kind, event, title, body, session, answerKey } = value as Record<string, unknown>;
  const isText = (text: unknown) => typeof text === 'string';
  const isOptional = (text: unknown) => text === undefined || typeof text === 'string';
  const isMessage = [id, tag, event, title].every(isText) && [body, session, answerKey].every(isOptional);
  return isMessage && (kind === 'show' || kind === 'close') ? (value as NotificationMessage) : undefined;
}
