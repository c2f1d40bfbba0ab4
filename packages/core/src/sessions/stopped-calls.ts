/** Ends the running calls of a stopped turn, and keeps what people have seen of them. */
import type { ActiveTurn, ChatToolCallCompleteAction, ToolCallState } from '@atrium/protocol/ahp-1';
import { plain } from '../tool-calls/results.js';

/** Error code of a call that was running when its turn was stopped. */
export const STOPPED_CODE = 'STOPPED';

/**
 * Ends every running call of a turn that is about to be stopped. Without this the call would count as one that never
 * ran, and its output would be lost. A client that runs a call of its own tool ends it by itself.
 */
export function endsOfRunningCalls({ id, responseParts }: ActiveTurn): ChatToolCallCompleteAction[] {
  const calls = responseParts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []));
  return calls.flatMap((call) =>
    call.status === 'running' && call.contributor?.kind !== 'client' ? endOf(id, call) : [],
  );
}

function endOf(turnId: string, call: Extract<ToolCallState, { status: 'running' }>): ChatToolCallCompleteAction {
  const { toolCallId, displayName, invocationMessage, content = [] } = call;
  const what = plain(invocationMessage) ?? displayName;
  const message = 'Stopped while it ran. It may have done some or all of its work.';
  return {
    type: 'chat/toolCallComplete',
    turnId,
    toolCallId,
    result: {
      success: false,
      pastTenseMessage: `Stopped while running: ${what}`,
      // The call's terminal ends with it, and had the same text.
      content: content.filter(({ type }) => type !== 'terminal'),
      error: { message, code: STOPPED_CODE },
    },
  };
}
