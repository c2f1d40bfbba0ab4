/**
 * The requests to webhooks. Our own JSON is signed, so that the receiver knows that it comes from this host, when it
 * was sent, and that it is unchanged. ntfy and Slack get the bodies that they understand.
 */
import { createHmac } from 'node:crypto';
import type { NotificationMessage, WebhookFormat } from '@atrium/protocol/ahp-1';

/** Its value is `t=<seconds>,v1=<hex>`; the signed text is `<seconds>.<body>`. */
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

/** Undefined when the format cannot express the message: neither ntfy nor Slack can withdraw a post. */
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

/** Keeps the text from becoming a mention, a link or markup. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Encodes for ntfy (RFC 2047) what a header cannot hold. */
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
