/** The end of a tool call: its result, and whether a person lets the model see it. */
import type { SessionToolCallCompleteAction } from '../actions/tool-call-complete.js';
import type { ToolCallPendingConfirmationState } from '../state/tool-call-pending-confirmation-state.js';
import type { ToolCallPendingResultConfirmationState } from '../state/tool-call-pending-result-confirmation-state.js';
import type { ToolCallRunningState } from '../state/tool-call-running-state.js';
import type { ToolCallState } from '../state/tool-call-state.js';
import { baseOf } from './tool-call-base.js';

/** The result joins the call; partial output gives way to it. */
export function completedFrom(
  call: ToolCallRunningState | ToolCallPendingConfirmationState,
  { result, requiresResultConfirmation }: SessionToolCallCompleteAction,
): ToolCallState {
  const running = call.status === 'running';
  return {
    status: requiresResultConfirmation ? 'pending-result-confirmation' : 'completed',
    ...baseOf(call),
    invocationMessage: call.invocationMessage,
    toolInput: call.toolInput,
    confirmed: running ? call.confirmed : 'not-needed',
    ...(running && call.selectedOption && { selectedOption: call.selectedOption }),
    ...result,
  };
}

/** The result is released, or thrown away with its data. */
export function resultConfirmed(call: ToolCallPendingResultConfirmationState, approved: boolean): ToolCallState {
  const { invocationMessage, toolInput, selectedOption } = call;
  const chosen = selectedOption && { selectedOption };
  if (!approved) {
    return {
      status: 'cancelled',
      ...baseOf(call),
      invocationMessage,
      toolInput,
      reason: 'result-denied',
      ...chosen,
    };
  }
  const { confirmed, success, pastTenseMessage, content, structuredContent, error } = call;
  return {
    status: 'completed',
    ...baseOf(call),
    invocationMessage,
    toolInput,
    confirmed,
    ...chosen,
    success,
    pastTenseMessage,
    content,
    structuredContent,
    error,
  };
}
