/** Tells when tool calls end, however they do, and how long they ran. */
import type { SessionState, ToolCallState } from '@atrium/protocol';
import type { ProviderToolExecutionData } from '@atrium/protocol/provider';
import type { Step } from '../../core/channels/channel.js';
import { outcomeOf, plain } from '../../core/tool-calls/call-steps.js';
import { isRecord } from '../../core/util/shape.js';
import { argumentsOf } from './steps.js';

/** What takes a call from one state to the next. Input and progress come far more often, and end nothing. */
const CHANGES: ReadonlySet<string> = new Set([
  'session/toolCallReady',
  'session/toolCallConfirmed',
  'session/toolCallComplete',
  'session/toolCallResultConfirmed',
]);

export class ToolEvents {
  readonly #startedAt = new Map<string, number>();

  /** The calls that this action ended. */
  take({ envelope, before, after }: Step<SessionState>, now: number): ProviderToolExecutionData[] {
    const { action } = envelope;
    if ('toolCallId' in action && !CHANGES.has(action.type)) return [];
    if ('toolCallId' in action)
      return this.#changed(callIn(before, action.toolCallId), callIn(after, action.toolCallId), now);
    if (!before.activeTurn || after.activeTurn) return [];
    const open = callsOf(before).filter((call) => !isOver(call));
    const last = after.turns.at(-1);
    const ended = open.flatMap((call) => {
      const found = last?.responseParts.find(
        (part) => part.kind === 'toolCall' && part.toolCall.toolCallId === call.toolCallId,
      );
      return this.#changed(call, found?.kind === 'toolCall' ? found.toolCall : undefined, now);
    });
    this.#startedAt.clear();
    return ended;
  }

  #changed(
    before: ToolCallState | undefined,
    after: ToolCallState | undefined,
    now: number,
  ): ProviderToolExecutionData[] {
    if (!after || before === after) return [];
    if (after.status === 'running' && before?.status !== 'running') this.#startedAt.set(after.toolCallId, now);
    if (!isOver(after) || (before && isOver(before))) return [];
    const startedAt = this.#startedAt.get(after.toolCallId) ?? now;
    this.#startedAt.delete(after.toolCallId);
    return [dataOf(after, Math.max(0, now - startedAt))];
  }
}

function dataOf(call: ToolCallState, durationMs: number): ProviderToolExecutionData {
  const provider = providerOf(call);
  const toolInput = 'toolInput' in call ? call.toolInput : undefined;
  return {
    tool: call.toolName,
    ...(provider !== undefined && { provider }),
    args: argumentsOf(toolInput),
    result: resultOf(call),
    durationMs,
  };
}

function resultOf(call: ToolCallState): ProviderToolExecutionData['result'] {
  if (call.status === 'completed') {
    const outcome = outcomeOf(call);
    return {
      type: call.success ? 'success' : 'failure',
      ...(outcome.kind === 'completed' && { output: outcome.text }),
    };
  }
  const reason = call.status === 'cancelled' ? plain(call.reasonMessage) : undefined;
  return { type: 'failure', ...(reason !== undefined && { output: reason }) };
}

function providerOf({ _meta }: ToolCallState): string | undefined {
  const gateway = _meta?.gateway;
  return isRecord(gateway) && typeof gateway.provider === 'string' ? gateway.provider : undefined;
}

function isOver({ status }: ToolCallState): boolean {
  return status === 'completed' || status === 'cancelled';
}

function callsOf({ activeTurn }: SessionState): ToolCallState[] {
  return (activeTurn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

function callIn(state: SessionState, toolCallId: string): ToolCallState | undefined {
  return callsOf(state).find((call) => call.toolCallId === toolCallId);
}
