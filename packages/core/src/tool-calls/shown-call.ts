/** A call as the session's state shows it: writes the actions from its start to its end. */
import {
  type CallPermission,
  type ChatAction,
  type ChatState,
  type McpAuthRequirement,
  PERMISSION_META_KEY,
  type ToolCallContributor,
  type ToolCallResult,
  type ToolCallRiskAssessment,
  type ToolCallState,
  type ToolResultContent,
} from '@atrium/protocol/ahp-1';
import type { ToolOutcome } from '../contracts/agent.js';
import type { ToolConfirmation } from '../contracts/tool.js';
import { INPUT_MAX_CHARACTERS } from './arguments.js';
import type { CallContext } from './call-context.js';
import { isLarge, shownResult } from './large-results.js';
import { bounded, outcomeOf, progressContent } from './results.js';
import { ASSESSING } from './risk.js';

/** Longest name of a tool that the host does not define: a backend has it, or a model made it up. */
export const CALL_NAME_MAX_CHARACTERS = 256;

/** The tool of a call, as it was when the call started. */
export interface CalledTool {
  readonly toolCallId: string;
  /** The owner's name for the tool. */
  readonly name: string;
  readonly displayName: string;
  /** The client that offers the tool. */
  readonly toolClientId?: string;
  /** The customization of the MCP server that offers the tool. */
  readonly customizationId?: string | undefined;
  /** The extension that offers the tool. */
  readonly owner?: string | undefined;
  /** Tells apart programs that use the same owner's name one after another. */
  readonly identity?: string | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** What people read until the input is known. */
  readonly invocationMessage?: string;
}

function contributorOf({ toolClientId, customizationId }: CalledTool): ToolCallContributor | undefined {
  if (toolClientId !== undefined) return { kind: 'client', clientId: toolClientId };
  return customizationId === undefined ? undefined : { kind: 'mcp', customizationId };
}

export type Denied = Extract<ToolOutcome, { kind: 'denied' }>;

export function newCallId(): string {
  return `call-${crypto.randomUUID()}`;
}

export class ShownCall {
  readonly #context: CallContext;
  #tool: CalledTool;
  inputText = '';
  invocationMessage = '';
  /** What rules said about the call. */
  permission: CallPermission | undefined;

  constructor(context: CallContext, tool: CalledTool) {
    this.#context = context;
    this.#tool = tool;
    this.start(tool);
  }

  get id(): string {
    return this.#tool.toolCallId;
  }

  get tool(): CalledTool {
    return this.#tool;
  }

  /** Shows a call of this tool. Called again when another client takes the call over. */
  start(tool: CalledTool): void {
    const { name, displayName, meta } = tool;
    const contributor = contributorOf(tool);
    this.#tool = tool;
    this.invocationMessage = tool.invocationMessage ?? `Use ${displayName}`;
    this.#context.interruptText();
    this.#write({
      type: 'chat/toolCallStart',
      toolName: name,
      displayName,
      ...(contributor && { contributor }),
      ...(meta && { _meta: { ...meta } }),
    });
  }

  /** Shows more of the input, up to the limit: a call with longer input cannot run. */
  delta(more: string): void {
    const content = more.slice(0, INPUT_MAX_CHARACTERS - this.inputText.length);
    if (content === '') return;
    this.inputText += content;
    this.#write({ type: 'chat/toolCallDelta', content });
  }

  /** Shows which gates hold the call up. A call that a person has allowed shows as running instead. */
  waitingFor(gates: readonly string[]): void {
    if (this.#context.call(this.id)?.status !== 'streaming') return;
    const invocationMessage = `Waiting for ${gates.join(', ')}`;
    this.#write({ type: 'chat/toolCallDelta', content: '', invocationMessage });
  }

  /** Shows the complete input, and the call as running. */
  running(confirmed: 'not-needed' | 'setting'): void {
    this.#ready({ confirmed });
  }

  /** Shows the complete input, and asks a person. */
  asking({ title, editable, options, edits }: ToolConfirmation): void {
    this.#ready({
      confirmationTitle: title,
      ...(editable && { editable }),
      ...(options && { options }),
      ...(edits && { edits: { items: edits } }),
      ...(this.#context.judge && { riskAssessment: ASSESSING }),
    });
  }

  /** Adds an assessment to the question, if it is still open; the rest of the question stays. */
  assessed(riskAssessment: ToolCallRiskAssessment): void {
    if (this.#context.call(this.id)?.status !== 'pending-confirmation') return;
    this.#write({ type: 'chat/toolCallReady', invocationMessage: this.invocationMessage, riskAssessment });
  }

  /** Resolves with the call when it no longer waits for a person. */
  answered(): Promise<ToolCallState> {
    return this.#context.waitFor({ toolCallId: this.id }, (state) => {
      const call = this.#context.call(this.id, state);
      return call && call.status !== 'streaming' && call.status !== 'pending-confirmation' ? call : undefined;
    });
  }

  /** Shows output while the call runs. It replaces earlier output. */
  progress(content: readonly ToolResultContent[]): void {
    this.#write({ type: 'chat/toolCallContentChanged', content: progressContent(content) });
  }

  /**
   * Updates the permission record after a person changed the input: the call already runs, and its record was about the
   * old input.
   */
  permissionChanged(): void {
    const call = this.#context.call(this.id);
    if (call?.status !== 'running' || !this.permission) return;
    const _meta = { ...call._meta, [PERMISSION_META_KEY]: this.permission };
    this.#write({ type: 'chat/toolCallContentChanged', content: call.content ?? [], _meta });
  }

  /** Shows that the call waits for a token. If a token was refused, the call shows the new reason. */
  authRequired(auth: McpAuthRequirement): void {
    this.authResolved();
    this.#write({ type: 'chat/toolCallAuthRequired', auth });
  }

  authResolved(): void {
    if (this.#context.call(this.id)?.status === 'auth-required') this.#write({ type: 'chat/toolCallAuthResolved' });
  }

  /** Denies a call that has not run, in one tick: the state has no shorter way. */
  async deny(reason: string): Promise<Denied> {
    if (!this.settledIn(this.#context.state)) {
      this.#ready({});
      this.#write({ type: 'chat/toolCallConfirmed', approved: false, reason: 'denied', reasonMessage: reason });
    }
    await this.#whenSettled();
    return { kind: 'denied', reason };
  }

  /** Completes a call that has not run, in one tick. The client that offers its tool never sees it run. */
  completeUnrun(result: ToolCallResult): Promise<ToolOutcome> {
    this.#ready(this.#tool.toolClientId === undefined ? { confirmed: 'not-needed' } : {});
    return this.complete(result);
  }

  /** Completes the call, and waits until that is stored, or until a person has released the result. */
  async complete(result: ToolCallResult): Promise<ToolOutcome> {
    const told = bounded(result);
    const shown = isLarge(result) ? await this.#shown(result, told) : told;
    // A client may have ended its call a moment before.
    if (!this.settledIn(this.#context.state)) this.#write({ type: 'chat/toolCallComplete', result: shown });
    const settled = await this.#whenSettled();
    if (shown === told || settled.status !== 'completed') return outcomeOf(settled);
    // The agent gets the content that the session only names.
    const { structuredContent: _, ...rest } = settled;
    return outcomeOf({ ...rest, ...told });
  }

  async #shown(result: ToolCallResult, bounded: ToolCallResult): Promise<ToolCallResult> {
    const { blobs, logger, signal } = this.#context;
    if (!blobs) return bounded;
    const shown = await shownResult(blobs, result).catch((error) => {
      logger.log('warn', 'a large result could not be stored', { error: String(error) });
      return bounded;
    });
    signal.throwIfAborted();
    return shown;
  }

  /** The call, if it is over in this state. */
  settledIn(state: ChatState): ToolCallState | undefined {
    const call = this.#context.call(this.id, state);
    return call?.status === 'completed' || call?.status === 'cancelled' ? call : undefined;
  }

  #whenSettled(): Promise<ToolCallState> {
    return this.#context.waitFor({ toolCallId: this.id }, (state) => this.settledIn(state));
  }

  #ready(more: Partial<ReadyAction>): void {
    const { invocationMessage, inputText: toolInput, permission } = this;
    // The metadata of an action replaces that of the call, so repeat it.
    const decided = permission && { _meta: { ...this.#tool.meta, [PERMISSION_META_KEY]: permission } };
    this.#write({ type: 'chat/toolCallReady', invocationMessage, toolInput, ...decided, ...more });
  }

  #write(action: CallAction): void {
    const { turnId } = this.#context;
    this.#context.write({ ...action, turnId, toolCallId: this.id } as ChatAction);
  }
}

type WithoutCall<A> = A extends unknown ? Omit<A, 'turnId' | 'toolCallId'> : never;
type CallAction = WithoutCall<Extract<ChatAction, { toolCallId: string }>>;
type ReadyAction = Extract<CallAction, { type: 'chat/toolCallReady' }>;
