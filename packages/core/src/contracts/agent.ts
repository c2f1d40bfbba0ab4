/**
 * The contract between the host and an agent backend. A backend describes itself, opens sessions and runs turns. It
 * shows and does everything through the `AgentTurn` that it gets, and never touches channels, sockets or the log. The
 * suite in `agent-acceptance/` tests what every backend promises here.
 */
import type {
  AgentInfo,
  AgentSelection,
  ChatInputAnswer,
  ChatInputRequest,
  ChatInputResponseKind,
  Compaction,
  Message,
  ModelSelection,
  PlanStatus,
  ResponsePart,
  ToolCallResult,
  ToolDefinition,
  ToolResultContent,
  Turn,
  UsageInfo,
} from '@atrium/protocol/ahp-1';
import type { StartProgram } from '../util/programs.js';
import type { ToolConfirmation } from './tool.js';

/** What a backend can do. The host passes this on to clients and providers. */
export interface AgentAbilities {
  /** When a change of the tools takes effect: at once, with the next turn, or only for a new session. */
  readonly tools: 'live' | 'next-turn' | 'at-open';
  /** Which calls gates see before they run: all, those that the host runs, or those that the backend asks about. */
  readonly toolIntent: 'all' | 'host-run' | 'on-request';
  /** How it takes prompt text from others: by section, after its own prompt, before the message, or not at all. */
  readonly render: 'sections' | 'append' | 'preface' | 'none';
  /** It takes a person's message in the middle of a turn. */
  readonly steer: boolean;
  /** A single call can be cancelled without the turn. */
  readonly cancelTool: boolean;
  /** A turn that was cut off or failed can go on where it stopped: `AgentTurn.soFar` says what it has done. */
  readonly resume?: boolean;
  /**
   * It understands the message `/compact [what to keep]` as a request to make room in its memory: see `compactCommand`.
   */
  readonly compacts?: boolean;
  /** It has its own tools for files and commands, so the host does not offer its own. */
  readonly ownTools?: boolean;
  /** It keeps a process between turns. The host closes idle sessions, and opens them again with the next turn. */
  readonly ownProcess?: boolean;
}

/** Called with the usage of a request outside of turns. */
export type Spent = (usage: UsageInfo) => void;

export interface AgentBackend {
  /** Published in root state. */
  readonly info: AgentInfo;
  /** Calls back when `info` changes: some backends learn their models only in a session. */
  whenInfoChanges?(changed: () => void): void;
  readonly abilities: AgentAbilities;
  /** The text of each prompt section, in order. Empty when there are none, or when `renderPrompt` gets them. */
  readonly sections: Readonly<Record<string, string>>;
  /** The names of its own tools, as far as it knows them. */
  ownToolNames?(): readonly string[];
  /** Takes a token for one of the protected resources in `info`. Throws an `AgentError` when the token is refused. */
  authenticate?(resource: string, token: string): Promise<void>;
  /** Forgets the token for this resource: it has expired, or the client that brought it took it back. */
  revoke?(resource: string): void;
  /** Assesses the risk of a call, for the person who is asked about it. It decides nothing. Absent: no assessment. */
  judge?(call: JudgedCall, signal: AbortSignal, spent?: Spent): Promise<Judgement>;
  /**
   * Makes a title for a session from its first exchange, with a small request. Absent: the agent sets titles itself.
   */
  titleFor?(exchange: FirstExchange, signal: AbortSignal, spent?: Spent): Promise<string>;
  /**
   * Loads what the first turn needs, so that the turn does not wait for it. The host calls this after its start, when
   * it is idle.
   */
  preload?(): Promise<void>;
  /** Returns a stand-in for the backend with a model of its own. An idle host plays a turn with it: see `warm-up.ts`. */
  standIn?(): Promise<StandIn>;
  /** Opens or resumes a session. Throws an `AgentError` when it cannot; the session then shows the reason. */
  open(context: AgentOpenContext): Promise<AgentSession>;
}

export interface StandIn {
  readonly agent: AgentBackend;
  /** Closes the double's model. */
  close(): void;
}

/** What a title is made from. */
export interface FirstExchange {
  readonly message: string;
  readonly answer: string;
  /** The model that answered; undefined for the agent's default. */
  readonly model: string | undefined;
}

/** A call, as the person who is asked sees it. */
export interface JudgedCall {
  readonly toolName: string;
  readonly question: string;
  /** The input exactly as it is shown. */
  readonly input: string;
}

export interface Judgement {
  /** From 0, dangerous, to 1, safe. */
  readonly safety: number;
  readonly reason: string;
}

export interface AgentOpenContext {
  /** The URI of the session. */
  readonly session: string;
  /** The URI of the chat in which the agent works. */
  readonly chat: string;
  /** A path on this machine. */
  readonly workingDirectory: string | undefined;
  readonly signal: AbortSignal;
  /** The last finished turns, oldest first. */
  history(last: number): Promise<Turn[]>;
  readonly memory: AgentMemory;
  /** Starts the programs of the agent where the session works. Absent: on this machine. */
  readonly startProgram?: StartProgram | undefined;
}

/** Longest JSON that an agent may store with a session to find its own session again: an id or two, no history. */
export const AGENT_MEMORY_MAX_CHARACTERS = 16 * 2 ** 10;

/** A small value that the host stores with the session, so that the backend finds its own session again. */
export interface AgentMemory {
  /** The value that was set last, also before the host restarted. */
  get(): unknown;
  /** Stores a JSON value of up to `AGENT_MEMORY_MAX_CHARACTERS`; undefined removes it. */
  set(value: unknown): void;
}

export interface AgentSession {
  /**
   * Runs one turn. Returning completes it, throwing ends it with an error; an `AgentError` gives the type. When the
   * signal aborts, the turn is already cancelled: stop soon, and throw anything. The next turn may begin before this
   * one has returned, so a backend that runs one turn at a time makes the next one wait.
   */
  runTurn(turn: AgentTurn): Promise<void>;
  /** Called when the turns after this one were cut off; without a turn, all turns. */
  truncated?(turnId: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** One turn, as the backend sees it. Its methods have no effect once the turn has ended. */
export interface AgentTurn {
  readonly id: string;
  readonly message: Message;
  readonly model: ModelSelection | undefined;
  readonly agent: AgentSelection | undefined;
  readonly workingDirectory: string | undefined;
  /** All folders in which the turn may work at this moment; the first one is `workingDirectory`. */
  readonly workingDirectories: readonly string[];
  /** What the turn said and did before it was cut off, when it is resumed; undefined for a new turn. */
  readonly soFar?: readonly ResponsePart[] | undefined;
  readonly signal: AbortSignal;
  /** Streams text. Consecutive calls extend one part of the answer; anything in between starts a new part. */
  text(content: string): void;
  /** Streams thinking, in the same way. */
  reasoning(content: string): void;
  /** Ends the present part of the answer: further text begins a new one, and a new paragraph. */
  interrupt(): void;
  /** Shows a note in the turn. */
  notify(content: string): void;
  /** Shows the summary that replaces earlier turns in the agent's memory from now on. */
  compacted(compaction: Compaction): void;
  /**
   * Reports the total usage since `runTurn` was called; each report replaces the previous one. `inputTokens` include
   * those from a cache. `_meta` may contain what `UsageDetails` names.
   */
  usage(usage: UsageInfo): void;
  /** Names the session, unless a person has named it. */
  title(title: string): void;
  /** Shows the agent's task list. Pass the whole list each time; an empty one removes it. */
  plan(tasks: readonly PlannedTask[]): void;
  /** Shows what the agent is doing; undefined removes it. */
  activity(text: string | undefined): void;
  /** The tools for the model at this moment, with unique names: the host's, then the active clients'. */
  tools(): ToolDefinition[];
  /** Returns a test for the backend's own tools that are hidden from the model at this moment. */
  hiddenTools(): (toolName: string) => boolean;
  /** Runs a tool of the host or of an active client by its name. */
  callTool(call: ToolRequest): Promise<ToolOutcome>;
  /** Shows a call while the model is still writing its input. `callTool` does the same with the whole input at once. */
  beginCall(call: CallStart): BegunCall;
  /** Shows a call that the backend runs itself. Gates and people decide about it as about any other. */
  agentRunCall(call: AgentRunCallStart): AgentRunCall;
  /** Shows a call whose result the backend already knows. */
  scriptedTool(call: ScriptedToolCall): Promise<ToolOutcome>;
  /** Asks a person questions, and waits for the answers. */
  ask(request: ChatInputRequest): Promise<InputOutcome>;
  /**
   * The system prompt for the model, section by section, with the changes of plugins, providers and the client. If
   * `sections` lacks the backend's own text, pass it in. The project's instructions are separate, because they are not
   * the agent's own text.
   */
  renderPrompt(
    pristine?: ReadonlyMap<string, string>,
    projectInstructions?: string,
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Opens a chat for a worker of one of this turn's calls, and runs a turn in it. Throws a `ToolFailure` when there are
   * too many workers. If the call or this turn ends first, the worker's turn is cancelled.
   */
  openWorker(start: WorkerStart): OpenWorker;
  /** Text that the model reads beside the turn's message, and that no client sees. */
  readonly context: readonly string[];
  /**
   * Await this before each request to the model: a person may have to decide whether the turn goes on. The host itself
   * does so before `runTurn` and before every tool call. Rejects when the turn is over.
   */
  nextStep(): Promise<void> | undefined;
  /**
   * Await this between pieces of a stream: while the host stores more slowly than agents speak, the stream has to wait.
   * Undefined while the host keeps up. Also resolves when the turn is over.
   */
  caughtUp(): Promise<void> | undefined;
  /** Takes the message with which a person steers this turn; undefined when there is none. */
  takeSteering(): Message | undefined;
}

/** A task on an agent's list. */
export interface PlannedTask {
  readonly text: string;
  readonly status: PlanStatus;
}

export interface WorkerStart {
  /** The call for which it works. */
  readonly toolCallId: string;
  /** A short description of its task. */
  readonly title: string;
  readonly prompt: string;
  /** The names of the tools that it may use; absent: all. */
  readonly tools?: readonly string[];
  /** Aborts when the call is over before the turn. */
  readonly signal?: AbortSignal;
  /** Does the work, for a backend that runs its workers itself. Absent: the backend opens the chat like any other. */
  run?(turn: AgentTurn): Promise<void>;
}

export interface OpenWorker {
  /** The URI of its chat, for the `subagent` content of the call. */
  readonly chat: string;
  readonly ended: Promise<WorkerOutcome>;
}

export interface WorkerOutcome {
  readonly chat: string;
  readonly state: 'complete' | 'cancelled' | 'error';
  /** The last text it said. */
  readonly text: string;
  /** Why it failed. */
  readonly error?: string;
}

export interface ToolRequest {
  /** Unique in the turn. The host makes one up when it is absent or in use. */
  readonly id?: string;
  readonly name: string;
  /** The arguments, as an object or as JSON text. */
  readonly input: unknown;
}

export interface CallStart {
  /** Unique in the turn. The host makes one up when it is absent or in use. */
  readonly id?: string;
  readonly name: string;
}

export interface BegunCall {
  readonly id: string;
  /** Shows more of the input while the model writes it. */
  delta(text: string): void;
  /** Completes the input: asks gates and people, then runs the tool. */
  run(input: unknown): Promise<ToolOutcome>;
  /** Ends a call that cannot be run, with the reason. */
  fail(message: string): Promise<ToolOutcome>;
}

export interface AgentRunCallStart extends CallStart {
  readonly displayName: string;
}

/** A call that the backend runs: first `check` or `shown`, then `confirm` if needed, then `complete`. */
export interface AgentRunCall {
  readonly id: string;
  delta(text: string): void;
  /** Completes the input, and asks the gates. If they deny, the call is over, and the model gets the reason. */
  check(input: unknown, invocationMessage: string): Promise<Permit>;
  /** Completes the input of a call that already runs and cannot be stopped; use it instead of `check`. */
  shown(input: unknown, invocationMessage: string): void;
  /** Asks a person, unless they have allowed such calls before. Without this, the call runs without a question. */
  confirm(confirmation: ToolConfirmation): Promise<Permit>;
  progress(content: ToolResultContent[]): void;
  complete(result: ToolCallResult): Promise<ToolOutcome>;
}

/** `option` is the option that the person chose, if the question had any. */
export type Permit =
  /** `input` is set when the person changed it. */
  | { readonly kind: 'granted'; readonly input?: unknown; readonly option?: string }
  | { readonly kind: 'denied'; readonly reason: string; readonly option?: string };

export interface ScriptedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly pastTenseMessage: string;
  readonly input?: string;
  readonly output: string;
  readonly success: boolean;
  /** Whether a person is asked first. */
  readonly confirm?: boolean;
}

export type ToolOutcome =
  | {
      readonly kind: 'completed';
      readonly success: boolean;
      /** The output for the model; only the beginning and the end if it is long. */
      readonly text: string;
      readonly content: ToolResultContent[];
      /** The id of the call in the session, which has the whole result. */
      readonly callId?: string;
    }
  /** A person or a gate denied the call. The reason is for the model. */
  | { readonly kind: 'denied'; readonly reason: string };

export interface InputOutcome {
  readonly response: ChatInputResponseKind;
  readonly answers: Readonly<Record<string, ChatInputAnswer>>;
}

/** A failure with a type that clients can distinguish. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  constructor(
    readonly errorType: string,
    message: string,
  ) {
    super(message);
  }
}
