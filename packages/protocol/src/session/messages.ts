/** Messages to an agent: their attachments, and those that wait for a turn. */
import { type Static, Type } from 'typebox';
import { Meta, TextRange, TextSelection, URI } from '../common/types.js';
import { Choice, OpenUnion } from '../schema/define.js';

/** Members that every attachment has. `_meta` of an attachment that came from `completions` goes back unchanged. */
const attachmentBase = {
  label: Type.String(),
  range: Type.Optional(TextRange),
  displayKind: Type.Optional(
    Type.String({
      description: 'How to show it: `image`, `document`, `symbol`, `directory`, `selection` or another word.',
    }),
  ),
  _meta: Type.Optional(Meta),
};

export const SimpleMessageAttachment = Type.Object(
  {
    type: Type.Literal('simple'),
    ...attachmentBase,
    modelRepresentation: Type.Optional(Type.String({ description: 'What the model reads.' })),
  },
  { $id: 'SimpleMessageAttachment', description: 'An attachment that carries its own text for the model.' },
);
export type SimpleMessageAttachment = Static<typeof SimpleMessageAttachment>;

export const MessageEmbeddedResourceAttachment = Type.Object(
  {
    type: Type.Literal('embeddedResource'),
    ...attachmentBase,
    data: Type.String({ description: 'The bytes, in base64.' }),
    contentType: Type.String(),
    selection: Type.Optional(TextSelection),
  },
  { $id: 'MessageEmbeddedResourceAttachment', description: 'An attachment whose bytes travel with the message.' },
);
export type MessageEmbeddedResourceAttachment = Static<typeof MessageEmbeddedResourceAttachment>;

export const MessageResourceAttachment = Type.Object(
  {
    type: Type.Literal('resource'),
    ...attachmentBase,
    uri: URI,
    sizeHint: Type.Optional(Type.Number()),
    contentType: Type.Optional(Type.String()),
    selection: Type.Optional(TextSelection),
  },
  { $id: 'MessageResourceAttachment', description: 'An attachment by reference.' },
);
export type MessageResourceAttachment = Static<typeof MessageResourceAttachment>;

export const MessageAttachment = OpenUnion(
  'type',
  [SimpleMessageAttachment, MessageEmbeddedResourceAttachment, MessageResourceAttachment],
  { $id: 'MessageAttachment', description: 'Something attached to a message.' },
);
export type MessageAttachment = Static<typeof MessageAttachment>;

export const UserMessage = Type.Object(
  { text: Type.String(), attachments: Type.Optional(Type.Array(MessageAttachment)), _meta: Type.Optional(Meta) },
  { $id: 'UserMessage', description: 'A message to the agent, from a person or from a provider.' },
);
export type UserMessage = Static<typeof UserMessage>;

export const PendingMessageKind = Choice(['steering', 'queued'], {
  $id: 'PendingMessageKind',
  description: 'Whether a waiting message steers the running turn or starts the next one.',
});
export type PendingMessageKind = Static<typeof PendingMessageKind>;

export const PendingMessage = Type.Object(
  { id: Type.String(), userMessage: UserMessage },
  { $id: 'PendingMessage', description: 'A message that waits to be delivered.' },
);
export type PendingMessage = Static<typeof PendingMessage>;
