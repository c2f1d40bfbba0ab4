import { type Static, Type } from 'typebox';
import { StringOrMarkdown } from '../../common/string-or-markdown.js';
import { ConfirmationOption } from './confirmation-option.js';
import { toolCallBase } from './tool-call-base.js';
import { ToolCallCancellationReason } from './tool-call-cancellation-reason.js';
import { toolCallParameters } from './tool-call-parameters.js';
import { UserMessage } from './user-message.js';

export const ToolCallCancelledState = Type.Object(
  {
    status: Type.Literal('cancelled'),
    ...toolCallBase,
    ...toolCallParameters,
    reason: ToolCallCancellationReason,
    reasonMessage: Type.Optional(StringOrMarkdown),
    userSuggestion: Type.Optional(UserMessage),
    selectedOption: Type.Optional(ConfirmationOption),
  },
  { $id: 'ToolCallCancelledState', description: 'The call is over and has no result.' },
);
export type ToolCallCancelledState = Static<typeof ToolCallCancelledState>;
