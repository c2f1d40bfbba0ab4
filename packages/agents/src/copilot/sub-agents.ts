/**
 * Copilot's sub-agents. Each works in its own chat, as a worker of the call that started it or wrote to it. If it can
 * have no chat, its calls are shown in the turn of the agent that started it, and its text is not shown.
 *
 * Events and hooks name the sub-agent. Permission requests, and calls of the host's tools, name only the call, and a
 * call of another agent may have the same id: then the input decides.
 */
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { within } from '@atrium/core/util/waiting.js';
import { openSubAgentChat, type SubAgentChat } from '../shared/workers.js';
import { AgentEvents } from './events.js';
import { rejected } from './permission.js';
import type { PermissionDecision, PermissionRequest, SdkEvent, SdkToolResult, SubAgentStart } from './sdk.js';
import type { HostTools, TurnCalls } from './tools.js';

/** How long a hook waits for the event that announces its sub-agent, because it sometimes arrives first. */
const ANNOUNCEMENT_MAX_MS = 1_000;

/** Copilot's tool that gives a background sub-agent another task. */
const WRITE_TOOL = 'write_agent';
const STOPPED = 'Copilot stopped this sub-agent.';
const UNCLEAR = 'Calls of several agents have this id, and none of them asks for this. Make the call again.';

interface SubAgent {
  readonly title: string;
  /** Rejects when its chat ends before its turn has begun. */
  readonly events: Promise<AgentEvents>;
  readonly chat: Promise<SubAgentChat | undefined>;
  /** It has finished its task. Copilot may give it another one. */
  isDone: boolean;
}

interface SubAgentsOptions {
  readonly turn: AgentTurn;
  readonly tools: HostTools;
  /** Whether a subscription pays. */
  readonly isFlat: boolean;
  /** Stops a sub-agent whose turn was cancelled. */
  stop(agentId: string): void;
}

export class SubAgents {
  /** Copilot itself. */
  readonly main: AgentEvents;
  readonly #options: SubAgentsOptions;
  /** Sub-agents by Copilot's id. */
  readonly #agents = new Map<string, SubAgent>();
  /**
   * The calls of all agents whose turns have begun. Those of a stopped agent stay, so that they are not taken for
   * another agent's.
   */
  readonly #calls: Set<TurnCalls>;
  readonly #waiting = new Map<string, Set<() => void>>();
  /** The last call that wrote to each sub-agent, by its id. */
  readonly #writers = new Map<string, Writer>();

  constructor(options: SubAgentsOptions) {
    this.#options = options;
    this.main = new AgentEvents(options.turn, options);
    this.#calls = new Set([this.main.calls]);
  }

  take(event: SdkEvent): void {
    const { agentId } = event;
    if (agentId === undefined) this.main.work(event);
    else if (event.type === 'subagent.started') this.#start(agentId, event.data);
    else if (event.type === 'user.message') this.#resume(agentId, event.data.content ?? '');
    else if (event.type === 'subagent.completed') this.#end(agentId, event.data.cancelled ? STOPPED : undefined);
    else if (event.type === 'subagent.failed') this.#end(agentId, event.data.error ?? 'It failed.');
    else this.#show(agentId, event);
    this.#noteWriter(event);
  }

  /** The calls of a sub-agent, or of Copilot itself. Rejects when the sub-agent was stopped. */
  async of(agentId: string | undefined): Promise<TurnCalls> {
    if (agentId === undefined) return this.main.calls;
    const agent = this.#working(agentId) ?? (await this.#announced(agentId));
    return agent ? (await agent.events).calls : this.main.calls;
  }

  async permit(request: PermissionRequest): Promise<PermissionDecision> {
    const owners = [...this.#calls].filter((calls) => calls.asks(request));
    const [owner = this.main.calls, another] = owners;
    if (!another) return owner.permit(request);
    const certain = owners.find((calls) => calls.asksAbout(request));
    return certain ? certain.permit(request) : rejected(UNCLEAR);
  }

  /** Runs a host's tool once: the runtime passes in every call of a sub-agent twice. */
  runHostTool(toolCallId: string, name: string, input: unknown): Promise<SdkToolResult> {
    const call = { toolCallId, toolName: name, arguments: input };
    const all = [...this.#calls];
    const owner = all.find((calls) => calls.announced(call) === 'new') ?? all.find((calls) => calls.announced(call));
    return (owner ?? this.main.calls).runHostTool(toolCallId, name, input);
  }

  /**
   * Ends all sub-agents, because Copilot has nothing left to do. It does not say when a sub-agent has finished a
   * further task.
   */
  async endAll(): Promise<void> {
    for (const agentId of this.#agents.keys()) this.#end(agentId, undefined);
    await Promise.all([...this.#agents.values()].map(async ({ chat }) => (await chat.catch(() => {}))?.ended));
  }

  #start(agentId: string, { toolCallId, parentId, agentDescription, agentDisplayName }: SubAgentStart): void {
    const starter = this.#eventsOf(parentId);
    const title = agentDescription || agentDisplayName;
    this.#open(agentId, title, { starter, chat: ({ calls }) => calls.openChat(toolCallId, title) });
  }

  /** Continues a finished sub-agent, possibly of an earlier turn, with another task. */
  #resume(agentId: string, prompt: string): void {
    if (this.#working(agentId)) return;
    const title = this.#agents.get(agentId)?.title ?? 'Sub-agent';
    const writer = this.#writers.get(agentId);
    const chat = async ({ turn }: AgentEvents) => {
      const callId = await writer?.callId;
      return callId === undefined ? undefined : openSubAgentChat(turn, callId, { title, prompt: prompt || title });
    };
    this.#open(agentId, title, { starter: writer?.events ?? Promise.resolve(this.main), chat });
  }

  #open(agentId: string, title: string, { starter, chat: open }: Opening): void {
    const chat = starter.then(open);
    const events = Promise.all([starter, chat]).then(([by, own]) => this.#events(agentId, by, own));
    events.catch(() => {});
    this.#agents.set(agentId, { title, chat, events, isDone: false });
    for (const announced of this.#waiting.get(agentId) ?? []) announced();
    this.#waiting.delete(agentId);
  }

  async #events(agentId: string, starter: AgentEvents, chat: SubAgentChat | undefined): Promise<AgentEvents> {
    const { stop } = this.#options;
    const turn = chat ? await chat.turn : starter.turn;
    const events = new AgentEvents(turn, this.#options, chat ? undefined : starter);
    this.#calls.add(events.calls);
    turn.signal.addEventListener('abort', () => {
      if (this.#working(agentId)) stop(agentId);
    });
    return events;
  }

  #show(agentId: string, event: SdkEvent): void {
    // The call's hook arrives before these events; showing both would show two calls.
    if (event.type === 'assistant.tool_call_delta') return;
    const agent = this.#agents.get(agentId);
    // An agent that was not announced is shown like one without a chat.
    if (!agent) return this.main.work(event);
    Promise.all([agent.events, agent.chat]).then(
      ([events, chat]) => {
        if (chat) events.show(event);
        events.work(event);
      },
      // Events after the end of a sub-agent's chat are not shown.
      () => {},
    );
  }

  /** Ends the chat, after everything that is still to be shown in it. */
  #end(agentId: string, failure: string | undefined): void {
    const agent = this.#working(agentId);
    if (!agent) return;
    agent.isDone = true;
    Promise.all([agent.chat, agent.events]).then(
      ([chat]) => chat?.end(failure),
      () => {},
    );
  }

  #working(agentId: string): SubAgent | undefined {
    const agent = this.#agents.get(agentId);
    return agent?.isDone ? undefined : agent;
  }

  async #announced(agentId: string): Promise<SubAgent | undefined> {
    const waiting = this.#waiting.get(agentId) ?? new Set();
    this.#waiting.set(agentId, waiting);
    const announcement = new Promise<void>((resolve) => void waiting.add(resolve));
    await within(systemClock, ANNOUNCEMENT_MAX_MS, announcement, () => {});
    return this.#working(agentId);
  }

  /** Records the writing call when it begins: later, its id may belong to another call. */
  #noteWriter(event: SdkEvent): void {
    if (event.type !== 'tool.execution_start' || event.data.toolName !== WRITE_TOOL) return;
    const { toolCallId, arguments: input } = event.data;
    const to = isRecord(input) ? input.agent_id : undefined;
    if (typeof to !== 'string') return;
    const events = this.#eventsOf(event.agentId);
    const callId = events.then(({ calls }) => calls.idOf(toolCallId));
    callId.catch(() => {});
    this.#writers.set(to, { events, callId });
  }

  #eventsOf(agentId: string | undefined): Promise<AgentEvents> {
    const agent = agentId === undefined ? undefined : this.#agents.get(agentId);
    return agent?.events ?? Promise.resolve(this.main);
  }
}

interface Opening {
  /** The agent that made the call. */
  readonly starter: Promise<AgentEvents>;
  chat(starter: AgentEvents): SubAgentChat | undefined | Promise<SubAgentChat | undefined>;
}

interface Writer {
  readonly events: Promise<AgentEvents>;
  /** The host's id of the call. */
  readonly callId: Promise<string | undefined>;
}
