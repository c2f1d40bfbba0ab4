/** A call as the session's state shows it: the actions that lead it from its start to its end. */
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

/** Of the name of a tool that the host does not define: a model made it up, or a backend has it. */
export const CALL_NAME_MAX_CHARACTERS = 256;

/** The tool of a call, as it was when the call started. */
export interface CalledTool {
  readonly toolCallId: string;
  /** As its owner knows it. */
  readonly name: string;
  readonly displayName: string;
  /** The client whose tool it is. */
  readonly toolClientId?: string;
  /** The MCP server whose tool it is, by its customization. */
  readonly customizationId?: string | undefined;
  /** The extension whose tool it is. */
  readonly owner?: string | undefined;
  /** Tells apart programs that use the name of one owner, one after the other. */
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

  /** Shows a call of this tool; also again, when another client takes it over. */
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

  /** Shows more of the input. Input beyond the limit is not shown: such a call cannot run. */
  delta(more: string): void {
    const content = more.slice(0, INPUT_MAX_CHARACTERS - this.inputText.length);
    if (content === '') return;
    this.inputText += content;
    this.#write({ type: 'chat/toolCallDelta', content });
  }

  /** Shows which gates hold the call up. A call that a person has allowed is not held up: it shows as running. */
  waitingFor(gates: readonly string[]): void {
    if (this.#context.call(this.id)?.status !== 'streaming') return;
    const invocationMessage = `Waiting for ${gates.join(', ')}`;
    this.#write({ type: 'chat/toolCallDelta', content: '', invocationMessage });
  }

  /** The input is complete, and the call runs. */
  running(confirmed: 'not-needed' | 'setting'): void {
    this.#ready({ confirmed });
  }

  /** The input is complete, and a person is asked. */
  asking({ title, editable, options, edits }: ToolConfirmation): void {
    this.#ready({
      confirmationTitle: title,
      ...(editable && { editable }),
      ...(options && { options }),
      ...(edits && { edits: { items: edits } }),
      ...(this.#context.judge && { riskAssessment: ASSESSING }),
    });
  }

  /** Adds an assessment to the question, if it is still open. Everything else of the question stays. */
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

  /** Shows output while the call runs; replaces what was shown before. */
  progress(content: readonly ToolResultContent[]): void {
    this.#write({ type: 'chat/toolCallContentChanged', content: progressContent(content) });
  }

  /** Shows what rules say about input that a person changed: the call runs already, and its record was about the input before. */
  permissionChanged(): void {
    const call = this.#context.call(this.id);
    if (call?.status !== 'running' || !this.permission) return;
    const _meta = { ...call._meta, [PERMISSION_META_KEY]: this.permission };
    this.#write({ type: 'chat/toolCallContentChanged', content: call.content ?? [], _meta });
  }

  /** Waits for a token. A call that waits already, for a token that was refused, says the new reason. */
  authRequired(auth: McpAuthRequirement): void {
    this.authResolved();
    this.#write({ type: 'chat/toolCallAuthRequired', auth });
  }

  authResolved(): void {
    if (this.#context.call(this.id)?.status === 'auth-required') this.#write({ type: 'chat/toolCallAuthResolved' });
  }

  /** Ends a call that has not run, in one tick: the state knows no shorter way to a denial. */
  async deny(reason: string): Promise<Denied> {
    if (!this.settledIn(this.#context.state)) {
      this.#ready({});
      this.#write({ type: 'chat/toolCallConfirmed', approved: false, reason: 'denied', reasonMessage: reason });
    }
    await this.#whenSettled();
    return { kind: 'denied', reason };
  }

  /** Ends a call that has not run, in one tick. A client whose tool it is never sees it run. */
  completeUnrun(result: ToolCallResult): Promise<ToolOutcome> {
    this.#ready(this.#tool.toolClientId === undefined ? { confirmed: 'not-needed' } : {});
    return this.complete(result);
  }

  /** Completes the call, and waits until that is stored, or until a person has seen the result. */
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

  async #shown(result: ToolCallResult, told: ToolCallResult): Promise<ToolCallResult> {
    const { blobs, logger, signal } = this.#context;
    if (!blobs) return told;
    const shown = await shownResult(blobs, result).catch((error) => {
      logger.log('warn', 'a large result could not be stored', { error: String(error) });
      return told;
    });
    signal.throwIfAborted();
    return shown;
  }

  /** The call, in a state in which it is over. */
  settledIn(state: ChatState): ToolCallState | undefined {
    const call = this.#context.call(this.id, state);
    return call?.status === 'completed' || call?.status === 'cancelled' ? call : undefined;
  }

  #whenSettled(): Promise<ToolCallState> {
    return this.#context.waitFor({ toolCallId: this.id }, (state) => this.settledIn(state));
  }

  #ready(more: Partial<ReadyAction>): void {
    const { invocationMessage, inputText: toolInput, permission } = this;
    // The metadata of an action replaces that of the call.
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
