/**
 * The tool calls of one turn. Calls of the host's tools go through the host, which shows, gates and confirms them.
 * Claude runs its own tools, and asks the host before each call.
 */
import path from 'node:path';
import type { AgentRunCall, AgentTurn, BegunCall, Permit, ToolOutcome } from '@atrium/core/contracts/agent.js';
import { ALLOW_IN_SESSION, type ToolConfirmation } from '@atrium/core/contracts/tool.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ToolDefinition } from '@atrium/protocol/ahp-1';
import { tasksIn } from '../shared/plans.js';
import { type ToolTable, toolTable } from '../shared/tool-names.js';
import { mcpResult } from '../shared/tool-results.js';
import { openSubAgentChat, type SubAgentChat, taskIn } from '../shared/workers.js';
import type { HostServer } from './sdk.js';

/** A person may take long to answer; the SDK's own limits for callbacks are far shorter. */
export const ANSWER_MAX_SECONDS = 7 * 24 * 60 * 60;
/** How much of a tool's result people see. The model reads all of it. */
const SHOWN_RESULT_MAX_CHARACTERS = 100_000;
/** Longest subject in a line about a call: a command, a path. */
const SUBJECT_MAX_CHARACTERS = 80;

/** Claude's own tool for asking a person. */
export const ASK_TOOL = 'AskUserQuestion';

/** Claude's own tool for its task list. */
const PLAN_TOOL = 'TodoWrite';

type Entry =
  | { readonly kind: 'host'; readonly call: BegunCall }
  | { readonly kind: 'own'; readonly call: AgentRunCall; readonly tool: string; input: unknown; worker?: SubAgentChat };

/** A call of one of Claude's own tools, as hooks and permission requests name it. */
export interface OwnToolUse {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
}

/** The calls by the id that the model gave them. */
export class TurnCalls {
  readonly turn: AgentTurn;
  readonly #hostTools: HostTools;
  readonly #folder: string;
  /** Unfinished calls. */
  readonly #entries = new Map<string, Entry>();
  /** Calls whose input the model is still writing. */
  readonly #writing = new Set<string>();

  constructor(turn: AgentTurn, hostTools: HostTools, folder: string) {
    this.turn = turn;
    this.#hostTools = hostTools;
    this.#folder = folder;
  }

  /** The model begins to write a call. */
  begin(id: string, tool: string): void {
    this.#entries.set(id, this.#begun(tool));
    this.#writing.add(id);
  }

  delta(id: string, text: string): void {
    if (this.#writing.has(id) && text !== '') this.#entries.get(id)?.call.delta(text);
  }

  /** Runs a tool of the host. */
  async runHostTool({ id, name, input }: HostToolCall): Promise<ToolOutcome> {
    const entry = this.#entries.get(id);
    this.#over(id);
    const call = entry?.kind === 'host' ? entry.call : this.turn.beginCall({ name });
    return call.run(input);
  }

  /** Asks the gates, after the input of an agent-run call is complete. */
  async check(use: OwnToolUse): Promise<Permit> {
    this.#writing.delete(use.id);
    const entry = this.#own(use);
    entry.input = use.input;
    return this.#unlessDenied(use.id, await entry.call.check(use.input, this.#labels(use).now));
  }

  /** Asks a person when Claude wants that. */
  async confirm(use: OwnToolUse): Promise<Permit> {
    const { call } = this.#own(use);
    return this.#unlessDenied(use.id, await call.confirm(confirmationOf(use.tool, this.#labels(use))));
  }

  /** Completes an agent-run call. Returns the notes of gates and hooks that the model reads beside the result. */
  async complete(use: OwnToolUse, text: string, success: boolean): Promise<string | undefined> {
    const { call, worker } = this.#own(use);
    this.#over(use.id);
    if (success && use.tool === PLAN_TOOL) this.#plan(use.input);
    worker?.end(success ? undefined : text);
    const { done } = this.#labels(use);
    const shown = worker ? [worker.shown] : [];
    const content = text === '' ? [] : [{ type: 'text' as const, text }];
    const result = success
      ? { success, pastTenseMessage: done, content: [...shown, ...content] }
      : { success, pastTenseMessage: `${displayName(use.tool)} failed`, error: { message: text }, content: shown };
    const outcome = await call.complete(result);
    if (outcome.kind !== 'completed' || !outcome.text.startsWith(text)) return undefined;
    return outcome.text.slice(text.length).trim() || undefined;
  }

  #plan(input: unknown): void {
    const tasks = isRecord(input) ? tasksIn(input.todos) : undefined;
    if (tasks) this.turn.plan(tasks);
  }

  /** Called when the model has the result of a call. Ends calls that never ran, for example because of bad input. */
  async settle(id: string, text: string, success: boolean): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry?.kind === 'own') await this.complete({ id, tool: entry.tool, input: entry.input }, text, success);
    if (entry?.kind !== 'host') return;
    this.#over(id);
    await entry.call.fail(text);
  }

  /** Opens the chat of the sub-agent that a call started. Returns its turn, or undefined when it can have no chat. */
  openWorker(id: string): Promise<AgentTurn> | undefined {
    const entry = this.#entries.get(id);
    if (entry?.kind !== 'own' || entry.worker) return undefined;
    const worker = openSubAgentChat(this.turn, entry.call.id, taskIn(entry.input, displayName(entry.tool)));
    if (!worker) return undefined;
    entry.worker = worker;
    entry.call.progress([worker.shown]);
    return worker.turn;
  }

  #begun(tool: string): Entry {
    const name = this.#hostTools.nameOf(tool);
    // Models repeat ids, so the host makes its own.
    if (name !== undefined) return { kind: 'host', call: this.turn.beginCall({ name }) };
    const call = this.turn.agentRunCall({ name: tool, displayName: displayName(tool) });
    return { kind: 'own', call, tool, input: undefined };
  }

  /** Begins the call if it is new: calls of sub-agents come without the events that begin a call. */
  #own({ id, tool }: OwnToolUse): Extract<Entry, { kind: 'own' }> {
    const entry = this.#entries.get(id) ?? this.#begun(tool);
    if (entry.kind !== 'own') throw new Error(`the call ${id} is not one of Claude's own tools`);
    this.#entries.set(id, entry);
    return entry;
  }

  #unlessDenied(id: string, permit: Permit): Permit {
    if (permit.kind === 'denied') this.#over(id);
    return permit;
  }

  #over(id: string): void {
    this.#entries.delete(id);
    this.#writing.delete(id);
  }

  #labels({ tool, input }: OwnToolUse) {
    return callLabels(tool, input, this.#folder);
  }
}

const SERVER = 'host';
/** Claude's prefix for the names of the host's tools. */
export const HOST_TOOL_PREFIX = `mcp__${SERVER}__`;

/** The key with which a request names the model's call. */
const CALL_ID = 'claudecode/toolUseId';
/** Without it, the model would have to search for the tools before it could use them. */
const ALWAYS_LOAD = { 'anthropic/alwaysLoad': true };

interface HostToolCall {
  /** The model's id of the call. */
  readonly id: string;
  /** The host's name of the tool. */
  readonly name: string;
  readonly input: unknown;
}

/** The tools of the turn, offered to Claude by an MCP server in this process. */
export class HostTools {
  readonly #tools: ToolTable;

  constructor(definitions: readonly ToolDefinition[]) {
    this.#tools = toolTable(definitions);
  }

  /** The host's name of a tool that Claude calls; undefined for Claude's own tools. */
  nameOf(tool: string): string | undefined {
    if (!tool.startsWith(HOST_TOOL_PREFIX)) return undefined;
    const name = tool.slice(HOST_TOOL_PREFIX.length);
    return this.#tools.get(name)?.name ?? name;
  }

  /** Serves the tools. The MCP library is loaded only here, because it is large. */
  async serve(call: (call: HostToolCall) => Promise<ToolOutcome>): Promise<Readonly<Record<string, HostServer>>> {
    if (this.#tools.size === 0) return {};
    const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
    const { CallToolRequestSchema, ListToolsRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const instance = new Server({ name: SERVER, version: '1' }, { capabilities: { tools: {} } });
    instance.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...this.#tools].map(listed) }));
    instance.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const id = params._meta?.[CALL_ID];
      const name = this.#tools.get(params.name)?.name ?? params.name;
      return mcpResult(await call({ id: typeof id === 'string' ? id : '', name, input: params.arguments ?? {} }));
    });
    return { [SERVER]: { type: 'sdk', name: SERVER, instance, timeout: ANSWER_MAX_SECONDS * 1_000 } };
  }
}

function listed([name, { title, description, inputSchema, annotations }]: [string, ToolDefinition]) {
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: { ...inputSchema, type: 'object' as const },
    ...(annotations && { annotations }),
    _meta: ALWAYS_LOAD,
  };
}

/** How people read about calls of one of Claude's tools. */
interface ToolLabels {
  readonly now: string;
  readonly done: string;
  /** The member of the input that says what the call is about. */
  readonly subject: string;
  readonly isPath?: boolean;
}

const TOOL_LABELS: Readonly<Record<string, ToolLabels>> = {
  Agent: { now: 'Start a sub-agent for', done: 'Started a sub-agent for', subject: 'description' },
  Bash: { now: 'Run', done: 'Ran', subject: 'command' },
  Edit: { now: 'Edit', done: 'Edited', subject: 'file_path', isPath: true },
  Glob: { now: 'Find files like', done: 'Looked for files like', subject: 'pattern' },
  Grep: { now: 'Search for', done: 'Searched for', subject: 'pattern' },
  NotebookEdit: { now: 'Edit', done: 'Edited', subject: 'notebook_path', isPath: true },
  Read: { now: 'Read', done: 'Read', subject: 'file_path', isPath: true },
  WebFetch: { now: 'Fetch', done: 'Fetched', subject: 'url' },
  WebSearch: { now: 'Search the web for', done: 'Searched the web for', subject: 'query' },
  Write: { now: 'Write', done: 'Wrote', subject: 'file_path', isPath: true },
};

/** `WebFetch` → `Web Fetch` */
export function displayName(tool: string): string {
  if (tool === ASK_TOOL) return 'Ask';
  return tool.replaceAll(/([a-z])([A-Z])/g, '$1 $2');
}

interface CallLabels {
  /** "Run "ls"". */
  readonly now: string;
  /** "Ran "ls"". */
  readonly done: string;
}

export function callLabels(tool: string, input: unknown, folder: string): CallLabels {
  const words = TOOL_LABELS[tool];
  const value = words && isRecord(input) ? input[words.subject] : undefined;
  if (!words || typeof value !== 'string')
    return { now: `Use ${displayName(tool)}`, done: `Used ${displayName(tool)}` };
  const subject = words.isPath ? withinFolder(value, folder) : `"${shorten(value, SUBJECT_MAX_CHARACTERS)}"`;
  return { now: `${words.now} ${subject}`, done: `${words.done} ${subject}` };
}

function withinFolder(file: string, folder: string): string {
  const relative = path.relative(folder, file);
  return relative === '' || relative.startsWith('..') ? file : relative;
}

export function confirmationOf(tool: string, { now }: CallLabels): ToolConfirmation {
  const all = tool === 'Bash' ? 'all commands' : `${displayName(tool)} at all times`;
  return {
    title: `${now}?`,
    editable: true,
    options: [
      { id: 'approve', label: 'Allow', kind: 'approve' },
      { id: ALLOW_IN_SESSION, label: `Allow ${all} in this session`, kind: 'approve' },
      { id: 'deny', label: 'Do not allow', kind: 'deny' },
    ],
  };
}

/** The readable text of a response. Every tool answers in its own form; the text is in one of a few places. */
export function resultText(response: unknown): string {
  return readable(response).slice(0, SHOWN_RESULT_MAX_CHARACTERS);
}

function readable(response: unknown): string {
  if (typeof response === 'string') return response;
  if (Array.isArray(response)) return response.flatMap(blockText).join('\n');
  if (!isRecord(response)) return JSON.stringify(response ?? '');
  const { stdout, stderr, file, content, answers } = response;
  if (typeof stdout === 'string') return [stdout, stderr].filter((text) => typeof text === 'string' && text).join('\n');
  if (isRecord(file) && typeof file.content === 'string') return file.content;
  if (Array.isArray(content)) return content.flatMap(blockText).join('\n');
  if (isRecord(answers)) return Object.values(answers).join('\n');
  return typeof content === 'string' ? content : JSON.stringify(response);
}

function blockText(block: unknown): string[] {
  if (typeof block === 'string') return [block];
  return isRecord(block) && typeof block.text === 'string' ? [block.text] : [];
}
