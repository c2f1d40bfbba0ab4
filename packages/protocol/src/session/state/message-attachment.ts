import type { Static } from 'typebox';
import { OpenUnion } from '../../schema/define.js';
import { MessageEmbeddedResourceAttachment } from './message-embedded-resource-attachment.js';
import { MessageResourceAttachment } from './message-resource-attachment.js';
import { SimpleMessageAttachment } from './simple-message-attachment.js';

export const MessageAttachment = OpenUnion(
  'type',
  [SimpleMessageAttachment, MessageEmbeddedResourceAttachment, MessageResourceAttachment],
  { $id: 'MessageAttachment', description: 'Something attached to a message.' },
);
export type MessageAttachment = Static<typeof MessageAttachment>;
