import { type Static, Type } from 'typebox';
import { TextSelection } from '../../common/text-selection.js';
import { attachmentBase } from './attachment-base.js';

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
