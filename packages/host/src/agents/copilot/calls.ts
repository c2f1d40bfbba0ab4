/** All calls of one turn: those of Copilot's own tools, and those of tools that it was given. */
import type { AgentTurn } from '../../core/contracts/agent.js';
import { HostCalls, type HostTools } from './host-tools.js';
import { OwnCalls } from './own-calls.js';
import { rejected } from './permission.js';
import type {
  HookContext,
  PermissionDecision,
  PermissionRequest,
  PreToolUseAnswer,
  SdkToolResult,
  ToolHookInput,
} from './sdk.js';
import type { SdkEvent, ToolDelta, ToolEnd } from './sdk-events.js';

export class TurnCalls {
  readonly #own: OwnCalls;
  readonly #host: HostCalls;

  constructor(turn: AgentTurn, tools: HostTools) {
    this.#own = new OwnCalls(turn);
    this.#host = new HostCalls(turn, tools);
  }

  take(event: SdkEvent): void {
    if (event.type === 'assistant.tool_call_delta') this.#delta(event.data);
    else if (event.type === 'tool.execution_start') {
      if (!this.#host.has(event.data.toolName)) this.#own.started(event.data);
    } else if (event.type === 'tool.execution_partial_result') {
      this.#own.progress(event.data.toolCallId, event.data.partialOutput);
    } else if (event.type === 'tool.execution_complete') {
      // The turn may be over by then, and with it the call.
      this.#ended(event.data).catch(() => {});
    }
  }

  /** A failing hook would count as "no opinion", so it must not fail. */
  async check(input: ToolHookInput): Promise<PreToolUseAnswer | undefined> {
    if (this.#host.has(input.toolName)) return undefined;
    try {
      return await this.#own.check(input);
    } catch (error) {
      return { permissionDecision: 'deny', permissionDecisionReason: messageOf(error) };
    }
  }

  async permit(request: PermissionRequest): Promise<PermissionDecision> {
    if (request.kind === 'custom-tool' && this.#host.has(request.toolName)) return { kind: 'approve-once' };
    return this.#own.permit(request).catch((error) => rejected(messageOf(error)));
  }

  async done(input: ToolHookInput, success: boolean, output: string): Promise<HookContext | undefined> {
    return this.#host.has(input.toolName) ? undefined : this.#own.done(input, success, output);
  }

  runHostTool(toolCallId: string, name: string, input: unknown): Promise<SdkToolResult> {
    return this.#host.run(toolCallId, name, input);
  }

  #delta({ toolCallId, toolName, inputDelta }: ToolDelta): void {
    if (toolName === undefined) return;
    const calls = this.#host.has(toolName) ? this.#host : this.#own;
    calls.delta(toolCallId, toolName, inputDelta);
  }

  async #ended(end: ToolEnd): Promise<void> {
    await this.#host.ended(end.toolCallId, end.error?.message ?? 'The call could not be run.');
    await this.#own.ended(end);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
