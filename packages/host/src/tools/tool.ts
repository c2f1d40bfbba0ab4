/** A tool that the host itself can run. */
import type { ConfirmationOption, ToolDefinition, ToolResultContent } from '@atrium/protocol';

export interface ToolContext {
  /** The session's folder, as a path on this machine; absent when the session has none. */
  readonly cwd: string | undefined;
  readonly signal: AbortSignal;
  /** Shows output while the tool runs; replaces what was shown before. */
  progress(content: ToolResultContent[]): void;
}

export interface ToolOutput {
  readonly success: boolean;
  /** What the call did, in a few words: "Read parser.ts". */
  readonly pastTenseMessage: string;
  readonly content: ToolResultContent[];
  readonly error?: { message: string; code?: string };
}

export interface HostTool {
  readonly definition: ToolDefinition;
  readonly displayName: string;
  /** What the call is about to do: "Read parser.ts". */
  invocationMessage(input: unknown): string;
  /** What to ask a person first; undefined when the tool may just run. */
  confirmation?(input: unknown): ToolConfirmation | undefined;
  run(input: unknown, context: ToolContext): Promise<ToolOutput>;
}

/** The option that lets a tool run without asking for the rest of the session. */
export const ALLOW_IN_SESSION = 'allow-session';

export interface ToolConfirmation {
  readonly title: string;
  readonly editable?: boolean;
  readonly options?: ConfirmationOption[];
}
