/** A tool that the host itself can run. */
import type {
  ConfirmationOption,
  FileEdit,
  SessionInputRequest,
  ToolDefinition,
  ToolResultContent,
} from '@atrium/protocol';
import type { RunInTerminal } from '../../workspace/tools/run-in-terminal.js';
import type { InputOutcome } from './agent.js';

export interface ToolContext {
  /** The session's folder, as a path on this machine; absent when the session has none. */
  readonly cwd: string | undefined;
  readonly signal: AbortSignal;
  /** Shows output while the tool runs; replaces what was shown before. */
  progress(content: ToolResultContent[]): void;
  /** Puts questions to a person and waits; absent where there is nobody to ask. */
  ask?(request: SessionInputRequest): Promise<InputOutcome>;
  /** The inputs of this tool's successful calls before, newest first: what a tool remembers is in the session itself. */
  earlier?(): Iterable<unknown>;
  /** The whole text of an earlier call's result, by the id of the call; absent outside of a session. */
  result?(callId: string): Promise<string | undefined>;
  /** The session that the call belongs to; absent outside of one. */
  readonly session?: string;
  /** What its own look ahead was based on, where a person was asked. */
  readonly basis?: unknown;
  /** Has the log hold what a command of this call does while it runs; absent where there is no log. */
  readonly running?: RunningCommand;
  /** Runs a command where people can watch it; absent where there are no terminals. */
  readonly runInTerminal?: RunInTerminal;
}

/** A command as the log knows it while it runs: what a restarted host says about it, after a crash, comes from there. */
export interface RunningCommand {
  /** Variables that every process of the command must have: a restarted host finds by them what still runs. */
  environment(): Readonly<Record<string, string>>;
  /** Takes in output, raw. */
  output(text: string): void;
  /** Stores what was taken in, together with everything else that is written in this tick. */
  store(): void;
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

export interface HostTool {
  readonly definition: ToolDefinition;
  readonly displayName: string;
  /** Who added it to the session; absent for the host's own. What a person allowed counts for one owner only. */
  readonly owner?: string;
  /** Tells apart those who may come under the name of one owner, one after the other. */
  readonly identity?: string;
  /** Goes along with every call of it, for clients that know the keys. */
  readonly callMeta?: Readonly<Record<string, unknown>>;
  /** How long a call may run; without one, as long as the tool itself allows. */
  readonly timeoutMs?: number;
  /** What the call is about to do: "Read parser.ts". */
  invocationMessage(input: unknown): string;
  /** What to ask a person first; undefined when the tool may just run. */
  confirmation?(input: unknown): ToolConfirmation | undefined;
  /** Looks ahead before a person is asked: what would change, or why the call would fail anyway. */
  preview?(input: unknown, context: PreviewContext): Promise<ToolPreview>;
  run(input: unknown, context: ToolContext): Promise<ToolOutput>;
}

export type PreviewContext = Pick<ToolContext, 'cwd' | 'signal'>;

export type ToolPreview =
  | { readonly kind: 'edits'; readonly edits: FileEdit[]; readonly basis?: unknown }
  /** The call is over: nobody is asked, and nothing runs. */
  | { readonly kind: 'failed'; readonly output: ToolOutput };

/** The option that lets a tool run without asking for the rest of the session. */
export const ALLOW_IN_SESSION = 'allow-session';

export interface ToolConfirmation {
  readonly title: string;
  readonly editable?: boolean;
  readonly options?: ConfirmationOption[];
  /** What would change. */
  readonly edits?: FileEdit[];
}

/** Says why a tool cannot do what it was asked to, in words for a person or a model. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
