/**
 * What an agent backend is to the host. A backend describes itself, opens sessions and runs turns. Everything it wants
 * to show or do goes through the `AgentTurn` it is given: it never touches channels, sockets or the log.
 */
import type {
  AgentInfo,
  AgentSelection,
  ModelSelection,
  SessionInputAnswer,
  SessionInputRequest,
  SessionInputResponseKind,
  ToolCallResult,
  ToolDefinition,
  ToolResultContent,
  Turn,
  UsageInfo,
  UserMessage,
} from '@atrium/protocol';
import type { ToolConfirmation } from './tool.js';

/** How much of each ability a backend has, as data, so that the host can tell clients and providers the truth. */
export interface AgentAbilities {
  readonly tools: 'live' | 'next-turn' | 'at-open';
  readonly toolIntent: 'all' | 'host-run' | 'on-request';
  readonly render: 'sections' | 'append' | 'preface' | 'none';
  readonly steer: boolean;
  readonly cancelTool: boolean;
  /** It brings tools for files and commands of its own, so the host's are not offered to it. */
  readonly ownTools?: boolean;
  /** Something of it runs between turns: a session that rests closes it, and opens it again with the next turn. */
  readonly ownProcess?: boolean;
}

export interface AgentBackend {
  /** Published in root state. */
  readonly info: AgentInfo;
  /** Calls back whenever `info` is another one: some backends learn only at work which models they have. */
  whenInfoChanges?(changed: () => void): void;
  readonly abilities: AgentAbilities;
  /** The pristine text of each prompt section, in order; empty when there are none, or when a render hands them in. */
  readonly sections: Readonly<Record<string, string>>;
  /** The tools that it brings itself, as far as it knows by now; they may be the only ones that somebody means. */
  ownToolNames?(): readonly string[];
  /**
   * A token for one of the protected resources in `info`, for all that is asked of it from now on. Throws an `AgentError`
   * when the token is refused.
   */
  authenticate?(resource: string, token: string): Promise<void>;
  /** Opens or resumes a session. Throws an `AgentError` when that cannot be done; the session then shows why. */
  open(context: AgentOpenContext): Promise<AgentSession>;
}

export interface AgentOpenContext {
  readonly session: string;
  /** As a path on this machine. */
  readonly workingDirectory: string | undefined;
  readonly signal: AbortSignal;
  /** The last finished turns, oldest first: what a resumed session already said. */
  history(last: number): Promise<Turn[]>;
  readonly memory: AgentMemory;
}

/** What an agent may keep with a session to find it again, as JSON: an id or two, no history. */
export const AGENT_MEMORY_MAX_CHARACTERS = 16 * 2 ** 10;

/** A small place of the backend's own, kept with the session: the host may start anew, or the session leave memory. */
export interface AgentMemory {
  /** What was put there last, in this process or before it; undefined when there is nothing. No client ever sees it. */
  get(): unknown;
  /** Puts a small value of JSON there; undefined takes it away. */
  set(value: unknown): void;
}

export interface AgentSession {
  /**
   * Runs one turn. Returning ends it as complete, throwing as an error (an `AgentError` names its type). When the
   * signal fires the turn has been cancelled already: stop soon, whatever is thrown then is ignored. The next turn may
   * begin before this has returned; a backend that cannot do two things at once lets it wait.
   */
  runTurn(turn: AgentTurn): Promise<void>;
  /** History after this turn was cut off; without one, all of it. */
  truncated?(turnId: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** One turn, as the backend sees it. Calls after the turn has ended do nothing. */
export interface AgentTurn {
  readonly id: string;
  readonly message: UserMessage;
  readonly model: ModelSelection | undefined;
  readonly agent: AgentSelection | undefined;
  readonly workingDirectory: string | undefined;
  readonly signal: AbortSignal;
  /** Streams text. Consecutive calls grow one markdown part; anything else in between starts a new one. */
  text(content: string): void;
  /** Streams thinking, likewise. */
  reasoning(content: string): void;
  /** A note to person and agent. */
  notify(content: string): void;
  usage(usage: UsageInfo): void;
  /** Names the session, unless a person has. */
  title(title: string): void;
  activity(text: string | undefined): void;
  /** The tools that the model is told of now, each by a name of its own: the host's, then those of the active client. */
  tools(): ToolDefinition[];
  /** Which tools the model is not to hear of now: for those that the backend itself brings. */
  hiddenTools(): (toolName: string) => boolean;
  /** Runs a tool by name: one of the host's, or one of the active client's. */
  callTool(call: ToolRequest): Promise<ToolOutcome>;
  /** Shows a call while the model is still writing its input; `callTool` does both at once. */
  beginCall(call: CallStart): BegunCall;
  /** Shows a call of a tool that the backend runs itself. Gates and people have their say, as for any other. */
  ownCall(call: OwnCallStart): OwnCall;
  /** Shows a call whose result the backend already knows. */
  cannedTool(call: CannedToolCall): Promise<ToolOutcome>;
  /** Puts questions to a person and waits. */
  ask(request: SessionInputRequest): Promise<InputOutcome>;
  /**
   * The system prompt as it goes to the model, section by section in order. A backend that learns its pristine text only
   * now hands it in; what the project asks of agents comes apart from it, for the agent did not write that.
   */
  renderPrompt(
    pristine?: ReadonlyMap<string, string>,
    projectInstructions?: string,
  ): Promise<ReadonlyMap<string, string>>;
  /** What the model is to know beside the message of this turn, and nobody else is to see. */
  readonly context: readonly string[];
  /** The message a person sent to steer this turn, once; undefined when there is none. */
  takeSteering(): UserMessage | undefined;
}

export interface ToolRequest {
  /** Unique in the turn; made up when absent, or when another call has it already. */
  readonly id?: string;
  readonly name: string;
  /** The arguments, as an object or as JSON text. */
  readonly input: unknown;
}

export interface CallStart {
  /** Unique in the turn; made up when absent, or when another call has it already. */
  readonly id?: string;
  readonly name: string;
}

export interface BegunCall {
  readonly id: string;
  /** More of the input, as the model writes it. */
  delta(text: string): void;
  /** The input is complete: the call goes its way. */
  run(input: unknown): Promise<ToolOutcome>;
  /** The call cannot be run at all, and why. */
  fail(message: string): Promise<ToolOutcome>;
}

export interface OwnCallStart extends CallStart {
  readonly displayName: string;
}

/** A call that the backend runs: `check` (or `shown`), perhaps `confirm`, then `complete`, in this order. */
export interface OwnCall {
  readonly id: string;
  delta(text: string): void;
  /** The input is complete. Denied: the call is over, and the reason is meant for the model. */
  check(input: unknown, invocationMessage: string): Promise<Permit>;
  /** Instead of `check`, where the call runs already and cannot be stopped: it is only shown. */
  shown(input: unknown, invocationMessage: string): void;
  /** Asks a person, unless that is settled already. Without it, the call just runs. */
  confirm(confirmation: ToolConfirmation): Promise<Permit>;
  progress(content: ToolResultContent[]): void;
  complete(result: ToolCallResult): Promise<ToolOutcome>;
}

/** `option` is the button that a person chose, where there were some. */
export type Permit =
  /** The input is as the person left it, when they changed it. */
  | { readonly kind: 'granted'; readonly input?: unknown; readonly option?: string }
  | { readonly kind: 'denied'; readonly reason: string; readonly option?: string };

export interface CannedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly pastTenseMessage: string;
  readonly input?: string;
  readonly output: string;
  readonly success: boolean;
  /** Ask a person before the call "runs". */
  readonly confirm?: boolean;
}

export type ToolOutcome =
  | {
      readonly kind: 'completed';
      readonly success: boolean;
      /** For the model: of a long output its beginning and its end. */
      readonly text: string;
      readonly content: ToolResultContent[];
      /** Under which id the session has the call, with the whole of its result. */
      readonly callId?: string;
    }
  /** A person, or a rule, said no. The reason is meant for the model. */
  | { readonly kind: 'denied'; readonly reason: string };

export interface InputOutcome {
  readonly response: SessionInputResponseKind;
  readonly answers: Readonly<Record<string, SessionInputAnswer>>;
}

/** A failure with a type that clients can tell apart. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  constructor(
    readonly errorType: string,
    message: string,
  ) {
    super(message);
  }
}
