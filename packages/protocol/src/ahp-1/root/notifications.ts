/**
 * Notifications: methods of our own beside the protocol, and what is said by them. A receiver is a place where people are told:
 * a browser with Web Push, an open page, a webhook, the desktop of the host's machine.
 */
import type { URI } from '../common/types.js';

/** Lists the receivers, and what a browser needs to become one. */
export const NOTIFICATIONS_METHOD = 'atrium/notifications';
/** Adds a receiver, or changes one. */
export const SET_RECEIVER_METHOD = 'atrium/setReceiver';
export const REMOVE_RECEIVER_METHOD = 'atrium/removeReceiver';
/** Tells one receiver something, now. */
export const TEST_RECEIVER_METHOD = 'atrium/testReceiver';
/** A client says which session a person has before their eyes. */
export const VIEW_METHOD = 'atrium/view';
/** The host tells a connected client what it should show. */
export const NOTIFIED_METHOD = 'atrium/notified';
/** Where a service worker sends Allow and Deny. */
export const ANSWER_PATH = '/notifications/answer';

export const NOTIFICATION_EVENTS = ['question', 'ended', 'failed', 'budget', 'automation'] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** How much a notification says: only that there is something, which session, or what would run. */
export const NOTIFICATION_DETAILS = ['nothing', 'title', 'command'] as const;
export type NotificationDetail = (typeof NOTIFICATION_DETAILS)[number];

export const RECEIVER_KINDS = ['push', 'page', 'webhook', 'desktop'] as const;
export type ReceiverKind = (typeof RECEIVER_KINDS)[number];

export const WEBHOOK_FORMATS = ['json', 'ntfy', 'slack'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** `22:00` to `07:00`, by the clocks of this time zone. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
  /** A name of the IANA list, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

export interface NotificationRule {
  readonly events: readonly NotificationEvent[];
  /** Absent: all. */
  readonly sessions?: readonly URI[];
  readonly quiet?: QuietHours;
  readonly detail: NotificationDetail;
}

export const DEFAULT_RULE: NotificationRule = { events: NOTIFICATION_EVENTS, detail: 'title' };

/** One receiver, as it is listed. Its secrets are never listed. */
export interface NotificationReceiver {
  readonly id: string;
  readonly kind: ReceiverKind;
  readonly name: string;
  readonly rule: NotificationRule;
  /** Where it is sent, without what is secret in the address. */
  readonly address?: string;
  readonly format?: WebhookFormat;
  /** The device that it belongs to. */
  readonly device?: string;
  readonly createdAt: string;
  /** When something last reached it. */
  readonly sentAt?: string;
  /** Why the last message did not reach it. */
  readonly problem?: string;
}

/** The answer to `atrium/notifications`. */
export interface NotificationReceivers {
  readonly items: readonly NotificationReceiver[];
  /** The key of the host, for `PushManager.subscribe`. */
  readonly publicKey: string;
  /** Whether the machine of the host can show something on its desktop. */
  readonly hasDesktop: boolean;
}

/** What a browser got from its push service. */
export interface PushSubscriptionKeys {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** The params of `atrium/setReceiver`: an `id` changes a receiver that there is. */
export interface SetReceiverParams {
  readonly id?: string;
  readonly kind?: ReceiverKind;
  readonly name?: string;
  readonly rule?: NotificationRule;
  readonly subscription?: PushSubscriptionKeys;
  readonly url?: string;
  readonly format?: WebhookFormat;
}

/** `secret`: only in the answer that made it. */
export interface SetReceiverResult {
  readonly receiver: NotificationReceiver;
  readonly secret?: string;
}

/** The params of `atrium/view`. A client says it again whenever it changes. */
export interface ViewParams {
  /** Absent: none. */
  readonly session?: URI;
  /** Whether a person can see the session now. */
  readonly isInView: boolean;
  /** The client shows notifications itself, while it is connected. */
  readonly shows?: boolean;
  /** The receiver whose rule counts for it. */
  readonly receiver?: string;
}

/** What a receiver shows: by Web Push, and to connected clients. */
export interface NotificationMessage {
  /** The same for one event, however often it is sent. */
  readonly id: string;
  /** A notification with the same tag takes the place of the one before. */
  readonly tag: string;
  /** `close`: what was shown under this tag has been settled. */
  readonly kind: 'show' | 'close';
  readonly event: NotificationEvent | 'test';
  readonly title: string;
  readonly body?: string;
  readonly session?: URI;
  /** Allow and Deny exist only with it: everything that would run stands in the text above. */
  readonly answerKey?: string;
}

/** What a service worker sends to `ANSWER_PATH`. */
export interface NotificationAnswer {
  readonly key: string;
  readonly approved: boolean;
}

/** A message as it arrived from outside; undefined when it is none of ours. */
export function readNotificationMessage(value: unknown): NotificationMessage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, tag, kind, event, title, body, session, answerKey } = value as Record<string, unknown>;
  const isText = (text: unknown) => typeof text === 'string';
  const isOptional = (text: unknown) => text === undefined || typeof text === 'string';
  const isMessage = [id, tag, event, title].every(isText) && [body, session, answerKey].every(isOptional);
  return isMessage && (kind === 'show' || kind === 'close') ? (value as NotificationMessage) : undefined;
}
