/**
 * Connects one session with its counterpart in the runtime. Creates or resumes the counterpart, and does so again when
 * the runtime died, the tools or the folders changed, or history was cut.
 */

import {
  AGENT_MEMORY_MAX_CHARACTERS,
  type AgentMemory,
  type AgentOpenContext,
  type AgentTurn,
} from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { endGroup, groupsWith } from '@atrium/core/util/processes.js';
import type { ToolDefinition, Turn } from '@atrium/protocol/ahp-1';
import { transcriptOf } from '../shared/transcript.js';
import type { CopilotAgentOptions } from './backend.js';
import { rejected } from './permission.js';
import type { CopilotPrompt } from './prompt.js';
import type { CopilotRuntime } from './runtime.js';
import type { HookInput, HookInvocation, ModelFacts, SdkClient, SdkSession, SdkTool, SessionConfig } from './sdk.js';
import { denied, type HostTools, hostTools } from './tools.js';
import type { CopilotTurn } from './turn.js';

/** Time between asking a cancelled turn's command to end and killing it; the runtime has already asked it. */
const COMMAND_GRACE_MS = 50;
/**
 * How many finished turns, and how much of them, are told to a Copilot that does not know the session; the newest stay.
 */
const TRANSCRIPT_TURNS_MAX = 50;
const TRANSCRIPT_LIMITS = { maxCharacters: 40_000, callMaxCharacters: 2_000 } as const;

/** The current connection. */
export interface Connected {
  readonly client: SdkClient;
  readonly session: SdkSession;
  readonly model: string | undefined;
  readonly tools: HostTools;
  /** Copilot's own tools that are hidden from the model. */
  readonly hidden: readonly string[];
  /** The folders beside the first one. */
  readonly further: readonly string[];
}

export interface CopilotConnectionOptions {
  /** Copilot's own id of the session. */
  readonly id: string;
  readonly runtime: CopilotRuntime;
  readonly context: AgentOpenContext;
  readonly side: SessionSide;
}

/** Copilot's own id of the session, in the environment of every command that the runtime starts. */
const SESSION_VARIABLE = 'COPILOT_AGENT_SESSION_ID';

export class SessionConnection {
  readonly #anchors: Anchors;
  readonly #options: CopilotConnectionOptions;
  #connected: Connected | undefined;
  /** The earlier turns, if Copilot does not know them and must be told with the next message. */
  #transcript: string | undefined;

  constructor(options: CopilotConnectionOptions) {
    this.#options = options;
    this.#anchors = new Anchors(options.context.memory);
  }

  async open(): Promise<void> {
    const { session } = await this.align();
    await session.rpc.tools.initializeAndValidate();
    const { tools } = await session.rpc.tools.getCurrentMetadata();
    this.#options.runtime.toolNames = new Set((tools ?? []).map(({ name }) => name));
  }

  /** Makes Copilot forget everything that is not in the host's history. */
  async align(): Promise<Connected> {
    const { id, runtime, context } = this.#options;
    const [client, turns] = await Promise.all([runtime.client(), context.history(TRANSCRIPT_TURNS_MAX)]);
    const isKnown = (await client.getSessionMetadata(id)) !== undefined;
    const alignment = this.#anchors.align(turns);
    if (!isKnown || alignment.kind === 'lost') return this.#startOver(client, { turns, isKnown });
    const connected = this.#connected?.client === client ? this.#connected : await this.#attach(client, NOTHING_YET);
    if (alignment.kind === 'same') return connected;
    try {
      await connected.session.rpc.history.truncate({ eventId: alignment.eventId });
      return connected;
    } catch {
      // The runtime died before it stored the event.
      return this.#startOver(client, { turns, isKnown });
    }
  }

  /** Prepares a turn: the runtime, the tools, the model, the prompt. */
  async ready(turn: AgentTurn): Promise<Connected> {
    const { runtime, side } = this.#options;
    const client = await runtime.client();
    const tools = hostTools(turn.tools(), runtime.toolNames);
    const hidden = [...runtime.toolNames].filter(turn.hiddenTools());
    const current = this.#connected;
    const further = turn.workingDirectories.slice(1);
    const isCurrent = current?.client === client && isSame(current, { tools, hidden, further });
    const connected = isCurrent ? current : await this.#attach(client, { tools, hidden, further });
    const chosen = await this.#choose(connected, turn.model?.id ?? this.#model());
    await side.prompt.build(chosen.session, turn);
    return chosen;
  }

  get transcript(): string | undefined {
    return this.#transcript;
  }

  /** Records that Copilot has taken a turn's message, with the transcript. */
  hasReceived(turnId: string, eventId: string): void {
    this.#transcript = undefined;
    this.#anchors.add(turnId, eventId);
  }

  /** Ends the turn and its background tasks: a task that ends later would start the model again, outside of a turn. */
  async stop(): Promise<void> {
    const session = this.#connected?.session;
    await session?.abort();
    const { tasks } = (await session?.rpc.tasks.list()) ?? { tasks: [] };
    const running = tasks.filter(({ status }) => status === 'running');
    await Promise.all(running.map(({ id }) => session?.rpc.tasks.cancel({ id })));
  }

  /** Ends commands that survived the runtime's own attempt. The runtime marks each with the id of its session. */
  async endCommands(): Promise<void> {
    const groups = await groupsWith(SESSION_VARIABLE, this.#options.id);
    await Promise.all([...groups].map((group) => endGroup(group, systemClock, COMMAND_GRACE_MS)));
  }

  async close(): Promise<void> {
    const connected = this.#connected;
    this.#connected = undefined;
    await connected?.session.disconnect();
  }

  async #startOver(client: SdkClient, { turns, isKnown }: { turns: Turn[]; isKnown: boolean }): Promise<Connected> {
    await this.close().catch(() => {});
    if (isKnown) await client.deleteSession(this.#options.id);
    this.#anchors.clear();
    this.#transcript = transcriptOf(turns, TRANSCRIPT_LIMITS);
    return this.#attach(client, NOTHING_YET);
  }

  /**
   * Creates or resumes the session. Its tools and folders are fixed then, so a change of them means resuming it again.
   */
  async #attach(client: SdkClient, lists: FixedLists): Promise<Connected> {
    const { id, side, runtime } = this.#options;
    const model = this.#model();
    const config = sessionConfig(side, { model, ...lists, gitHubToken: runtime.token });
    const isKnown = (await client.getSessionMetadata(id)) !== undefined;
    const session = isKnown
      ? await client.resumeSession(id, config)
      : await client.createSession({ ...config, sessionId: id });
    this.#connected = { client, session, model, ...lists };
    return this.#connected;
  }

  async #choose(connected: Connected, model: string | undefined): Promise<Connected> {
    if (model === undefined || model === connected.model) return connected;
    await connected.session.setModel(model, capabilitiesOf(this.#options.side.options, model));
    this.#connected = { ...connected, model };
    return this.#connected;
  }

  #model(): string | undefined {
    return this.#connected?.model ?? this.#options.side.options.models?.[0]?.id;
  }
}

type FixedLists = Pick<Connected, 'tools' | 'hidden' | 'further'>;

/** Used before the first turn, when its tools and folders are not known. */
const NOTHING_YET: FixedLists = { tools: new Map(), hidden: [], further: [] };

function isSame(a: FixedLists, b: FixedLists): boolean {
  const textOf = ({ tools, hidden, further }: FixedLists) => JSON.stringify([...tools, hidden, further]);
  return textOf(a) === textOf(b);
}

type Anchor = readonly [turnId: string, eventId: string];

type Alignment =
  | { readonly kind: 'same' }
  /** Copilot must forget this event and all later ones. */
  | { readonly kind: 'cut'; readonly eventId: string }
  /** Copilot knows none of the turns. */
  | { readonly kind: 'lost' };

/** Copilot's event that began each turn. Stored with the session: history may be cut while Copilot is not running. */
class Anchors {
  readonly #memory: AgentMemory;
  /** Oldest first. */
  #all: readonly Anchor[];

  constructor(memory: AgentMemory) {
    this.#memory = memory;
    const kept = memory.get();
    this.#all = Array.isArray(kept) && kept.every(isAnchor) ? kept : [];
  }

  add(turnId: string, eventId: string): void {
    this.#keep([...this.#all, [turnId, eventId]]);
  }

  clear(): void {
    this.#keep([]);
  }

  /** Finds the newest turn of the host's history that Copilot knows. */
  align(turns: readonly Turn[]): Alignment {
    const ids = new Set(turns.map(({ id }) => id));
    const newest = this.#all.findLastIndex(([turnId]) => ids.has(turnId));
    if (newest < 0) return { kind: 'lost' };
    const next = this.#all[newest + 1];
    if (!next) return { kind: 'same' };
    this.#keep(this.#all.slice(0, newest + 1));
    return { kind: 'cut', eventId: next[1] };
  }

  /**
   * Stores the anchors, without the oldest if there are too many. After a cut before the stored ones, Copilot gets the
   * history as text.
   */
  #keep(anchors: readonly Anchor[]): void {
    let kept = anchors;
    while (JSON.stringify(kept).length > AGENT_MEMORY_MAX_CHARACTERS) kept = kept.slice(1);
    this.#all = kept;
    this.#memory.set(kept);
  }
}

/** Checks a stored value, which another version of the host may have written. */
function isAnchor(value: unknown): value is Anchor {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

/** The host's side of a session, which answers when Copilot asks. */
interface SessionSide {
  readonly options: CopilotAgentOptions;
  readonly folder: string;
  readonly prompt: CopilotPrompt;
  /** The running turn. */
  turn(): CopilotTurn | undefined;
}

const NO_TURN = 'No turn is running in this session, so nothing may be done in it.';
const NO_INPUT = { type: 'object', properties: {} } as const;

/** What may change from one connection to the next. */
interface Chosen {
  readonly model: string | undefined;
  readonly tools: HostTools;
  /** Copilot's own tools that are hidden from the model. */
  readonly hidden: readonly string[];
  readonly further: readonly string[];
  readonly gitHubToken?: string | undefined;
}

export function sessionConfig(side: SessionSide, chosen: Chosen): SessionConfig {
  const { model, tools, hidden, further, gitHubToken } = chosen;
  const { providerConfig } = side.options;
  return {
    ...(model !== undefined && { model }),
    ...capabilitiesOf(side.options, model),
    ...(providerConfig && { provider: providerConfig }),
    ...(gitHubToken !== undefined && { gitHubToken }),
    workingDirectory: side.folder,
    // Even an empty list: without it, a resumed session may keep its earlier one.
    additionalDirectories: further,
    streaming: true,
    includeSubAgentStreamingEvents: true,
    enableSessionTelemetry: false,
    enableSessionStore: false,
    tools: [...tools].map(([name, definition]) => sdkTool(side, name, definition)),
    // Even an empty list: without it, a resumed session keeps its earlier one.
    excludedTools: hidden.map((name) => `builtin:${name}`),
    systemMessage: { mode: 'customize', sections: side.prompt.overrides() },
    hooks: {
      onPreToolUse: async (input, invocation) =>
        side.turn()?.check(input, subAgentIn(input, invocation)) ?? denied(NO_TURN),
      onPostToolUse: async (input, invocation) => {
        const { resultType, textResultForLlm: output } = input.toolResult;
        return side
          .turn()
          ?.toolDone(input, subAgentIn(input, invocation), { success: resultType === 'success', output });
      },
      onPostToolUseFailure: async (input, invocation) =>
        side.turn()?.toolDone(input, subAgentIn(input, invocation), { success: false, output: input.error }),
      // A prompt for a sub-agent is not a person's message.
      onUserPromptSubmitted: async (input, invocation) =>
        subAgentIn(input, invocation) === undefined ? side.turn()?.takeContext() : undefined,
    },
    onUserInputRequest: async (question) => ({
      answer: (await side.turn()?.answerTo(question)) ?? NO_TURN,
      wasFreeform: true,
    }),
    onPermissionRequest: async (request) => side.turn()?.permit(request) ?? rejected(NO_TURN),
    onEvent: (event) => side.turn()?.take(event),
  };
}

/** The sub-agent that a hook is about; undefined for Copilot itself. */
function subAgentIn({ sessionId }: HookInput, invocation: HookInvocation): string | undefined {
  return sessionId === invocation.sessionId ? undefined : sessionId;
}

function sdkTool(side: SessionSide, name: string, definition: ToolDefinition): SdkTool {
  const { description, title, inputSchema = NO_INPUT } = definition;
  return {
    name,
    description: description ?? title ?? name,
    parameters: { ...inputSchema },
    skipPermission: true,
    handler: async (input, { toolCallId }) =>
      side.turn()?.callHostTool(toolCallId, name, input) ?? { textResultForLlm: NO_TURN, resultType: 'failure' },
  };
}

/** Facts about a model. The runtime knows those of GitHub's models, but not of others. */
function capabilitiesOf({ models = [] }: CopilotAgentOptions, model: string | undefined): ModelFacts {
  const vision = models.find(({ id }) => id === model)?.supportsVision;
  return vision === undefined ? {} : { modelCapabilities: { supports: { vision } } };
}
