/** Tools as an author writes them, and what they may answer with. */
import type { ProviderFileReference, ProviderJsonObject, ProviderToolDefinition } from '@atrium/protocol/provider';

export interface ToolContext {
  /** Fires when nobody wants the result any more: cancelled, timed out, connection lost. */
  readonly signal: AbortSignal;
  /** The session whose model calls. */
  readonly sessionId: string;
  /** Tells the person who waits how far it is. */
  progress(message: string): void;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

export interface Tool {
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** A JSON Schema of the arguments. Without it the tool takes none. */
  readonly parameters?: ProviderJsonObject;
  /** The gateway cancels the call after this long; a minute when absent. */
  readonly timeoutMs?: number;
  /**
   * Anything that JSON can say is a result; `undefined` is null. Throw to fail: a `ToolError` with a code of your
   * choice, anything else as INTERNAL with its message. A method, so that you may say what shape your arguments have.
   */
  run(args: ToolArguments, context: ToolContext): unknown;
}

export type Tools = Readonly<Record<string, Tool>>;

export function toolDefinition(name: string, { description, parameters, timeoutMs }: Tool): ProviderToolDefinition {
  return { name, description, parameters: parameters ?? {}, ...(timeoutMs !== undefined && { timeout: timeoutMs }) };
}

/** A result that lies in a file, made by `fileResult`. */
export class FileResult {
  readonly file: ProviderFileReference;

  constructor(file: ProviderFileReference) {
    this.file = file;
  }
}

/** How long the gateway has for reading the file, unless you say otherwise. */
export const FILE_TTL_DEFAULT_SECONDS = 300;

/** Answers with a file in `persistDir`, for results over 5 MB. Not for paired providers. */
export function fileResult(file: Omit<ProviderFileReference, 'ttl'> & { readonly ttl?: number }): FileResult {
  return new FileResult({ ttl: FILE_TTL_DEFAULT_SECONDS, ...file });
}
