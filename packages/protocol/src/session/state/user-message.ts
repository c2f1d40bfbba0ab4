import { type Static, Type } from 'typebox';
import { Meta } from '../../common/meta.js';
import { MessageAttachment } from './message-attachment.js';

export const UserMessage = Type.Object(
  { text: Type.String(), attachments: Type.Optional(Type.Array(MessageAttachment)), _meta: Type.Optional(Meta) },
  { $id: 'UserMessage', description: 'What a person (or a provider on its behalf) said.' },
);
export type UserMessage = Static<typeof UserMessage>;
