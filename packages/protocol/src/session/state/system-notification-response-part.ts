import { type Static, Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';

export const SystemNotificationResponsePart = Type.Object(
  { kind: Type.Literal('systemNotification'), content: StringOrMarkdown },
  { $id: 'SystemNotificationResponsePart', description: 'A note of the host, seen by people and agent.' },
);
export type SystemNotificationResponsePart = Static<typeof SystemNotificationResponsePart>;
