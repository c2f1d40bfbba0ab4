/**
 * The life of a tool call in version-1 actions. What is sent follows from the states of the call before and after the
 * step, so an action that had no effect sends nothing.
 */
import type { ActionMap } from '../../actions.js';
import type { ToolCallState } from '../../session/tool-calls.js';
import type { V1ToolCallResult } from '../../versions/v1.js';
import type { ChannelMemory, Step } from '../dialect.js';
import { confirmationId, isPending, type PendingToolCall, permissionRequest, resultId } from './permissions.js';
import { denialToV1, findToolCall, isShown, resultToV1, toolCallToV1 } from './tool-calls.js';
import type { StepContext, Translators, V1ActionBody } from './translator.js';

type ToolCallActionType =
  | 'session/toolCallReady'
  | 'session/toolCallConfirmed'
  | 'session/toolCallComplete'
  | 'session/toolCallResultConfirmed';

export const toolCallTranslators: Translators<ToolCallActionType> = {
  'session/toolCallReady': ready,
  'session/toolCallConfirmed': confirmed,
  'session/toolCallComplete': completed,
  'session/toolCallResultConfirmed': resultConfirmed,
};

/** A call that version 1 has not seen yet. While its parameters stream there is nothing to see. */
export function toolCallAppears(turnId: string, call: ToolCallState, memory: ChannelMemory): readonly V1ActionBody[] {
  if (!isShown(call)) return [];
  const start: V1ActionBody = { type: 'session/toolStart', turnId, toolCall: toolCallToV1(call) };
  return isPending(call) ? [start, asks(turnId, call, memory)] : [start];
}

/** A call that the host refused before anybody was asked: shown as started, if it is new, and then as failed. */
export function refusedCallAppears(step: StepContext): readonly V1ActionBody[] {
  const { action } = step.envelope;
  if (action.type !== 'session/toolCallReady') return [];
  const { was, is } = callAround(step, action);
  if (was?.status !== 'streaming' || !isShown(is)) return [];
  return [{ type: 'session/toolStart', turnId: action.turnId, toolCall: { ...toolCallToV1(is), status: 'running' } }];
}

export function callRefused(action: ActionMap['session/toolCallConfirmed']): readonly V1ActionBody[] {
  const { turnId, toolCallId } = action;
  const message = 'Denied';
  const unexplained = { success: false, pastTenseMessage: message, error: { code: 'denied', message } };
  return [{ type: 'session/toolComplete', turnId, toolCallId, result: denialIn(action) ?? unexplained }];
}

function denialIn(action: ActionMap['session/toolCallConfirmed']): V1ToolCallResult | undefined {
  return action.approved || action.reason !== 'denied' ? undefined : denialToV1(action.reasonMessage);
}

/** The call that an action is about, before and after it. */
export function callAround({ before, after }: Step, { turnId, toolCallId }: ToolCallTarget): CallAround {
  const find = (state: Step['before']) =>
    state?.activeTurn?.id === turnId ? findToolCall(state.activeTurn, toolCallId) : undefined;
  return { was: find(before), is: find(after) };
}

interface ToolCallTarget {
  readonly turnId: string;
  readonly toolCallId: string;
}

interface CallAround {
  readonly was: ToolCallState | undefined;
  readonly is: ToolCallState | undefined;
}

function ready(action: ActionMap['session/toolCallReady'], step: StepContext): readonly V1ActionBody[] {
  const { was, is } = callAround(step, action);
  if (was?.status === 'streaming' && is) return toolCallAppears(action.turnId, is, step.memory);
  return was?.status === 'running' && isPending(is) ? [asks(action.turnId, is, step.memory)] : [];
}

function confirmed(action: ActionMap['session/toolCallConfirmed'], step: StepContext): readonly V1ActionBody[] {
  const { was } = callAround(step, action);
  const { turnId, toolCallId, approved } = action;
  const isOpen = was?.status === 'pending-confirmation';
  if (!isOpen && step.envelope.origin === undefined) return [];
  const answer = resolved(turnId, confirmationId(step.memory, turnId, toolCallId), approved);
  const denial = isOpen ? denialIn(action) : undefined;
  return denial ? [answer, { type: 'session/toolComplete', turnId, toolCallId, result: denial }] : [answer];
}

function completed(action: ActionMap['session/toolCallComplete'], step: StepContext): readonly V1ActionBody[] {
  const { was, is } = callAround(step, action);
  const { turnId, toolCallId } = action;
  if (was?.status !== 'running' && was?.status !== 'pending-confirmation') return [];
  const open = was.status === 'pending-confirmation';
  const settled = open ? [resolved(turnId, confirmationId(step.memory, turnId, toolCallId), true)] : [];
  return [...settled, ...(isPending(is) ? [asks(turnId, is, step.memory)] : ends(turnId, is))];
}

function resultConfirmed(
  action: ActionMap['session/toolCallResultConfirmed'],
  step: StepContext,
): readonly V1ActionBody[] {
  const { was, is } = callAround(step, action);
  const { turnId, toolCallId, approved } = action;
  const settles = was?.status === 'pending-result-confirmation';
  if (!settles && step.envelope.origin === undefined) return [];
  return [resolved(turnId, resultId(toolCallId), approved), ...(settles ? ends(turnId, is) : [])];
}

function asks(turnId: string, call: PendingToolCall, memory: ChannelMemory): V1ActionBody {
  return { type: 'session/permissionRequest', turnId, request: permissionRequest(memory, turnId, call) };
}

function resolved(turnId: string, requestId: string, approved: boolean): V1ActionBody {
  return { type: 'session/permissionResolved', turnId, requestId, approved };
}

/** Only a call with a result ends by an action; a refused result has ended with the answer to the question. */
function ends(turnId: string, call: ToolCallState | undefined): readonly V1ActionBody[] {
  if (call?.status !== 'completed') return [];
  return [{ type: 'session/toolComplete', turnId, toolCallId: call.toolCallId, result: resultToV1(call) }];
}
