/**
 * A steering message in the record of the turn that it reached. The protocol has no part for it: it is a notification
 * that every client shows, with the message as an extra member for clients that know it.
 */

import type { UserMessage } from './messages.js';
import type { ResponsePart, SystemNotificationResponsePart } from './turns.js';

export type SteeringPart = SystemNotificationResponsePart & { readonly userMessage: UserMessage };

export function steeringPart(userMessage: UserMessage): SteeringPart {
  const { text, attachments = [] } = userMessage;
  const attached = attachments.length === 0 ? [] : [`Attached: ${attachments.map(({ label }) => label).join(', ')}`];
  return {
    kind: 'systemNotification',
    content: ['Message while the agent was working:', text, ...attached].join('\n'),
    userMessage,
  };
}

/** The message in a steering part; undefined for any other part. */
export function steeringIn(part: ResponsePart): UserMessage | undefined {
  if (part.kind !== 'systemNotification' || !('userMessage' in part)) return undefined;
  const message = part.userMessage;
  if (typeof message !== 'object' || message === null) return undefined;
  const { text, attachments } = message as Partial<UserMessage>;
  const isMessage = typeof text === 'string' && (attachments === undefined || Array.isArray(attachments));
  return isMessage ? (message as UserMessage) : undefined;
}
