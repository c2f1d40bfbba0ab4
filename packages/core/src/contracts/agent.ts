/**
 * The contract between the host and an agent backend. A backend describes itself, opens sessions and runs turns. It
 * shows and does everything through the `AgentTurn` that it is given, and never touches channels, sockets or the log.
 * The suite in `agent-acceptance/` tests what every backend promises here.
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
import type { ToolConfirmation } from './tool.js';

/** What a backend can do. The host tells clients and providers what they can expect of it. */
export interface AgentAbilities {
  /** When a change of the tools counts: at once, with the next turn, or only for a new session. */
  readonly tools: 'live' | 'next-turn' | 'at-open';
  /** Which calls gates see before they run: all, those that the host runs, or those that the backend asks about. */
  readonly toolIntent: 'all' | 'host-run' | 'on-request';
  /** How it takes prompt text of others: by section, behind its own prompt, before the message, or not at all. */
  readonly render: 'sections' | 'append' | 'preface' | 'none';
  /** Whether it takes a person's message in the middle of a turn. */
  readonly steer: boolean;
  /** Whether a single call can be cancelled without the turn. */
  readonly cancelTool: boolean;
  /** Whether a turn that was cut off, or failed, can go on where it stopped: `AgentTurn.soFar` says what it has done. */
  readonly resume?: boolean;
  /** Whether it takes the message `/compact [what to keep]` as the wish to make room in its memory: see `compactCommand`. */
  readonly compacts?: boolean;
  /** It has tools for files and commands of its own, so the host does not offer its own. */
  readonly ownTools?: boolean;
  /** A process of it runs between turns. The host closes idle sessions, and opens them again with the next turn. */
  readonly ownProcess?: boolean;
}

/** Hears what a request beside the turns used. */
export type Spent = (usage: UsageInfo) => void;

export interface AgentBackend {
  /** Published in root state. */
  readonly info: AgentInfo;
  /** Calls back when `info` changes: some backends learn their models only in a session. */
  whenInfoChanges?(changed: () => void): void;
  readonly abilities: AgentAbilities;
  /** The text of each prompt section, in order. Empty when there are none, or when `renderPrompt` gets them. */
  readonly sections: Readonly<Record<string, string>>;
  /** The names of its own tools, as far as it knows them by now. */
  ownToolNames?(): readonly string[];
  /** Takes a token for one of the protected resources in `info`. Throws an `AgentError` when the token is refused. */
  authenticate?(resource: string, token: string): Promise<void>;
  /** Forgets the token for this resource: it has run out, or its bringer took it back. */
  revoke?(resource: string): void;
  /** Assesses the risk of a call for the person who is asked about it. It decides nothing. Absent: nobody assesses. */
  judge?(call: JudgedCall, signal: AbortSignal, spent?: Spent): Promise<Judgement>;
  /** Makes a title for a session from its first exchange, by a small request of its own. Absent: the agent titles by itself. */
  titleFor?(exchange: FirstExchange, signal: AbortSignal, spent?: Spent): Promise<string>;
  /** Loads what its first turn needs, so that nobody waits for it then. The host calls it when it has started and is idle. */
  preload?(): Promise<void>;
  /** A stand-in that does the same with a model of its own. An idle host plays a turn with it: see `rehearsal.ts`. */
  understudy?(): Promise<Understudy>;
  /** Opens or resumes a session. Throws an `AgentError` when it cannot; the session then shows the reason. */
  open(context: AgentOpenContext): Promise<AgentSession>;
}

export interface Understudy {
  readonly agent: AgentBackend;
  /** Ends the model of its own. */
  close(): void;
}

/** What a title is made from. */
export interface FirstExchange {
  readonly message: string;
  readonly answer: string;
  /** The model that answered; undefined for the agent's default. */
  readonly model: string | undefined;
}

/** A call as the person who is asked sees it. */
export interface JudgedCall {
  readonly toolName: string;
  readonly question: string;
  /** Exactly the input that is shown. */
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
  /** The URI of the chat of the session that the agent works in. */
  readonly chat: string;
  /** A path on this machine. */
  readonly workingDirectory: string | undefined;
  readonly signal: AbortSignal;
  /** The last finished turns, oldest first. */
  history(last: number): Promise<Turn[]>;
  readonly memory: AgentMemory;
}

/** What an agent may keep with a session to find it again, as JSON: an id or two, no history. */
export const AGENT_MEMORY_MAX_CHARACTERS = 16 * 2 ** 10;

/** A small value that the host stores with the session, for the backend to find its own session again. */
export interface AgentMemory {
  /** The value that was set last, also by an earlier process of the host. */
  get(): unknown;
  /** Stores a JSON value of up to `AGENT_MEMORY_MAX_CHARACTERS`; undefined removes it. */
  set(value: unknown): void;
}

export interface AgentSession {
  /**
   * Runs one turn. Returning ends it as complete, throwing ends it as an error; an `AgentError` names its type. When
   * the signal fires, the turn is already cancelled: stop soon, and throw anything. The next turn may begin before this
   * one has returned, so a backend that runs one turn at a time lets the next one wait.
   */
  runTurn(turn: AgentTurn): Promise<void>;
  /** The turns after this one were cut off; without a turn, all of them. */
  truncated?(turnId: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** One turn, as the backend sees it. Its methods do nothing once the turn has ended. */
export interface AgentTurn {
  readonly id: string;
  readonly message: Message;
  readonly model: ModelSelection | undefined;
  readonly agent: AgentSelection | undefined;
  readonly workingDirectory: string | undefined;
  /** All folders that the turn may work in at this moment, the first of them being `workingDirectory`. */
  readonly workingDirectories: readonly string[];
  /** What the turn said and did before it was cut off, when it goes on in place; undefined when it begins. */
  readonly soFar?: readonly ResponsePart[] | undefined;
  readonly signal: AbortSignal;
  /** Streams text. Consecutive calls extend one part of the answer; anything in between starts a new part. */
  text(content: string): void;
  /** Streams thinking, in the same way. */
  reasoning(content: string): void;
  /** Shows a note in the turn. */
  notify(content: string): void;
  /** Shows the summary that stands for earlier turns in the agent's memory from now on. */
  compacted(compaction: Compaction): void;
  /**
   * Tells what the agent has used since `runTurn` was called, all in all: each report replaces the one before. `inputTokens`
   * include what came from a cache. `_meta` may hold what `UsageDetails` names.
   */
  usage(usage: UsageInfo): void;
  /** Names the session, unless a person has named it. */
  title(title: string): void;
  /** Shows the agent's list of tasks, the whole list each time; an empty one removes it. */
  plan(tasks: readonly PlannedTask[]): void;
  /** Shows what the agent is doing; undefined removes it. */
  activity(text: string | undefined): void;
  /** The tools for the model at this moment, with unique names: the host's, then those of the active client. */
  tools(): ToolDefinition[];
  /** Tells which of the backend's own tools are hidden from the model at this moment. */
  hiddenTools(): (toolName: string) => boolean;
  /** Runs a tool of the host or of the active client by its name. */
  callTool(call: ToolRequest): Promise<ToolOutcome>;
  /** Shows a call while the model is still writing its input. `callTool` is this with the whole input at once. */
  beginCall(call: CallStart): BegunCall;
  /** Shows a call that the backend runs itself. Gates and people decide about it like about any other. */
  agentRunCall(call: AgentRunCallStart): AgentRunCall;
  /** Shows a call whose result the backend knows beforehand. */
  scriptedTool(call: ScriptedToolCall): Promise<ToolOutcome>;
  /** Puts questions to a person and waits for the answers. */
  ask(request: ChatInputRequest): Promise<InputOutcome>;
  /**
   * The system prompt for the model, section by section, with the changes of plugins, providers and the client. A
   * backend whose own text is not in `sections` passes it in. The project's instructions are separate, because they are
   * not the agent's own text.
   */
  renderPrompt(
    pristine?: ReadonlyMap<string, string>,
    projectInstructions?: string,
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Opens a chat for a worker of one of this turn's calls, and runs a turn in it. Throws a `ToolFailure` when there are too
   * many workers. When the call or this turn is over first, the turn of the worker is cancelled.
   */
  openWorker(start: WorkerStart): OpenWorker;
  /** Text that the model reads beside the message of this turn, and that no client sees. */
  readonly context: readonly string[];
  /**
   * To be awaited before each request to the model: a person may have to say first whether the turn goes on. The host does so
   * before `runTurn` and before every tool call. Rejects when the turn is over.
   */
  nextStep(): Promise<void> | undefined;
  /**
   * To be awaited between pieces of a stream: while the host cannot store as fast as agents speak, the stream has to wait.
   * Undefined while it keeps up. Resolves also when the turn is over.
   */
  caughtUp(): Promise<void> | undefined;
  /** Takes the message that a person sent to steer this turn; undefined when there is none. */
  takeSteering(): Message | undefined;
}

/** A task on an agent's list. */
export interface PlannedTask {
  readonly text: string;
  readonly status: PlanStatus;
}

export interface WorkerStart {
  /** The call that it works for. */
  readonly toolCallId: string;
  /** What it does, in a few words. */
  readonly title: string;
  readonly prompt: string;
  /** The names of the tools that it may use; absent for all. */
  readonly tools?: readonly string[];
  /** Fires when the call is over before the turn is. */
  readonly signal?: AbortSignal;
  /** Does the work, for a backend that runs its workers itself. Absent: the backend opens the chat like any other. */
  run?(turn: AgentTurn): Promise<void>;
}

export interface OpenWorker {
  /** The URI of its chat, for `subagent` content of the call. */
  readonly chat: string;
  readonly ended: Promise<WorkerOutcome>;
}

export interface WorkerOutcome {
  readonly chat: string;
  readonly state: 'complete' | 'cancelled' | 'error';
  /** What it said in the end. */
  readonly text: string;
  /** Why it failed. */
  readonly error?: string;
}

export interface ToolRequest {
  /** Unique in the turn. The host makes one up when it is absent or already in use. */
  readonly id?: string;
  readonly name: string;
  /** The arguments, as an object or as JSON text. */
  readonly input: unknown;
}

export interface CallStart {
  /** Unique in the turn. The host makes one up when it is absent or already in use. */
  readonly id?: string;
  readonly name: string;
}

export interface BegunCall {
  readonly id: string;
  /** Shows more of the input, as the model writes it. */
  delta(text: string): void;
  /** The input is complete: asks gates and people, then runs the tool. */
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
  /** The input is complete: asks the gates. When they deny, the call is over, and the model gets the reason. */
  check(input: unknown, invocationMessage: string): Promise<Permit>;
  /** Instead of `check`, for a call that runs already and cannot be stopped. */
  shown(input: unknown, invocationMessage: string): void;
  /** Asks a person, unless they have allowed such calls before. Without this, the call runs unasked. */
  confirm(confirmation: ToolConfirmation): Promise<Permit>;
  progress(content: ToolResultContent[]): void;
  complete(result: ToolCallResult): Promise<ToolOutcome>;
}

/** `option` is the button that a person chose, if there were buttons. */
export type Permit =
  /** `input` is set when a person changed it. */
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
      /** The output for the model; of a long one its beginning and its end. */
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
