/** The five members that a tool call carries from its start to its end. */
import type { ToolCallState } from '../state/tool-call-state.js';

type ToolCallBase = Pick<ToolCallState, 'toolCallId' | 'toolName' | 'displayName' | 'toolClientId' | '_meta'>;

/** All five keys are there, also when two of them are undefined: strict comparison can tell. */
export function baseOf({ toolCallId, toolName, displayName, toolClientId, _meta }: ToolCallBase): ToolCallBase {
  return { toolCallId, toolName, displayName, toolClientId, _meta };
}
