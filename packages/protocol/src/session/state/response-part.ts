import type { Static } from 'typebox';
import { OpenUnion } from '../../schema/define.js';
import { MarkdownResponsePart } from './markdown-response-part.js';
import { ReasoningResponsePart } from './reasoning-response-part.js';
import { ResourceResponsePart } from './resource-response-part.js';
import { SystemNotificationResponsePart } from './system-notification-response-part.js';
import { ToolCallResponsePart } from './tool-call-response-part.js';

export const ResponsePart = OpenUnion(
  'kind',
  [
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResourceResponsePart,
    ToolCallResponsePart,
    SystemNotificationResponsePart,
  ],
  { $id: 'ResponsePart', description: 'One part of an answer. All parts stand in stream order.' },
);
export type ResponsePart = Static<typeof ResponsePart>;
