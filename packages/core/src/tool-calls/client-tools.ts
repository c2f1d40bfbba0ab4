/**
 * Calls of active clients' tools. The client runs the call and completes it; the host waits. If the client has left and
 * another one has a tool of that name, the call goes on there as a new call.
 */
import type { ChatState, StateAction, ToolCallResult, ToolCallState, ToolDefinition } from '@atrium/protocol/ahp-1';
import type { ToolConfirmation } from '../contracts/tool.js';
import type { CallContext } from './call-context.js';
import { plain } from './results.js';
import { type CalledTool, newCallId } from './shown-call.js';
import type { Ran, Stages, ToolCall, ToolRunner } from './tool-call.js';

/** Why waiting for a client has ended. */
type Event =
  | { readonly kind: 'settled'; readonly call: ToolCallState }
  /** The client does not know the tool. */
  | { readonly kind: 'turned-down'; readonly why: string | undefined }
  | { readonly kind: 'taken-over'; readonly clientId: string; readonly tool: ToolDefinition };

export function calledClientTool(toolCallId: string, clientId: string, { name, title }: ToolDefinition): CalledTool {
  return { toolCallId, name, displayName: title ?? name, toolClientId: clientId };
}

export class ClientToolRunner implements ToolRunner {
  /** A client starts as soon as it sees the person's approval, so asking the person is part of the run. */
  readonly stages: Stages = {
    input: 'checked',
    permission: 'within-run',
    extensions: 'begin-and-end',
    output: 'cut',
  };
  readonly inputSchema: ToolDefinition['inputSchema'];
  readonly #context: CallContext;
  readonly #tool: ToolDefinition;

  constructor(context: CallContext, tool: ToolDefinition) {
    this.#context = context;
    this.#tool = tool;
    this.inputSchema = tool.inputSchema;
  }

  readonly runs = 'other';

  get isReadOnly(): boolean {
    return this.#tool.annotations?.readOnlyHint === true;
  }

  describe() {
    return { invocationMessage: `Use ${this.#tool.title ?? this.#tool.name}` };
  }

  async run(call: ToolCall): Promise<Ran> {
    for (;;) {
      const over = await this.#offer(call);
      if (over) return { settled: over };
      // Actions about active clients are about no call.
      const topic = { toolCallId: call.id, alsoSession: true };
      const event = await this.#context.waitFor(topic, (state, action) => this.#eventIn(call, state, action));
      if (event.kind === 'settled') return { settled: event.call };
      if (event.kind === 'turned-down') return { result: unknownToClient(call.tool, event.why) };
      await this.#handOver(call, event);
    }
  }

  /** Lets the client see the call run. Returns the call if it is already over. */
  async #offer(call: ToolCall): Promise<ToolCallState | undefined> {
    const { needsPerson } = call;
    if (!needsPerson) await call.announceBegin();
    const over = call.settledIn(this.#context.stored);
    if (over) return over;
    call.ready();
    // Extensions hear of the permission at the same time as the client, so they may be a moment late.
    if (needsPerson)
      this.#running(call.id).then(
        () => call.announceBegin(),
        () => {},
      );
    return undefined;
  }

  /** Resolves when a person has allowed the call. */
  #running(toolCallId: string): Promise<true> {
    return this.#context.waitFor(
      { toolCallId },
      (state) => this.#context.call(toolCallId, state)?.status === 'running' || undefined,
    );
  }

  #eventIn(call: ToolCall, state: ChatState, action: StateAction | undefined): Event | undefined {
    const settled = call.settledIn(state);
    if (settled) return { kind: 'settled', call: settled };
    return turnedDown(call.id, action) ?? this.#takenOver(call.tool);
  }

  #takenOver({ name, toolCallId, toolClientId = '' }: CalledTool): Event | undefined {
    if (this.#context.isConnected(toolClientId)) return undefined;
    const status = this.#context.call(toolCallId)?.status;
    if (status !== 'running' && status !== 'pending-confirmation') return undefined;
    for (const { clientId, tools } of this.#context.activeClients()) {
      const tool = tools.find((offered) => offered.name === name);
      if (tool) return { kind: 'taken-over', clientId, tool };
    }
    return undefined;
  }

  async #handOver(call: ToolCall, { clientId, tool }: Extract<Event, { kind: 'taken-over' }>): Promise<void> {
    const { toolCallId, toolClientId } = call.tool;
    const message = `the client ${toolClientId} left; the call goes on at ${clientId}`;
    const result = { success: false, pastTenseMessage: 'Lost its client', error: { message, code: 'HANDED_OVER' } };
    this.#context.write({ type: 'chat/toolCallComplete', turnId: this.#context.turnId, toolCallId, result });
    // Announce the end first: what the first client has done so far belongs to this call.
    await call.announceEnd();
    call.moveTo(calledClientTool(newCallId(), clientId, tool), questionFor(tool));
  }
}

/** Finds the client's refusal. Only the client that runs a call can deny it while it runs: see `chat-rules.ts`. */
function turnedDown(toolCallId: string, action: StateAction | undefined): Event | undefined {
  if (action?.type !== 'chat/toolCallConfirmed' || action.toolCallId !== toolCallId || action.approved) return;
  return { kind: 'turned-down', why: plain(action.reasonMessage) };
}

/**
 * The question before a call is moved. The first client may have done the work before it left, so a person decides,
 * unless running it twice does no harm.
 */
function questionFor({ name, title, annotations }: ToolDefinition): ToolConfirmation | undefined {
  if (annotations?.readOnlyHint || annotations?.idempotentHint) return undefined;
  return {
    title: `Run "${title ?? name}" again? The client that was running it has left; it may have done it already.`,
    options: [
      { id: 'approve', label: 'Run again', kind: 'approve' },
      { id: 'deny', label: 'Do not run', kind: 'deny' },
    ],
  };
}

function unknownToClient({ name, displayName, toolClientId }: CalledTool, why: string | undefined): ToolCallResult {
  const message = why ?? `the client ${toolClientId} does not know the tool ${name}`;
  return { success: false, pastTenseMessage: `Did not use ${displayName}`, error: { message, code: 'NOT_FOUND' } };
}
