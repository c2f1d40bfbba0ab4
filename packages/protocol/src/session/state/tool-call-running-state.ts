import { type Static, Type } from 'typebox';
import { ConfirmationOption } from './confirmation-option.js';
import { toolCallBase } from './tool-call-base.js';
import { ToolCallConfirmationReason } from './tool-call-confirmation-reason.js';
import { toolCallParameters } from './tool-call-parameters.js';
import { ToolResultContent } from './tool-result-content.js';

export const ToolCallRunningState = Type.Object(
  {
    status: Type.Literal('running'),
    ...toolCallBase,
    ...toolCallParameters,
    confirmed: ToolCallConfirmationReason,
    selectedOption: Type.Optional(ConfirmationOption),
    content: Type.Optional(Type.Array(ToolResultContent)),
  },
  { $id: 'ToolCallRunningState', description: 'The tool runs.' },
);
export type ToolCallRunningState = Static<typeof ToolCallRunningState>;
