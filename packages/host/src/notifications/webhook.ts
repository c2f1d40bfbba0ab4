/**
 * What a webhook gets. JSON of our own is signed: the receiver knows that it comes from this host, when, and that nobody changed
 * it. For ntfy and Slack there is the body that they understand.
 */
import { createHmac } from 'node:crypto';
import type { NotificationMessage, WebhookFormat } from '@atrium/protocol/ahp-1';

/** Of its value, `t=<seconds>,v1=<hex>`; the signed text is `<seconds>.<body>`. */
export const SIGNATURE_HEADER = 'Atrium-Signature';
/** The same for every attempt at one message. */
export const ID_HEADER = 'Atrium-Id';

export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface WebhookFacts {
  readonly message: NotificationMessage;
  readonly format: WebhookFormat;
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Undefined when the format has no words for it: neither ntfy nor Slack can take back what was posted. */
export function webhookRequest({ message, format, secret, now }: WebhookFacts): WebhookRequest | undefined {
  if (message.kind === 'close' && format !== 'json') return undefined;
  const body = Buffer.from(bodyOf(message, format, now));
  const seconds = Math.floor(now / 1_000);
  return {
    body,
    headers: {
      'Content-Type': format === 'ntfy' ? 'text/plain; charset=utf-8' : 'application/json',
      [ID_HEADER]: `${message.id}${message.kind === 'close' ? '.close' : ''}`,
      [SIGNATURE_HEADER]: `t=${seconds},v1=${signatureOf(secret, seconds, body)}`,
      ...(format === 'ntfy' && { Title: headerText(message.title), Tags: ntfyTag(message.event) }),
    },
  };
}

export function signatureOf(secret: string, seconds: number, body: Buffer | string): string {
  return createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
}

function bodyOf(message: NotificationMessage, format: WebhookFormat, now: number): string {
  const { id, kind, event, title, body = '', session } = message;
  if (format === 'ntfy') return body === '' ? title : body;
  if (format === 'slack') return JSON.stringify({ text: slackText(body === '' ? title : `${title}\n${body}`) });
  const when = new Date(now).toISOString();
  return JSON.stringify({ id, kind, event, title, ...(body && { body }), ...(session && { session }), sentAt: when });
}

/** Nothing in it becomes a mention, a link or markup. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** ntfy reads this encoding (RFC 2047) of what a header cannot hold. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}

function ntfyTag(event: NotificationMessage['event']): string {
  const tags = {
    question: 'question',
    budget: 'moneybag',
    ended: 'white_check_mark',
    failed: 'x',
    automation: 'robot',
  };
  return event === 'test' ? 'bell' : tags[event];
}
