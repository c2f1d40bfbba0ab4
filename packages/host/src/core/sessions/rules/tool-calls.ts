/** Tool calls: the first answer wins, and only its owner speaks for a client's tool. */
import type { SessionState, ToolCallState } from '@atrium/protocol';
import type { Facts, Rules } from '../rules.js';

interface Target {
  readonly turnId: string;
  readonly toolCallId: string;
}

export const toolCallRules: Rules = {
  'session/toolCallConfirmed': (action, { state, clientId }) => {
    const call = findCall(state, action);
    // A client must deny a call of a tool that it does not know, and its calls run at once. The host then ends the call.
    if (call?.status === 'running' && call.toolClientId === clientId && !action.approved) return undefined;
    if (call?.status !== 'pending-confirmation') return notWaiting(action, call);
    if (action.approved && action.editedToolInput !== undefined && !call.editable) return 'its input cannot be edited';
    if (!action.selectedOptionId) return undefined;
    const option = call.options?.find(({ id }) => id === action.selectedOptionId);
    if (!option) return `there is no option ${action.selectedOptionId}`;
    const fits = option.kind === (action.approved ? 'approve' : 'deny');
    return fits ? undefined : `option ${option.id} means to ${option.kind}`;
  },

  'session/toolCallResultConfirmed': (action, { state }) => {
    const call = findCall(state, action);
    return call?.status === 'pending-result-confirmation' ? undefined : notWaiting(action, call);
  },

  'session/toolCallComplete': (action, facts) =>
    notOwner(action, facts) ?? notIn(action, facts, ['running', 'pending-confirmation']),

  'session/toolCallContentChanged': (action, facts) => notOwner(action, facts) ?? notIn(action, facts, ['running']),
};

/** A call of the running turn. */
export function findCall(state: SessionState, { turnId, toolCallId }: Target): ToolCallState | undefined {
  if (state.activeTurn?.id !== turnId) return undefined;
  for (const part of state.activeTurn.responseParts) {
    if (part.kind === 'toolCall' && part.toolCall.toolCallId === toolCallId) return part.toolCall;
  }
  return undefined;
}

function notWaiting({ toolCallId }: Target, call: ToolCallState | undefined): string {
  return call ? `call ${toolCallId} is ${call.status}: somebody answered already` : `no call ${toolCallId} is running`;
}

function notOwner(target: Target, { state, clientId }: Facts): string | undefined {
  const call = findCall(state, target);
  if (!call) return `no call ${target.toolCallId} is running`;
  if (call.toolClientId === undefined) return `call ${target.toolCallId} is run by the host`;
  return call.toolClientId === clientId ? undefined : `call ${target.toolCallId} belongs to another client`;
}

function notIn(target: Target, { state }: Facts, allowed: readonly string[]): string | undefined {
  const status = findCall(state, target)?.status ?? 'gone';
  return allowed.includes(status) ? undefined : `call ${target.toolCallId} is ${status}`;
}
