import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { Choice } from '../../schema/define.js';
import { MessageAttachment } from '../state/message-attachment.js';

export const CompletionsParams = Type.Object(
  {
    channel: URI,
    kind: Choice(['userMessage'], { description: 'Where the caret is.' }),
    text: Type.String({ description: 'The message so far.' }),
    offset: Type.Number({ description: 'Where the caret is, in UTF-16 units.' }),
  },
  { $id: 'CompletionsParams', description: 'Asks what could be inserted at the caret of a message.' },
);
export type CompletionsParams = Static<typeof CompletionsParams>;

export const CompletionItem = Type.Object(
  {
    insertText: Type.String({ description: 'What to insert.' }),
    rangeStart: Type.Optional(Type.Number({ description: 'What to replace: from here …' })),
    rangeEnd: Type.Optional(
      Type.Number({ description: '… up to here, not included. Without both, insert at the caret.' }),
    ),
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
