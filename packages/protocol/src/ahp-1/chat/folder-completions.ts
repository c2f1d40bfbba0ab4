/** Completions of a message before its session exists, in the folder in which the session would work. */
import type { CompletionItem } from './commands.js';

export const FOLDER_COMPLETIONS_METHOD = 'atrium/completions';

export interface FolderCompletionsParams {
  /** The URI of the folder. */
  readonly workingDirectory: string;
  readonly text: string;
  /** The caret, in UTF-16 units. */
  readonly offset: number;
}

/** Prompts of MCP servers are not among them: their servers start with the session. */
export interface FolderCompletions {
  readonly items: readonly CompletionItem[];
}
