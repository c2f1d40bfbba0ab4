import { type Static, Type } from 'typebox';
import { TextSelection } from '../../common/text-selection.js';
import { URI } from '../../common/uri.js';
import { attachmentBase } from './attachment-base.js';

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
