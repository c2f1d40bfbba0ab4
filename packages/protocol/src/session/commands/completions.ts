import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { Choice } from '../../schema/define.js';
import { MessageAttachment } from '../state/message-attachment.js';

export const CompletionsParams = Type.Object(
  { channel: URI, kind: Choice(['userMessage']), text: Type.String(), offset: Type.Number() },
  { $id: 'CompletionsParams', description: 'Asks what could be inserted at the caret of a message.' },
);
export type CompletionsParams = Static<typeof CompletionsParams>;

export const CompletionItem = Type.Object(
  {
    insertText: Type.String(),
    rangeStart: Type.Optional(Type.Number()),
    rangeEnd: Type.Optional(Type.Number()),
    attachment: MessageAttachment,
  },
  { $id: 'CompletionItem', description: 'Something to insert, with the attachment it brings.' },
);
export type CompletionItem = Static<typeof CompletionItem>;

export const CompletionsResult = Type.Object(
  { items: Type.Array(CompletionItem) },
  { $id: 'CompletionsResult', description: 'What was found, in display order.' },
);
export type CompletionsResult = Static<typeof CompletionsResult>;
