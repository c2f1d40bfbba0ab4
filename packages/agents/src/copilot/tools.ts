/**
 * The tool calls of one turn. Copilot runs its own tools, and asks before most calls. The host's tools run through the
 * host, which itself asks gates and people, so Copilot does not.
 */

import type { AgentTurn, BegunCall, ToolOutcome } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { errorText } from '@atrium/core/util/text.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import type { ToolDefinition, ToolResultContent } from '@atrium/protocol/ahp-1';
import { tasksIn, tasksInMarkdown } from '../shared/plans.js';
import { toolTable, wireName } from '../shared/tool-names.js';
import { dataIn, textWith } from '../shared/tool-results.js';
import { openSubAgentChat, type SubAgentChat, taskIn } from '../shared/workers.js';
import { type AskingCall, decide, labelsFor, rejected } from './permission.js';
import type {
  HookContext,
  PermissionDecision,
  PermissionRequest,
  PreToolUseAnswer,
  SdkEvent,
  SdkToolResult,
  ToolDelta,
  ToolEnd,
  ToolHookInput,
  ToolStart,
} from './sdk.js';

/** How much of a tool's output people see; the model reads Copilot's own copy of it. */
const OUTPUT_MAX_CHARACTERS = 256 * 1024;

/** Copilot's own tool for its task list, which is Markdown. */
const PLAN_TOOL = 'update_todo';

export class TurnCalls {
  readonly #turn: AgentTurn;
  readonly #own: OwnCalls;
  readonly #host: HostCalls;

  constructor(turn: AgentTurn, tools: HostTools) {
    this.#turn = turn;
    this.#own = new OwnCalls(turn);
    this.#host = new HostCalls(turn, tools);
  }

  take(event: SdkEvent): void {
    if (event.type === 'assistant.tool_call_delta') this.#delta(event.data);
    else if (event.type === 'tool.execution_start') {
      if (event.data.toolName === PLAN_TOOL) this.#plan(event.data.arguments);
      if (this.#host.has(event.data.toolName)) this.#host.started(event.data);
      else this.#own.started(event.data);
    } else if (event.type === 'tool.execution_partial_result') {
      this.#own.progress(event.data.toolCallId, event.data.partialOutput);
    } else if (event.type === 'tool.execution_complete') {
      // Ignore failures: the turn may be over by then, and the call with it.
      this.#ended(event.data).catch(() => {});
    }
  }

  #plan(input: unknown): void {
    const tasks = isRecord(input) ? (tasksInMarkdown(input.todos) ?? tasksIn(input.todos)) : undefined;
    if (tasks) this.#turn.plan(tasks);
  }

  /** Asks the gates. Never throws, because to Copilot a failing hook means "no opinion". */
  async check(input: ToolHookInput): Promise<PreToolUseAnswer | undefined> {
    if (this.#host.has(input.toolName)) return undefined;
    try {
      this.#turn.signal.throwIfAborted();
      return await untilAborted(this.#turn.signal, this.#own.check(input));
    } catch (error) {
      return denied(errorText(error));
    }
  }

  /** True when a call with this id may ask for permission. */
  asks({ toolCallId }: PermissionRequest): boolean {
    return this.#own.asking(toolCallId) !== undefined;
  }

  /** True when the input of that call contains what permission is asked for. */
  asksAbout(request: PermissionRequest): boolean {
    return namesSubject(this.#own.asking(request.toolCallId)?.input, request);
  }

  async permit(request: PermissionRequest): Promise<PermissionDecision> {
    if (request.kind === 'custom-tool' && this.#host.has(request.toolName)) return { kind: 'approve-once' };
    return this.#own.permit(request).catch((error) => rejected(errorText(error)));
  }

  async done(input: ToolHookInput, success: boolean, output: string): Promise<HookContext | undefined> {
    return this.#host.has(input.toolName) ? undefined : this.#own.done(input, success, output);
  }

  /** Whether a call of a host's tool was announced, and whether it still has to run. */
  announced(call: ToolStart): 'new' | 'run' | undefined {
    return this.#host.announced(call);
  }

  runHostTool(toolCallId: string, name: string, input: unknown): Promise<SdkToolResult> {
    return this.#host.run(toolCallId, name, input);
  }

  /** The host's id of a call of one of Copilot's own tools. */
  idOf(toolCallId: string): string | undefined {
    return this.#own.asking(toolCallId)?.call.id;
  }

  /** Opens the chat of the sub-agent that a call started; undefined when it can have none. */
  openChat(toolCallId: string, title: string): SubAgentChat | undefined {
    return this.#own.openChat(toolCallId, title);
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

/** The host's tools by the name that the model knows. */
export type HostTools = ReadonlyMap<string, ToolDefinition>;

const PREFIX = 'host_';

/** Names the host's tools. Copilot's own tools keep their names; a host's tool with such a name gets another. */
export function hostTools(definitions: readonly ToolDefinition[], builtins: ReadonlySet<string>): HostTools {
  const originals = new Map<ToolDefinition, ToolDefinition>();
  for (const tool of definitions) {
    const isTaken = builtins.has(wireName(tool.name));
    originals.set(isTaken ? { ...tool, name: `${PREFIX}${tool.name}` } : tool, tool);
  }
  const table = toolTable([...originals.keys()]);
  return new Map([...table].map(([name, tool]) => [name, originals.get(tool) ?? tool]));
}

interface HostCall {
  readonly call: BegunCall;
  readonly tool: string;
  /** The arguments as JSON, once they are known. */
  input?: string;
  result?: Promise<SdkToolResult>;
}

const ANSWERED: SdkToolResult = { textResultForLlm: 'This call has its answer.', resultType: 'failure' };

/** The calls of the host's tools. Each runs once, even if the runtime passes it in again. */
class HostCalls {
  readonly #turn: AgentTurn;
  readonly #tools: HostTools;
  /** Calls by id, which repeats from step to step. */
  readonly #calls = new Map<string, HostCall>();

  constructor(turn: AgentTurn, tools: HostTools) {
    this.#turn = turn;
    this.#tools = tools;
  }

  has(name: string | undefined): boolean {
    return name !== undefined && this.#tools.has(name);
  }

  delta(toolCallId: string, name: string, text: string): void {
    this.#call(toolCallId, name).call.delta(text);
  }

  started({ toolCallId, toolName, arguments: input }: ToolStart): void {
    this.#call(toolCallId, toolName).input = JSON.stringify(input ?? {});
  }

  announced({ toolCallId, toolName, arguments: input }: ToolStart): 'new' | 'run' | undefined {
    const call = this.#calls.get(toolCallId);
    if (call?.tool !== toolName || call.input !== JSON.stringify(input ?? {})) return undefined;
    return call.result ? 'run' : 'new';
  }

  run(toolCallId: string, name: string, input: unknown): Promise<SdkToolResult> {
    const known = this.#calls.get(toolCallId);
    if (known?.result && known.tool === name) return known.result;
    const { signal } = this.#turn;
    if (signal.aborted) return Promise.reject(signal.reason);
    const begun = this.#call(toolCallId, name);
    begun.result = untilAborted(signal, begun.call.run(input)).then(resultOf);
    return begun.result;
  }

  /**
   * Called when the model has its answer. Ends a call that Copilot could not make, for example because its input was
   * not JSON.
   */
  async ended(toolCallId: string, message: string): Promise<void> {
    const call = this.#calls.get(toolCallId);
    if (call?.result) call.result = Promise.resolve(ANSWERED);
    else if (call) {
      this.#calls.delete(toolCallId);
      await call.call.fail(message);
    }
  }

  /** Begins a call, unless one with this id has begun and not run yet. */
  #call(toolCallId: string, name: string): HostCall {
    const known = this.#calls.get(toolCallId);
    if (known && !known.result) return known;
    const begun = { call: this.#turn.beginCall({ name: this.#tools.get(name)?.name ?? name }), tool: name };
    this.#calls.set(toolCallId, begun);
    return begun;
  }
}

function resultOf(outcome: ToolOutcome): SdkToolResult {
  if (outcome.kind === 'denied') {
    return { textResultForLlm: `The call was denied: ${outcome.reason}`, resultType: 'failure' };
  }
  const { text, content, success } = outcome;
  const found = dataIn(content);
  const images = found.images.map(({ data, mediaType }) => ({ type: 'image' as const, data, mimeType: mediaType }));
  // Name the images in the text: the runtime silently drops those that its model cannot see.
  const named = images.map(({ mimeType }) => `[${mimeType}, shown to you if you can see]`);
  return {
    textResultForLlm: [textWith(text, found), ...named].filter((line) => line !== '').join('\n'),
    resultType: success ? 'success' : 'failure',
    ...(images.length > 0 && { binaryResultsForLlm: images }),
  };
}

interface Entry extends AskingCall {
  readonly tool: string;
  /** The arguments as JSON, once they are known. */
  input?: string;
  past: string;
  /** `checked` after the gates, `over` once people see its result. */
  stage: 'begun' | 'checked' | 'over';
  /** The chat of the sub-agent that the call started. */
  chat?: SubAgentChat;
}

/**
 * The calls of Copilot's own tools. Events name a call by its id, hooks only by tool and arguments, and hooks of
 * sub-agents arrive before their events. Ids repeat from step to step, so a call is forgotten once it is over.
 */
class OwnCalls {
  readonly #turn: AgentTurn;
  readonly #entries = new Map<string, Entry>();
  /** Calls that hooks asked about before an event named them. */
  readonly #nameless = new Set<Entry>();

  constructor(turn: AgentTurn) {
    this.#turn = turn;
  }

  delta(toolCallId: string, tool: string, text: string): void {
    this.#entry(toolCallId, tool).call.delta(text);
  }

  started({ toolCallId, toolName, arguments: toolArgs }: ToolStart): void {
    const early = this.#entries.has(toolCallId) ? undefined : like(this.#nameless, { toolName, toolArgs });
    if (early) {
      this.#nameless.delete(early);
      this.#entries.set(toolCallId, early);
    } else {
      this.#entry(toolCallId, toolName).input = JSON.stringify(toolArgs ?? {});
    }
  }

  /** Asks the gates. If they do not object, Copilot still asks for permission as usual. */
  async check(hook: ToolHookInput): Promise<PreToolUseAnswer | undefined> {
    const { toolName, toolArgs } = hook;
    const entry = like(this.#entries.values(), hook, 'begun') ?? this.#early(hook);
    const { invocation, past } = labelsFor(toolName, toolArgs);
    entry.stage = 'checked';
    entry.past = past;
    const permit = await entry.call.check(toolArgs, invocation);
    if (permit.kind === 'granted') return permit.input === undefined ? undefined : this.#changed(entry, permit.input);
    entry.stage = 'over';
    return denied(permit.reason);
  }

  async permit(request: PermissionRequest): Promise<PermissionDecision> {
    const entry = this.#entries.get(request.toolCallId ?? '');
    if (!entry) return rejected('This request belongs to no known call.');
    const decision = await decide(request, entry, this.#turn.workingDirectories);
    if (decision.kind === 'reject') entry.stage = 'over';
    return decision;
  }

  /** The unfinished call with this id; undefined when there is none, or no event has named it yet. */
  asking(toolCallId = ''): Entry | undefined {
    const entry = this.#entries.get(toolCallId);
    return entry?.stage === 'over' ? undefined : entry;
  }

  openChat(toolCallId: string, title: string): SubAgentChat | undefined {
    const entry = this.#entries.get(toolCallId);
    if (!entry || entry.chat) return undefined;
    const chat = openSubAgentChat(this.#turn, entry.call.id, taskIn(JSON.parse(entry.input ?? '{}'), title));
    if (!chat) return undefined;
    entry.chat = chat;
    if (entry.stage !== 'over') entry.call.progress([chat.shown]);
    return chat;
  }

  progress(toolCallId: string, output: string): void {
    const entry = this.asking(toolCallId);
    entry?.call.progress([...shownIn(entry), ...textContent(output)]);
  }

  /** Called before Copilot reads the result. Returns the notes of gates and hooks for the model. */
  async done(hook: ToolHookInput, success: boolean, output: string): Promise<HookContext | undefined> {
    const entry = like(this.#entries.values(), hook, 'checked');
    if (!entry) return undefined;
    const notes = await this.#complete(entry, success, output);
    return notes === '' ? undefined : { additionalContext: notes };
  }

  /** Called last; the only place for results that no hook gets. */
  async ended({ toolCallId, success, result, error }: ToolEnd): Promise<void> {
    const entry = this.#entries.get(toolCallId);
    this.#entries.delete(toolCallId);
    if (entry) await this.#complete(entry, success, result?.content ?? error?.message ?? '');
  }

  async #complete(entry: Entry, success: boolean, output: string): Promise<string> {
    if (entry.stage === 'over') return '';
    entry.stage = 'over';
    const content = textContent(output);
    const shown = content.map(({ text }) => text).join('');
    const outcome = await entry.call.complete({
      success,
      pastTenseMessage: success ? entry.past : `Could not use ${entry.tool}`,
      content: [...shownIn(entry), ...content],
      ...(!success && { error: { message: shown || 'It failed.' } }),
    });
    if (outcome.kind === 'denied' || !outcome.text.startsWith(shown)) return '';
    return outcome.text.slice(shown.length).trim();
  }

  #entry(toolCallId: string, tool: string): Entry {
    const entry = this.#entries.get(toolCallId) ?? this.#begin(tool);
    this.#entries.set(toolCallId, entry);
    return entry;
  }

  #early({ toolName, toolArgs }: ToolHookInput): Entry {
    const entry = this.#begin(toolName);
    entry.input = JSON.stringify(toolArgs ?? {});
    this.#nameless.add(entry);
    return entry;
  }

  #begin(tool: string): Entry {
    const { displayName, past } = labelsFor(tool, undefined);
    return { call: this.#turn.agentRunCall({ name: tool, displayName }), displayName, tool, past, stage: 'begun' };
  }

  /** Passes on input that a person changed; later events name the call by it. */
  #changed(entry: Entry, input: unknown): PreToolUseAnswer | undefined {
    const text = JSON.stringify(input ?? {});
    if (text === entry.input) return undefined;
    entry.input = text;
    return { modifiedArgs: input };
  }
}

export function denied(permissionDecisionReason: string): PreToolUseAnswer {
  return { permissionDecision: 'deny', permissionDecisionReason };
}

/** Finds a call by tool and arguments. Of two equal calls, either will do. */
function like(
  entries: Iterable<Entry>,
  { toolName, toolArgs }: ToolHookInput,
  stage?: Entry['stage'],
): Entry | undefined {
  const input = JSON.stringify(toolArgs ?? {});
  const isLike = (entry: Entry) => entry.tool === toolName && entry.input === input;
  return [...entries].find((entry) => isLike(entry) && (stage === undefined || entry.stage === stage));
}

function shownIn({ chat }: Entry): ToolResultContent[] {
  return chat ? [chat.shown] : [];
}

/** True when an input contains the command, the path or the address that permission is asked for. */
function namesSubject(input: string | undefined, request: PermissionRequest): boolean {
  const { fullCommandText, path, fileName, url } = request;
  const texts = Object.values(JSON.parse(input ?? '{}')).filter((text) => typeof text === 'string' && text !== '');
  const isNamed = (text: string) => texts.includes(text);
  // Arguments may name a file relative to the folder; requests name its whole path.
  const isFile = (file: string) => texts.some((text) => file === text || file.endsWith(`/${text}`));
  return (
    [fullCommandText, url].some((text) => text !== undefined && isNamed(text)) ||
    [path, fileName].some((file) => file !== undefined && isFile(file))
  );
}

function textContent(text: string): { type: 'text'; text: string }[] {
  return text === '' ? [] : [{ type: 'text', text: text.slice(0, OUTPUT_MAX_CHARACTERS) }];
}
