/** The tool calls of one turn: finds out who has the tool that the model names, and starts its call. */
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

/** Put before the name of a client's tool that is taken already. */
const CLIENT_PREFIX = 'client_';

/** A call of a tool that does not exist only starts and fails. */
const UNKNOWN: Stages = { input: 'checked', permission: 'before-run', extensions: 'around', output: 'whole' };

export class ToolCalls {
  readonly #context: CallContext;
  #last: Offer | undefined;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** The tools that the model is told of now, each by the name to call it by. */
  offered(): ToolDefinition[] {
    const { extensions, chat } = this.#context;
    return shownTools(this.#offer().named, extensions.hidden(chat));
  }

  /** A model asks with every step, and the tools are nearly always those of the step before. */
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

  /** Starts a call. Its tool stays the one that has the name now. */
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

  /** The id that was asked for, unless a call of the turn has it already. */
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

/** What can be called, and what that was made of. */
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
  /** The client whose tool it is; absent for the host's tools. */
  readonly clientId?: string;
  /** As its owner defined it, with the name that the owner knows it by. */
  readonly tool: ToolDefinition;
  /** As a model is told of it, with the name to call it by. */
  readonly offered: ToolDefinition;
}

/**
 * Every tool under the name to call it by, in the order of offering. The host's tools win; a client's tool whose name
 * is taken gets a prefix, as often as it takes. Of two tools of the host, or of clients, with the same name only the first counts.
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

/** The tools as a model is told of them: each under the name to call it by, without those that are hidden. */
export function offeredTools(
  hostTools: readonly ToolDefinition[],
  clients: readonly ClientTools[],
  isHidden: (name: string) => boolean = () => false,
): ToolDefinition[] {
  return shownTools(toolNames(hostTools, clients), isHidden);
}

/** A hidden tool keeps its name: another tool must not be called by it. */
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
