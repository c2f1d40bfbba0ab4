/** A tool that the host itself can run, and what such a tool gets to work with. */
import {
  alwaysScope,
  type ChatInputRequest,
  type ConfirmationOption,
  type FileEdit,
  type McpAuthRequirement,
  type ToolDefinition,
  type ToolResultContent,
} from '@atrium/protocol/ahp-1';
import type { ProcessEnd, ProcessRequest } from '../util/run-process.js';

export { ToolFailure } from '../util/tool-failure.js';

/** How long a tool's command may take to end by itself before it is killed. */
export const SHELL_GRACE_MS = 750;
/** How much of a command's output is shown and stored: its end. */
export const SHELL_OUTPUT_MAX_BYTES = 256 * 1024;

import type { InputOutcome, OpenWorker, PlannedTask, WorkerStart } from './agent.js';

export interface HostTool {
  readonly definition: ToolDefinition;
  readonly displayName: string;
  /**
   * The extension that added it to the session; absent for the host's own. A permission for one owner covers no other.
   */
  readonly owner?: string;
  /** Tells apart programs that use the same owner's name one after another. */
  readonly identity?: string;
  /** The customization of the MCP server that offers the tool. */
  readonly customizationId?: string;
  /** Metadata for each of its calls, for clients that know the keys. */
  readonly callMeta?: Readonly<Record<string, unknown>>;
  /** It starts workers, so it is not offered to workers that may start none. */
  readonly startsWorkers?: boolean;
  /** How long a call may run. Without a timeout, the tool itself decides. */
  readonly timeoutMs?: number;
  /** What the call is about to do: "Read parser.ts". */
  invocationMessage(input: unknown): string;
  /** What to ask a person first; undefined when the tool may run without a question. */
  confirmation?(input: unknown): ToolConfirmation | undefined;
  /** Looks ahead before a person is asked: what would change, or why the call would fail anyway. */
  preview?(input: unknown, context: PreviewContext): Promise<ToolPreview>;
  run(input: unknown, context: ToolContext): Promise<ToolOutput>;
}

export interface ToolContext {
  /** The session's folder, as a path on this machine; absent when the session has none. */
  readonly cwd: string | undefined;
  /** All folders in which the tool may work, `cwd` first. Absent: only `cwd`. */
  readonly folders?: readonly string[];
  readonly signal: AbortSignal;
  /** Shows output while the tool runs. It replaces earlier output. */
  progress(content: ToolResultContent[]): void;
  /** Asks a person questions and waits; absent outside of a session. */
  ask?(request: ChatInputRequest): Promise<InputOutcome>;
  /**
   * Shows that the call waits for a person to sign in to the tool's MCP server, until `signedIn` settles. The tool's
   * timeout is suspended meanwhile. Absent outside of a session.
   */
  signIn?(auth: McpAuthRequirement, signedIn: Promise<void>): Promise<void>;
  /** Shows the agent's task list; absent outside of a turn. */
  plan?(tasks: readonly PlannedTask[]): void;
  /** The inputs of this tool's earlier successful calls, newest first: a tool's memory is the session itself. */
  earlier?(): Iterable<unknown>;
  /** The whole text of an earlier call's result, by the call's id; absent outside of a session. */
  result?(callId: string): Promise<string | undefined>;
  /** A content that a message of the chat names, by its URI; absent outside of a session. */
  attachment?(uri: string): Promise<Buffer | undefined>;
  /** The URI of the call's session; absent outside of a session. */
  readonly session?: string;
  /** The option that the person chose, if one was asked and chose one. */
  readonly option?: string;
  /** The data on which the tool's preview was based, if a person was asked. */
  readonly basis?: unknown;
  /** Stores what the call's command does while it runs; absent without a log. */
  readonly running?: RunningCommand;
  /** Starts a worker for this call, in a chat of its own; absent without an agent that can do that. */
  openWorker?(start: Pick<WorkerStart, 'title' | 'prompt' | 'tools'>): OpenWorker;
  /** Runs a command in a terminal that people can watch; absent on a host without terminals. */
  readonly runInTerminal?: RunInTerminal;
  /** Commands that go on while the agent does other things; absent on a host without terminals. */
  readonly background?: BackgroundPort;
}

export interface ToolOutput {
  readonly success: boolean;
  /** What the call did, in a few words: "Read parser.ts". */
  readonly pastTenseMessage: string;
  readonly content: ToolResultContent[];
  /** The same for programs. */
  readonly structuredContent?: Record<string, unknown>;
  readonly error?: { message: string; code?: string };
}

export type PreviewContext = Pick<ToolContext, 'cwd' | 'folders' | 'signal'>;

export type ToolPreview =
  | { readonly kind: 'edits'; readonly edits: FileEdit[]; readonly basis?: unknown }
  /** The call ends here: no person is asked, and nothing runs. */
  | { readonly kind: 'failed'; readonly output: ToolOutput };

/** The option that lets a tool run without asking for the rest of the session. */
export const ALLOW_IN_SESSION = 'allow-session';

/** An agent's option that may apply to later calls, too. Only the owner may choose it. */
export interface LastingOption extends ConfirmationOption {
  readonly lasting?: boolean;
}

export function isLasting(option: LastingOption): boolean {
  return option.lasting === true || option.id === ALLOW_IN_SESSION || alwaysScope(option.id) !== undefined;
}

export interface ToolConfirmation {
  readonly title: string;
  readonly editable?: boolean;
  readonly options?: ConfirmationOption[];
  /** What would change. */
  readonly edits?: FileEdit[];
  /** Only a person can answer: no rule and no mode does. */
  readonly isForPerson?: boolean;
}

/** The host's tool with which a model reads stored results in pieces. */
export const READ_FILE_TOOL = 'read_file';

/**
 * A running command, as the log knows it. After a crash, the restarted host learns from it what became of the command.
 */
export interface RunningCommand {
  /** Variables for every process of the command: a restarted host finds by them what still runs. */
  environment(): Readonly<Record<string, string>>;
  /** Takes raw output. */
  output(text: string): void;
  /** Stores the output taken so far, together with everything else written in this tick. */
  store(): void;
}

/** Runs a command in a terminal. Resolves with undefined, without having run it, when no terminal can be made. */
export type RunInTerminal = (request: TerminalRequest) => Promise<TerminalRun | undefined>;

export interface TerminalRequest extends Omit<ProcessRequest, 'args' | 'env' | 'input' | 'started'> {
  /** True when a person types; otherwise the command has no input, as with pipes. */
  readonly interactive: boolean;
  /** Stores what the terminal shows before clients see it. */
  readonly running?: RunningCommand | undefined;
  /** Called when the terminal exists, so that clients can be told where to look. */
  shown(terminal: { readonly resource: string; readonly title: string }): void;
}

export type TerminalRun =
  | ProcessEnd
  /** The command goes on without the tool: a person has put it into the background, or taken the terminal. */
  | { readonly kind: 'detached'; readonly isTaken: boolean };

/** A command that a model started in the background. */
export interface BackgroundCommand {
  readonly id: string;
  readonly command: string;
  readonly startedAt: number;
  /** The terminal in which people see it. */
  readonly terminal: string;
  /** How many characters of output it has produced. */
  readonly mark: number;
  readonly end?: { readonly code: number; readonly signal?: string };
}

export interface BackgroundOutput extends BackgroundCommand {
  readonly text: string;
  /** The mark after the text. */
  readonly next: number;
  /** Characters after the given mark that are no longer kept. */
  readonly lost: number;
}

/** The background commands of one session. Throws a `ToolFailure` for an unknown id. */
export interface BackgroundPort {
  start(request: { readonly command: string; readonly cwd: string }): Promise<BackgroundCommand>;
  list(): readonly BackgroundCommand[];
  /** If there is no new output yet, waits for more, or for the end. */
  read(
    id: string,
    options: { readonly since?: number; readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<BackgroundOutput>;
  stop(id: string): Promise<BackgroundCommand>;
}
