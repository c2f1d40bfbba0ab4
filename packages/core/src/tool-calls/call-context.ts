/** The ports of a tool call: what it needs from its turn, its session and the host. `core/sessions` implements them. */
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
  /** The URI of the turn's chat. */
  readonly chat: string;
  readonly turnId: string;
  readonly workingDirectory: string | undefined;
  /** All folders of the turn at this moment: people may remove one. */
  readonly workingDirectories: readonly string[];
  /** Aborts when the turn is over. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: TelemetryReports;
  readonly extensions: CallExtensions;
  readonly permissions: CallPermissions;
  /** Stores large results; undefined when the host has no folder for them. */
  readonly blobs: BlobStore | undefined;
  /** How many characters of one result a model reads. */
  readonly outputMaxCharacters: number;

  /** The live state, with every action written so far. */
  readonly state: ChatState;
  /** The stored state, which clients see. */
  readonly stored: ChatState;
  /** Writes an action of this turn; drops it if the turn is over. */
  write(action: ChatAction): void;
  /** Finds a call of this turn; undefined when the turn is not running in that state. */
  call(toolCallId: string, state?: ChatState): ToolCallState | undefined;
  /** Waits until `find` finds something in the stored state. Rejects when the turn is over. */
  waitFor<T>(topic: WaitTopic, find: Find<T>): Promise<T>;

  /** Assesses the risk of a call; undefined when the backend cannot. */
  readonly judge: AgentBackend['judge'];
  /** Holds the call back while a person decides whether the turn goes on. Rejects when the turn is over. */
  nextStep(): Promise<void> | undefined;
  /** Makes later text of the agent a new part. */
  interruptText(): void;
  /** Shows a note in the turn. */
  notify(note: string): void;
  ask(request: ChatInputRequest): Promise<InputOutcome>;
  openWorker(start: WorkerStart): OpenWorker;
  /** Shows the agent's task list. */
  plan(tasks: readonly PlannedTask[]): void;
  isConnected(clientId: string): boolean;
  /** The connected active clients, with the one that started the turn first. */
  activeClients(): readonly SessionActiveClient[];
  /** The newest of the turns that are no longer in memory, oldest first, at most `last`. */
  unloadedTurns(last: number): Promise<readonly Turn[]>;
  runningCommand(toolCallId: string): StoredCommand;
  /** What services of the host add to a tool's context. */
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
  /** Decides synchronously if nothing has to be looked up. */
  decide(call: AskedCall): CallDecision | Promise<CallDecision>;
  /** Stores rules exactly as they were shown. Throws an error for people when that fails. */
  write(scope: WritableScope, effect: RuleEffect, rules: readonly string[], folders: readonly string[]): Promise<void>;
}

/** A call, as rules see it. */
export interface AskedCall {
  readonly tool: CalledTool;
  readonly input: unknown;
  /** Who runs the tool. `host`: the host itself; `agent`: the agent; `other`: an extension or a client. */
  readonly runs: 'host' | 'agent' | 'other';
  /** The tool is marked as changing nothing. */
  readonly isReadOnly: boolean;
  /** A person is asked unless a rule decides, so a rule can be proposed. */
  readonly isAskedAnyway: boolean;
  readonly folders: readonly string[];
}

export interface CallDecision {
  readonly effect: RuleEffect | 'none';
  /** What the call records about it. */
  readonly permission?: CallPermission | undefined;
  /** Why the call is denied. */
  readonly reason?: string;
  /** The rules that "always allow" would write, and the options that write them. */
  readonly proposes: readonly string[];
  readonly options: readonly ConfirmationOption[];
}

export interface AllowedTool {
  /** The extension that offers the tool; absent for the host's own. A permission for one owner covers no other. */
  readonly owner?: string | undefined;
  /** Tells apart programs that use the same owner's name one after another. */
  readonly identity?: string | undefined;
  readonly name: string;
}

/** The actions that wake a waiting call: those about the call, and on request those about no call. */
export interface WaitTopic {
  readonly toolCallId: string;
  readonly alsoSession?: boolean;
}

/** Looks at the stored state, and at the action just stored, if there is one. */
export type Find<T> = (state: ChatState, action?: StateAction) => T | undefined;

export interface StoredCommand extends RunningCommand {
  /** Removes the command's records: the call has a result now. */
  forget(): void;
}
