import { type Static, Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';
import { ConfirmationOption } from '../state/confirmation-option.js';
import { FileEditList } from '../state/file-edit-list.js';
import { ToolCallConfirmationReason } from '../state/tool-call-confirmation-reason.js';
import { toolCallParameters } from '../state/tool-call-parameters.js';
import { toolCallTarget } from './tool-call-target.js';

export const SessionToolCallReadyAction = Type.Object(
  {
    type: Type.Literal('session/toolCallReady'),
    ...toolCallTarget,
    ...toolCallParameters,
    confirmationTitle: Type.Optional(StringOrMarkdown),
    edits: Type.Optional(FileEditList),
    editable: Type.Optional(Type.Boolean()),
    confirmed: Type.Optional(ToolCallConfirmationReason),
    options: Type.Optional(Type.Array(ConfirmationOption)),
  },
  {
    $id: 'SessionToolCallReadyAction',
    description: 'The parameters are complete: run (`confirmed`), or ask a person first.',
  },
);
export type SessionToolCallReadyAction = Static<typeof SessionToolCallReadyAction>;
