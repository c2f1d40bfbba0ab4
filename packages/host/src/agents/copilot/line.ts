/**
 * The line to one session in the runtime: it is created or resumed here, and again whenever the runtime died, the tools
 * changed, or history was cut.
 */
import type { Turn } from '@atrium/protocol';
import type { AgentOpenContext, AgentTurn } from '../../core/contracts/agent.js';
import { systemClock } from '../../core/util/clock.js';
import { endGroup, groupsWith } from '../../core/util/processes.js';
import { transcriptOf } from '../transcript.js';
import { Anchors } from './anchors.js';
import { type HostTools, hostTools } from './host-tools.js';
import { COMMAND_GRACE_MS, TRANSCRIPT_LIMITS, TRANSCRIPT_TURNS_MAX } from './limits.js';
import type { CopilotRuntime } from './runtime.js';
import type { SdkClient, SdkSession } from './sdk.js';
import { capabilitiesOf, type SessionSide, sessionConfig } from './session-config.js';

/** What the session hangs on at the moment. */
export interface Connected {
  readonly client: SdkClient;
  readonly session: SdkSession;
  readonly model: string | undefined;
  readonly tools: HostTools;
  /** Copilot's own tools that the model does not hear of. */
  readonly hidden: readonly string[];
}

export interface LineParts {
  /** Copilot's own id of the session. */
  readonly id: string;
  readonly runtime: CopilotRuntime;
  readonly context: AgentOpenContext;
  readonly side: SessionSide;
}

const NO_TOOLS: HostTools = new Map();
/** In the environment of every command that the runtime starts: Copilot's own id of the session. */
const SESSION_VARIABLE = 'COPILOT_AGENT_SESSION_ID';

export class CopilotLine {
  readonly #anchors: Anchors;
  readonly #parts: LineParts;
  #connected: Connected | undefined;
  /** What a Copilot that knows nothing is to be told with the next message. */
  #transcript: string | undefined;

  constructor(parts: LineParts) {
    this.#parts = parts;
    this.#anchors = new Anchors(parts.context.memory);
  }

  async open(): Promise<void> {
    const { session } = await this.align();
    await session.rpc.tools.initializeAndValidate();
    const { tools } = await session.rpc.tools.getCurrentMetadata();
    this.#parts.runtime.toolNames = new Set((tools ?? []).map(({ name }) => name));
  }

  /** The host's history is the truth: what Copilot has beyond it, or of another session of this name, is forgotten. */
  async align(): Promise<Connected> {
    const { id, runtime, context } = this.#parts;
    const [client, turns] = await Promise.all([runtime.client(), context.history(TRANSCRIPT_TURNS_MAX)]);
    const isKnown = (await client.getSessionMetadata(id)) !== undefined;
    const alignment = this.#anchors.align(turns);
    if (!isKnown || alignment.kind === 'lost') return this.#startAnew(client, { turns, isKnown });
    const connected = this.#connected?.client === client ? this.#connected : await this.#attach(client, NO_TOOLS);
    if (alignment.kind === 'same') return connected;
    try {
      await connected.session.rpc.history.truncate({ eventId: alignment.eventId });
      return connected;
    } catch {
      // The runtime died before it had stored the event.
      return this.#startAnew(client, { turns, isKnown });
    }
  }

  /** Everything before the message is sent: the runtime, the tools, the model, the prompt. */
  async ready(turn: AgentTurn): Promise<Connected> {
    const { runtime, side } = this.#parts;
    const client = await runtime.client();
    const tools = hostTools(turn.tools(), runtime.toolNames);
    const hidden = [...runtime.toolNames].filter(turn.hiddenTools());
    const current = this.#connected;
    const isCurrent = current?.client === client && isSame(current, { tools, hidden });
    const connected = isCurrent ? current : await this.#attach(client, tools, hidden);
    const chosen = await this.#choose(connected, turn.model?.id ?? this.#model());
    await side.prompt.build(chosen.session, turn);
    return chosen;
  }

  get transcript(): string | undefined {
    return this.#transcript;
  }

  /** Copilot has taken the message of a turn, and the transcript with it. */
  heard(turnId: string, eventId: string): void {
    this.#transcript = undefined;
    this.#anchors.add(turnId, eventId);
  }

  /** Ends what is going on. Commands in the background would wake the model when they end, with nobody to see it. */
  async stop(): Promise<void> {
    const session = this.#connected?.session;
    await session?.abort();
    const { tasks } = (await session?.rpc.tasks.list()) ?? { tasks: [] };
    const running = tasks.filter(({ status }) => status === 'running');
    await Promise.all(running.map(({ id }) => session?.rpc.tasks.cancel({ id })));
  }

  /** Commands that do not listen outlive the runtime's own attempt to end them. It tells each whose it is. */
  async endCommands(): Promise<void> {
    const groups = await groupsWith(SESSION_VARIABLE, this.#parts.id);
    await Promise.all([...groups].map((group) => endGroup(group, systemClock, COMMAND_GRACE_MS)));
  }

  async close(): Promise<void> {
    const connected = this.#connected;
    this.#connected = undefined;
    await connected?.session.disconnect();
  }

  async #startAnew(client: SdkClient, { turns, isKnown }: { turns: Turn[]; isKnown: boolean }): Promise<Connected> {
    await this.close().catch(() => {});
    if (isKnown) await client.deleteSession(this.#parts.id);
    this.#anchors.clear();
    this.#transcript = transcriptOf(turns, TRANSCRIPT_LIMITS);
    return this.#attach(client, NO_TOOLS);
  }

  /** The list of tools is fixed when a session is created or resumed, so a new list means to resume it. */
  async #attach(client: SdkClient, tools: HostTools, hidden: readonly string[] = []): Promise<Connected> {
    const { id, side, runtime } = this.#parts;
    const model = this.#model();
    const config = sessionConfig(side, { model, tools, hidden, gitHubToken: runtime.token });
    const isKnown = (await client.getSessionMetadata(id)) !== undefined;
    const session = isKnown
      ? await client.resumeSession(id, config)
      : await client.createSession({ ...config, sessionId: id });
    this.#connected = { client, session, model, tools, hidden };
    return this.#connected;
  }

  async #choose(connected: Connected, model: string | undefined): Promise<Connected> {
    if (model === undefined || model === connected.model) return connected;
    await connected.session.setModel(model, capabilitiesOf(this.#parts.side.options, model));
    this.#connected = { ...connected, model };
    return this.#connected;
  }

  #model(): string | undefined {
    return this.#connected?.model ?? this.#parts.side.options.models?.[0]?.id;
  }
}

type ToolList = Pick<Connected, 'tools' | 'hidden'>;

function isSame(a: ToolList, b: ToolList): boolean {
  return JSON.stringify([...a.tools, a.hidden]) === JSON.stringify([...b.tools, b.hidden]);
}
