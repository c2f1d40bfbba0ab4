/** Tool calls as version 1 shows them: no streaming, texts without markup, output as one string. */
import type { StringOrMarkdown } from '../../common/uri.js';
import type { ToolCallResult, ToolCallState } from '../../session/tool-calls.js';
import type { ActiveTurn } from '../../session/turns.js';
import type {
  V1CompletedToolCall,
  V1ToolCallBase,
  V1ToolCallResult,
  V1ToolCallState,
  V1ToolCallStatus,
} from '../../versions/v1.js';
import { compact } from './compact.js';
import { flatten } from './messages.js';

/** A call whose parameters are complete. Version 1 does not see a call before that. */
export type ShownToolCall = Exclude<ToolCallState, { status: 'streaming' }>;

export function isShown(call: ToolCallState | undefined): call is ShownToolCall {
  return call !== undefined && call.status !== 'streaming';
}

export function findToolCall(turn: ActiveTurn | undefined, toolCallId: string): ToolCallState | undefined {
  return turn && toolCallsOf(turn).find((call) => call.toolCallId === toolCallId);
}

export function toolCallsOf(turn: Pick<ActiveTurn, 'responseParts'>): ToolCallState[] {
  return turn.responseParts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

export function toolCallToV1(call: ShownToolCall): V1ToolCallState {
  const denial = denialOf(call);
  if (denial) {
    const { success, ...members } = denial;
    return { ...base(call), status: 'failed', ...members };
  }
  const result = 'success' in call ? resultMembers(call) : {};
  return compact({
    ...base(call),
    status: statusToV1(call),
    confirmed: 'confirmed' in call ? call.confirmed : undefined,
    ...result,
    cancellationReason: call.status === 'cancelled' ? call.reason : undefined,
  });
}

/** A call of a finished turn; one that was cancelled had no success and has nothing to tell but what it was about. */
export function completedToolCallToV1(call: ShownToolCall): V1CompletedToolCall {
  if (call.status === 'completed') return { ...base(call), ...resultToV1(call) };
  const denial = denialOf(call);
  return denial
    ? { ...base(call), ...denial }
    : { ...base(call), success: false, pastTenseMessage: flatten(call.invocationMessage) };
}

/** A denial that says why is a result to version 1, which has no other place for a reason. */
function denialOf(call: ShownToolCall): V1ToolCallResult | undefined {
  return call.status === 'cancelled' && call.reason === 'denied' ? denialToV1(call.reasonMessage) : undefined;
}

export function denialToV1(reason: StringOrMarkdown | undefined): V1ToolCallResult | undefined {
  if (reason === undefined) return undefined;
  const message = flatten(reason);
  const pastTenseMessage = NAMES_ITS_SOURCE.test(message) ? `Blocked by ${message}` : message;
  return { success: false, pastTenseMessage, error: { code: 'denied', message } };
}

/** The host writes before a reason whose it is: "ci-watcher: CI is failing". */
const NAMES_ITS_SOURCE = /^[A-Za-z0-9][\w.-]*: /;

export function resultToV1(result: ToolCallResult): V1ToolCallResult {
  return compact({ success: result.success, ...resultMembers(result) });
}

function resultMembers({ pastTenseMessage, content, error }: ToolCallResult) {
  return { pastTenseMessage: flatten(pastTenseMessage), toolOutput: toolOutput(content), error };
}

function toolOutput(content: ToolCallResult['content']): string | undefined {
  const texts = (content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length > 0 ? texts.join('\n') : undefined;
}

function base({ toolCallId, toolName, displayName, invocationMessage, toolInput }: ShownToolCall): V1ToolCallBase {
  return compact({ toolCallId, toolName, displayName, invocationMessage: flatten(invocationMessage), toolInput });
}

function statusToV1(call: ShownToolCall): V1ToolCallStatus {
  if (call.status === 'completed') return call.success ? 'completed' : 'failed';
  return call.status === 'running' || call.status === 'cancelled' ? call.status : 'pending-permission';
}
