/**
 * A steering message in the record of the turn that it reached. The protocol has no part for it: it is a notification
 * that every client shows, with the message in its `_meta` for clients that know it.
 */
import type { Message } from './messages.js';
import type { ResponsePart, SystemNotificationResponsePart } from './turns.js';

const STEERING_META_KEY = 'atrium.steering';

export function steeringPart(message: Message): SystemNotificationResponsePart {
  const { text, attachments = [] } = message;
  const attached = attachments.length === 0 ? [] : [`Attached: ${attachments.map(({ label }) => label).join(', ')}`];
  return {
    kind: 'systemNotification',
    content: ['Message while the agent was working:', text, ...attached].join('\n'),
    _meta: { [STEERING_META_KEY]: message },
  };
}

/** The message in a steering part; undefined for any other part. */
export function steeringIn(part: ResponsePart): Message | undefined {
  const message = part.kind === 'systemNotification' ? part._meta?.[STEERING_META_KEY] : undefined;
  if (typeof message !== 'object' || message === null) return undefined;
  const { text, attachments } = message as Partial<Message>;
  const isMessage = typeof text === 'string' && (attachments === undefined || Array.isArray(attachments));
  return isMessage ? (message as Message) : undefined;
}
