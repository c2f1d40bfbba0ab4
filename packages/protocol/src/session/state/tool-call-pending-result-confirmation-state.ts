import { type Static, Type } from 'typebox';
import { ConfirmationOption } from './confirmation-option.js';
import { toolCallBase } from './tool-call-base.js';
import { ToolCallConfirmationReason } from './tool-call-confirmation-reason.js';
import { toolCallParameters } from './tool-call-parameters.js';
import { toolCallResultMembers } from './tool-call-result-members.js';

export const ToolCallPendingResultConfirmationState = Type.Object(
  {
    status: Type.Literal('pending-result-confirmation'),
    ...toolCallBase,
    ...toolCallParameters,
    confirmed: ToolCallConfirmationReason,
    selectedOption: Type.Optional(ConfirmationOption),
    ...toolCallResultMembers,
  },
  {
    $id: 'ToolCallPendingResultConfirmationState',
    description: "The tool is done; its result waits for a person's yes or no.",
  },
);
export type ToolCallPendingResultConfirmationState = Static<typeof ToolCallPendingResultConfirmationState>;
