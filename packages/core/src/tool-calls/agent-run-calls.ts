/**
 * Calls of tools that the agent runs itself, and scripted calls, which nothing runs. An agent's own call passes the
 * usual stages as far as the agent asks for them, and when it asks.
 */
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol/ahp-1';
import type { AgentRunCall, Permit, ScriptedToolCall, ToolOutcome } from '../contracts/agent.js';
import type { ToolConfirmation } from '../contracts/tool.js';
import type { CallContext } from './call-context.js';
import type { CalledTool } from './shown-call.js';
import { type Ran, type Stages, ToolCall, type ToolRunner } from './tool-call.js';

/** Longest text in which a backend describes a call, or asks about it. */
export const CALL_TEXT_MAX_CHARACTERS = 4_000;

const AGENT_RUN: Stages = {
  input: 'as-is',
  permission: 'on-request',
  extensions: 'begin-and-end',
  output: 'whole',
};

export class AgentRunToolCall implements AgentRunCall {
  readonly #call: ToolCall;
  /** Says why the input cannot be used. */
  #problem: string | undefined;

  constructor(context: CallContext, tool: CalledTool) {
    this.#call = new ToolCall(context, tool, AGENT_RUN);
  }

  get id(): string {
    return this.#call.id;
  }

  delta(content: string): void {
    this.#call.delta(content);
  }

  async check(input: unknown, invocationMessage: string): Promise<Permit> {
    return this.#announced(await this.#checked(input, invocationMessage));
  }

  async #checked(input: unknown, invocationMessage: string): Promise<Permit> {
    this.#show(input, invocationMessage);
    if (this.#problem !== undefined) return this.#call.deny(this.#problem);
    const clearance = await this.#call.checkGates();
    if (clearance.kind === 'denied') return this.#call.deny(clearance.reason);
    return this.#call.isAskedByGate ? this.#call.permission() : { kind: 'granted' };
  }

  shown(input: unknown, invocationMessage: string): void {
    if (!this.#call.hasAskedPermission) this.#show(input, invocationMessage);
  }

  async confirm(confirmation: ToolConfirmation): Promise<Permit> {
    // Do not ask a person about an input of which only the beginning is shown.
    if (!this.#call.hasAskedPermission && this.#problem !== undefined) return this.#call.deny(this.#problem);
    this.#call.setConfirmation({ ...confirmation, title: boundedText(confirmation.title) });
    return this.#announced(await this.#call.permission());
  }

  async #announced(permit: Permit): Promise<Permit> {
    if (permit.kind === 'granted') await this.#call.announceBegin();
    return permit;
  }

  /** Shows output. Output means that the call runs, even if the agent asked for no permission. */
  progress(content: ToolResultContent[]): void {
    this.#call.permission().then(
      () => this.#call.progress(content),
      // The turn is over, and the call with it.
      () => {},
    );
  }

  async complete(result: ToolCallResult): Promise<ToolOutcome> {
    await this.#call.permission();
    return this.#call.withNotes(await this.#call.complete({ result }));
  }

  #show(input: unknown, invocationMessage: string): void {
    this.#problem = this.#call.showInput(input, boundedText(invocationMessage));
  }
}

/** A call whose result is known from the start: it passes every stage, but nothing runs. */
export class ScriptedToolRunner implements ToolRunner {
  readonly stages: Stages = { ...AGENT_RUN, permission: 'before-run' };
  readonly #script: ScriptedToolCall;

  constructor(script: ScriptedToolCall) {
    this.#script = script;
  }

  describe() {
    const invocationMessage = boundedText(this.#script.invocationMessage);
    return { invocationMessage, confirmation: this.#script.confirm ? { title: invocationMessage } : undefined };
  }

  async run(): Promise<Ran> {
    const { success, pastTenseMessage, output } = this.#script;
    return { result: { success, pastTenseMessage, content: [{ type: 'text', text: output }] } };
  }
}

function boundedText(text: string): string {
  return text.length <= CALL_TEXT_MAX_CHARACTERS ? text : `${text.slice(0, CALL_TEXT_MAX_CHARACTERS)}…`;
}
