/** Messages to an agent: their attachments, and those that wait for a turn. */
import { type Static, Type } from 'typebox';
import { OpenChoice, OpenUnion } from '../../schema/define.js';
import {
  MessageEmbeddedResourceAttachment,
  PendingMessageKind,
  SimpleMessageAttachment,
} from '../../session/messages.js';
import { AgentSelection, contentRefMembers, Meta, ModelSelection, TextSelection, URI } from '../common/types.js';

export { MessageEmbeddedResourceAttachment, PendingMessageKind, SimpleMessageAttachment };

const { label, range, displayKind, _meta } = SimpleMessageAttachment.properties;

/** Members that every attachment has. `_meta` of an attachment that came from `completions` goes back unchanged. */
const attachmentBase = { label, range, displayKind, _meta };

export const MessageResourceAttachment = Type.Object(
  {
    type: Type.Literal('resource'),
    ...attachmentBase,
    ...contentRefMembers,
    selection: Type.Optional(TextSelection),
  },
  { $id: 'MessageResourceAttachment', description: 'An attachment by reference.' },
);
export type MessageResourceAttachment = Static<typeof MessageResourceAttachment>;

export const MessageAnnotationsAttachment = Type.Object(
  {
    type: Type.Literal('annotations'),
    ...attachmentBase,
    resource: URI,
    annotationIds: Type.Optional(Type.Array(Type.String(), { description: 'Absent: all of them.' })),
  },
  { $id: 'MessageAnnotationsAttachment', description: 'Annotations of a session, named by their channel.' },
);
export type MessageAnnotationsAttachment = Static<typeof MessageAnnotationsAttachment>;

export const MessageChatAttachment = Type.Object(
  {
    type: Type.Literal('chat'),
    ...attachmentBase,
    resource: URI,
    endTurn: Type.Optional(
      Type.String({ description: 'The last turn of the transcript. The host fills in the last completed one.' }),
    ),
  },
  { $id: 'MessageChatAttachment', description: 'The transcript of another chat.' },
);
export type MessageChatAttachment = Static<typeof MessageChatAttachment>;

export const MessageAttachment = OpenUnion(
  'type',
  [
    SimpleMessageAttachment,
    MessageEmbeddedResourceAttachment,
    MessageResourceAttachment,
    MessageAnnotationsAttachment,
    MessageChatAttachment,
  ],
  { $id: 'MessageAttachment', description: 'Something attached to a message.' },
);
export type MessageAttachment = Static<typeof MessageAttachment>;

export const MessageKind = OpenChoice(['user', 'agent', 'tool', 'automation', 'systemNotification'], {
  $id: 'MessageKind',
  description: 'What a message comes from. Clients may only send `user`.',
});
export type MessageKind = Static<typeof MessageKind>;

export const MessageOrigin = Type.Object(
  { kind: MessageKind },
  { $id: 'MessageOrigin', description: 'What a message comes from.' },
);
export type MessageOrigin = Static<typeof MessageOrigin>;

export const Message = Type.Object(
  {
    text: Type.String(),
    origin: MessageOrigin,
    attachments: Type.Optional(Type.Array(MessageAttachment)),
    model: Type.Optional(ModelSelection),
    agent: Type.Optional(AgentSelection),
    _meta: Type.Optional(Meta),
  },
  {
    $id: 'Message',
    description: "A message to the agent, with the model and agent that it is sent with. Absent: the host's default.",
  },
);
export type Message = Static<typeof Message>;

export const PendingMessage = Type.Object(
  { id: Type.String(), message: Message },
  { $id: 'PendingMessage', description: 'A message that waits to be delivered.' },
);
export type PendingMessage = Static<typeof PendingMessage>;
