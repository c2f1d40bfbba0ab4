import { type Static, Type } from 'typebox';
import { attachmentBase } from './attachment-base.js';

export const SimpleMessageAttachment = Type.Object(
  {
    type: Type.Literal('simple'),
    ...attachmentBase,
    modelRepresentation: Type.Optional(Type.String({ description: 'What the model reads.' })),
  },
  { $id: 'SimpleMessageAttachment', description: 'An attachment that carries its own text for the model.' },
);
export type SimpleMessageAttachment = Static<typeof SimpleMessageAttachment>;
