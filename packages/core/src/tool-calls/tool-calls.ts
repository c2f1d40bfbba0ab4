/** The tool calls of one turn: finds the tool that the model names, and starts its call. */
import type { SessionActiveClient, ToolDefinition } from '@atrium/protocol/ahp-1';
import type {
  AgentRunCall,
  AgentRunCallStart,
  BegunCall,
  CallStart,
  ScriptedToolCall,
  ToolOutcome,
  ToolRequest,
} from '../contracts/agent.js';
import type { HostTool } from '../contracts/tool.js';
import { shorten } from '../util/text.js';
import { AgentRunToolCall, ScriptedToolRunner } from './agent-run-calls.js';
import { readArguments } from './arguments.js';
import type { CallContext } from './call-context.js';
import { ClientToolRunner, calledClientTool } from './client-tools.js';
import { HostToolRunner } from './host-tools.js';
import { CALL_NAME_MAX_CHARACTERS, type CalledTool, newCallId } from './shown-call.js';
import { type Stages, ToolCall, type ToolRunner } from './tool-call.js';

/** Prefix for a client's tool whose name is taken. */
const CLIENT_PREFIX = 'client_';

/** The stages of a call whose tool does not exist: it starts, and fails. */
const UNKNOWN: Stages = { input: 'checked', permission: 'before-run', extensions: 'around', output: 'whole' };

export class ToolCalls {
  readonly #context: CallContext;
  #last: Offer | undefined;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** The tools that the model may see now, each under the name to call it by. */
  offered(): ToolDefinition[] {
    const { extensions, chat } = this.#context;
    return shownTools(this.#offer().named, extensions.hidden(chat));
  }

  /**
   * The present tools by name. Kept from the last step, because they rarely change, and the model asks at every step.
   */
  #offer(): Offer {
    const tools = this.#context.extensions.tools();
    const clients = this.#context.activeClients();
    const last = this.#last;
    if (last && isSameList(last.tools, tools) && isSameList(last.clients, clients, isSameClient)) return last;
    const definitions = tools.map(({ definition }) => definition);
    const hostTools = new Map(tools.map((tool) => [tool.definition, tool]));
    this.#last = { tools, clients, hostTools, named: toolNames(definitions, clients) };
    return this.#last;
  }

  call({ input, ...start }: ToolRequest): Promise<ToolOutcome> {
    return this.begin(start).run(input);
  }

  /** Starts a call. It keeps the tool that has the name now, even if that changes. */
  begin({ id, name }: CallStart): BegunCall {
    const { tool, runner } = this.#find(this.#callId(id), name);
    const call = new ToolCall(this.#context, tool, runner?.stages ?? UNKNOWN);
    return {
      id: call.id,
      delta: (content) => call.delta(content),
      run: async (input) => {
        if (runner) return call.run(input, runner);
        call.showInput(readArguments(input).text, `Use ${tool.displayName}`);
        return call.fail(`there is no tool ${tool.name}`, 'NOT_FOUND');
      },
      fail: (message) => call.fail(message),
    };
  }

  /** Shows a call of a tool that the agent runs itself. */
  beginAgentRun(start: AgentRunCallStart): AgentRunCall {
    return new AgentRunToolCall(this.#context, this.#calledAgentTool(start));
  }

  runScripted(script: ScriptedToolCall): Promise<ToolOutcome> {
    const runner = new ScriptedToolRunner(script);
    const call = new ToolCall(this.#context, this.#calledAgentTool(script), runner.stages);
    return call.run(script.input ?? '', runner);
  }

  #calledAgentTool({ id, name, displayName }: AgentRunCallStart): CalledTool {
    const short = (text: string) => shorten(text, CALL_NAME_MAX_CHARACTERS);
    const names = { name: short(name), displayName: short(displayName) };
    return { toolCallId: this.#callId(id), ...names, invocationMessage: displayName };
  }

  /** The wanted id, unless another call of the turn has it. */
  #callId(wanted: string | undefined): string {
    return wanted === undefined || this.#context.call(wanted) ? newCallId() : wanted;
  }

  #find(toolCallId: string, name: string): { readonly tool: CalledTool; readonly runner?: ToolRunner } {
    const offer = this.#offer();
    const named = offer.named.get(name);
    if (named?.clientId !== undefined) {
      const tool = calledClientTool(toolCallId, named.clientId, named.tool);
      return { tool, runner: new ClientToolRunner(this.#context, named.tool) };
    }
    const hostTool = named && offer.hostTools.get(named.tool);
    const shown = shorten(name, CALL_NAME_MAX_CHARACTERS);
    if (!hostTool) return { tool: { toolCallId, name: shown, displayName: shown } };
    const { definition, displayName, owner, identity, customizationId, callMeta: meta } = hostTool;
    const tool = { toolCallId, name: definition.name, displayName, owner, identity, customizationId, meta };
    return { tool, runner: new HostToolRunner(this.#context, hostTool) };
  }
}

/** The tools by name, and what they were made from. */
interface Offer {
  readonly tools: readonly HostTool[];
  readonly clients: readonly ClientTools[];
  readonly hostTools: ReadonlyMap<ToolDefinition, HostTool>;
  readonly named: ReadonlyMap<string, NamedTool>;
}

function isSameList<T>(
  a: readonly T[],
  b: readonly T[],
  isSame: (one: T, other: T) => boolean = (one, other) => one === other,
): boolean {
  return a.length === b.length && a.every((each, index) => isSame(each, b[index] as T));
}

function isSameClient(one: ClientTools, other: ClientTools): boolean {
  return one.clientId === other.clientId && isSameList(one.tools, other.tools);
}

/** A client and its tools. */
export type ClientTools = Pick<SessionActiveClient, 'clientId' | 'tools'>;

interface NamedTool {
  /** The client that offers the tool; absent for the host's tools. */
  readonly clientId?: string;
  /** The owner's definition, with the owner's name. */
  readonly tool: ToolDefinition;
  /** The definition for the model, with the name to call it by. */
  readonly offered: ToolDefinition;
}

/**
 * Every tool under the name to call it by, in order. The host's tools win; a client's tool whose name is taken gets a
 * prefix, repeated if necessary. If two tools of the host, or two of clients, have the same name, only the first
 * counts.
 */
export function toolNames(
  hostTools: readonly ToolDefinition[],
  clients: readonly ClientTools[],
): ReadonlyMap<string, NamedTool> {
  const names = new Map<string, NamedTool>();
  for (const tool of firstOfEach(hostTools)) names.set(tool.name, { tool, offered: tool });
  const offered = firstOfEach(
    clients.flatMap(({ clientId, tools }) => tools.map((tool) => ({ name: tool.name, tool, clientId }))),
  );
  // Free names are given first, so that a prefixed name never takes another tool's own name.
  const taken = new Set([...names.keys(), ...offered.map(({ name }) => name)]);
  for (const { name: own, tool, clientId } of offered) {
    const name = names.has(own) ? freeName(own, taken) : own;
    taken.add(name);
    names.set(name, { clientId, tool, offered: { ...tool, name } });
  }
  return names;
}

/** The tools for the model, each under the name to call it by, without hidden ones. */
export function offeredTools(
  hostTools: readonly ToolDefinition[],
  clients: readonly ClientTools[],
  isHidden: (name: string) => boolean = () => false,
): ToolDefinition[] {
  return shownTools(toolNames(hostTools, clients), isHidden);
}

/** Leaves out hidden tools. They keep their names: no other tool may be called by one. */
function shownTools(named: ReadonlyMap<string, NamedTool>, isHidden: (name: string) => boolean): ToolDefinition[] {
  const shown: ToolDefinition[] = [];
  for (const { tool, offered } of named.values()) if (!isHidden(tool.name)) shown.push(offered);
  return shown;
}

function firstOfEach<Named extends { readonly name: string }>(tools: readonly Named[]): Named[] {
  const seen = new Set<string>();
  return tools.filter(({ name }) => !seen.has(name) && seen.add(name));
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = CLIENT_PREFIX + name;
  while (taken.has(free)) free = CLIENT_PREFIX + free;
  return free;
}
