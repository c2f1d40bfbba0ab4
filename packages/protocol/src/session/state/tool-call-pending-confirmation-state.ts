import { type Static, Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';
import { ConfirmationOption } from './confirmation-option.js';
import { FileEditList } from './file-edit-list.js';
import { toolCallBase } from './tool-call-base.js';
import { toolCallParameters } from './tool-call-parameters.js';

export const ToolCallPendingConfirmationState = Type.Object(
  {
    status: Type.Literal('pending-confirmation'),
    ...toolCallBase,
    ...toolCallParameters,
    confirmationTitle: Type.Optional(StringOrMarkdown),
    edits: Type.Optional(FileEditList),
    editable: Type.Optional(Type.Boolean()),
    options: Type.Optional(Type.Array(ConfirmationOption)),
  },
  { $id: 'ToolCallPendingConfirmationState', description: "The call waits for a person's yes or no." },
);
export type ToolCallPendingConfirmationState = Static<typeof ToolCallPendingConfirmationState>;
