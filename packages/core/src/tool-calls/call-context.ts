/** The ports of a tool call: what it needs of its turn, its session and the host. `core/sessions` implements them. */
import type {
  CallPermission,
  ChatAction,
  ChatInputRequest,
  ChatState,
  ConfirmationOption,
  RuleEffect,
  SessionActiveClient,
  StateAction,
  ToolCallState,
  Turn,
  WritableScope,
} from '@atrium/protocol/ahp-1';
import type { AgentBackend, InputOutcome, OpenWorker, PlannedTask, WorkerStart } from '../contracts/agent.js';
import type { BlobStore } from '../contracts/blobs.js';
import type { Extension, Gate } from '../contracts/extension.js';
import type { TelemetryReports } from '../contracts/telemetry.js';
import type { HostTool, RunningCommand, ToolContext } from '../contracts/tool.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import type { CalledTool } from './shown-call.js';

export interface CallContext {
  /** The URI of the session. */
  readonly session: string;
  /** The URI of the chat that the turn is in. */
  readonly chat: string;
  readonly turnId: string;
  readonly workingDirectory: string | undefined;
  /** All folders of the turn at this moment: people may take one away. */
  readonly workingDirectories: readonly string[];
  /** Fires when the turn is over. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: TelemetryReports;
  readonly extensions: CallExtensions;
  readonly permissions: CallPermissions;
  /** Where large results are stored; undefined on a host without a folder for them. */
  readonly blobs: BlobStore | undefined;
  /** How many characters of one result a model reads. */
  readonly outputMaxCharacters: number;

  /** The state with every action that was written so far. */
  readonly state: ChatState;
  /** The state as it is stored, and as clients see it. */
  readonly stored: ChatState;
  /** Writes an action of this turn; drops it when the turn is over. */
  write(action: ChatAction): void;
  /** A call of this turn; undefined when the turn is not running in that state. */
  call(toolCallId: string, state?: ChatState): ToolCallState | undefined;
  /** Waits until `find` finds something in the stored state. Rejects when the turn is over. */
  waitFor<T>(topic: WaitTopic, find: Find<T>): Promise<T>;

  /** Assesses the risk of a call; undefined when nobody does. */
  readonly judge: AgentBackend['judge'];
  /** Holds the call back when a person has to say first whether the turn goes on. Rejects when the turn is over. */
  nextStep(): Promise<void> | undefined;
  /** Text that the agent says from now on is a new part. */
  interruptText(): void;
  /** Shows a note in the turn. */
  notify(note: string): void;
  ask(request: ChatInputRequest): Promise<InputOutcome>;
  openWorker(start: WorkerStart): OpenWorker;
  /** Shows the agent's list of tasks. */
  plan(tasks: readonly PlannedTask[]): void;
  isConnected(clientId: string): boolean;
  /** The active clients that are connected; the one that started the turn comes first. */
  activeClients(): readonly SessionActiveClient[];
  /** At most so many of the newest turns that are no longer in memory, oldest first. */
  unloadedTurns(last: number): Promise<readonly Turn[]>;
  runningCommand(toolCallId: string): StoredCommand;
  /** What services of the host add to the context of a tool. */
  toolContext(toolCallId: string): Partial<ToolContext>;
}

export interface CallExtensions {
  all(): readonly Extension[];
  gates(): readonly Gate[];
  tools(): readonly HostTool[];
  hidden(chat: string): (toolName: string) => boolean;
}

/** What is allowed in the session: by rules, by its mode, and by a person for the rest of it. */
export interface CallPermissions {
  /** Allows a tool for the rest of the session. */
  add(tool: AllowedTool): void;
  /** At once where nothing has to be looked up. */
  decide(call: AskedCall): CallDecision | Promise<CallDecision>;
  /** Writes rules as they were shown. Throws an error for people when they cannot be stored. */
  write(scope: WritableScope, effect: RuleEffect, rules: readonly string[], folders: readonly string[]): Promise<void>;
}

/** A call, as rules look at it. */
export interface AskedCall {
  readonly tool: CalledTool;
  readonly input: unknown;
  /** `host`: a tool of the host itself. `agent`: of an agent that runs it. `other`: of an extension or a client. */
  readonly runs: 'host' | 'agent' | 'other';
  /** The tool is marked as changing nothing. */
  readonly isReadOnly: boolean;
  /** Without a rule a person is asked, so that a rule can be proposed. */
  readonly isAskedAnyway: boolean;
  readonly folders: readonly string[];
}

export interface CallDecision {
  readonly effect: RuleEffect | 'none';
  /** For the record of the call. */
  readonly permission?: CallPermission | undefined;
  /** Why it is denied. */
  readonly reason?: string;
  /** The rules that "always allow" would write, and the options that do. */
  readonly proposes: readonly string[];
  readonly options: readonly ConfirmationOption[];
}

export interface AllowedTool {
  /** The extension whose tool it is; absent for the host's own. A permission counts for no other owner. */
  readonly owner?: string | undefined;
  /** Tells apart programs that use the name of one owner, one after the other. */
  readonly identity?: string | undefined;
  readonly name: string;
}

/** Which actions wake a waiting call: those about the call, and those about no call at all where it asks for them. */
export interface WaitTopic {
  readonly toolCallId: string;
  readonly alsoSession?: boolean;
}

/** Looks at the stored state, and at the action that led to it unless that was stored earlier. */
export type Find<T> = (state: ChatState, action?: StateAction) => T | undefined;

export interface StoredCommand extends RunningCommand {
  /** Removes the command from the log: the call has a result now. */
  forget(): void;
}
