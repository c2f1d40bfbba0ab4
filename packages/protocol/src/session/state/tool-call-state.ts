import { type Static, Type } from 'typebox';
import { ToolCallCancelledState } from './tool-call-cancelled-state.js';
import { ToolCallCompletedState } from './tool-call-completed-state.js';
import { ToolCallPendingConfirmationState } from './tool-call-pending-confirmation-state.js';
import { ToolCallPendingResultConfirmationState } from './tool-call-pending-result-confirmation-state.js';
import { ToolCallRunningState } from './tool-call-running-state.js';
import { ToolCallStreamingState } from './tool-call-streaming-state.js';

export const ToolCallState = Type.Union(
  [
    ToolCallStreamingState,
    ToolCallPendingConfirmationState,
    ToolCallRunningState,
    ToolCallPendingResultConfirmationState,
    ToolCallCompletedState,
    ToolCallCancelledState,
  ],
  { $id: 'ToolCallState', description: 'The life of a tool call: streaming, confirmation, run, result.' },
);
export type ToolCallState = Static<typeof ToolCallState>;
