import { type Static, Type } from 'typebox';
import { ToolCallConfirmationReason } from '../state/tool-call-confirmation-reason.js';
import { toolCallTarget } from './tool-call-target.js';

export const SessionToolCallApprovedAction = Type.Object(
  {
    type: Type.Literal('session/toolCallConfirmed'),
    ...toolCallTarget,
    approved: Type.Literal(true),
    confirmed: ToolCallConfirmationReason,
    editedToolInput: Type.Optional(
      Type.String({ description: 'The arguments as the person changed them, as JSON text.' }),
    ),
    selectedOptionId: Type.Optional(Type.String()),
  },
  {
    $id: 'SessionToolCallApprovedAction',
    description: 'A person (or a setting) lets the call run, perhaps with edited input.',
  },
);
export type SessionToolCallApprovedAction = Static<typeof SessionToolCallApprovedAction>;
