import { type Static, Type } from 'typebox';
import { ConfirmationOption } from './confirmation-option.js';
import { toolCallBase } from './tool-call-base.js';
import { ToolCallConfirmationReason } from './tool-call-confirmation-reason.js';
import { toolCallParameters } from './tool-call-parameters.js';
import { toolCallResultMembers } from './tool-call-result-members.js';

export const ToolCallCompletedState = Type.Object(
  {
    status: Type.Literal('completed'),
    ...toolCallBase,
    ...toolCallParameters,
    confirmed: ToolCallConfirmationReason,
    selectedOption: Type.Optional(ConfirmationOption),
    ...toolCallResultMembers,
  },
  { $id: 'ToolCallCompletedState', description: 'The call is over and has a result.' },
);
export type ToolCallCompletedState = Static<typeof ToolCallCompletedState>;
