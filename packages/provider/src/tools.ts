/** Tools as an author writes them, and the calls that run here. */
import {
  type ProviderFileReference,
  type ProviderJsonObject,
  type ProviderToolCallMessage,
  type ProviderToolCancelMessage,
  type ProviderToolDefinition,
  type ProviderToolResultMessage,
  TOOL_RESULT_MAX_BYTES,
  ToolErrorCode,
} from '@atrium/protocol/provider';
import { messageOf, ToolError } from './errors.js';

export interface ToolContext {
  /** Fires when the result is no longer wanted: cancelled, timed out, connection lost. */
  readonly signal: AbortSignal;
  /** The session whose model calls. */
  readonly sessionId: string;
  /** Shows progress to the waiting person. */
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

interface ToolCallsOptions {
  tool(name: string): Tool | undefined;
  /** Sends a message that is JSON already. */
  send(text: string): void;
}

/** Tool calls that run here. Each gets exactly one answer: its result, its error, or its cancellation. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #running = new Map<string, AbortController>();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  async call({ id, sessionId, tool: name, args }: ProviderToolCallMessage): Promise<void> {
    const controller = new AbortController();
    this.#running.set(id, controller);
    const progress = (message: string) => {
      if (this.#running.has(id)) this.#options.send(JSON.stringify({ type: 'tool.progress', id, message }));
    };
    try {
      const tool = this.#options.tool(name);
      if (!tool) throw new ToolError(ToolErrorCode.NotFound, `there is no tool ${name}`);
      const result = await tool.run(args, { signal: controller.signal, sessionId, progress });
      this.#answer(id, successText(id, result));
    } catch (error) {
      this.#answer(id, failureText(id, error));
    }
  }

  /** Answers the gateway immediately, which frees the slot of the call; the tool may take its time to stop. */
  cancel({ id, reason }: ProviderToolCancelMessage): void {
    const controller = this.#running.get(id);
    this.#answer(id, failureText(id, new ToolError(ToolErrorCode.Cancelled, `cancelled: ${reason}`)));
    controller?.abort(new ToolError(ToolErrorCode.Cancelled, reason));
  }

  /** Aborts every call: no answer can be delivered. */
  abandon(why: string): void {
    const controllers = [...this.#running.values()];
    this.#running.clear();
    for (const controller of controllers) controller.abort(new ToolError(ToolErrorCode.Disconnected, why));
  }

  #answer(id: string, text: string): void {
    if (this.#running.delete(id)) this.#options.send(text);
  }
}

function successText(id: string, result: unknown): string {
  const answer = result instanceof FileResult ? { file: result.file } : { data: result ?? null };
  const text = JSON.stringify({ type: 'tool.result', id, ...answer });
  const bytes = bytesOf(text);
  if (bytes <= TOOL_RESULT_MAX_BYTES) return text;
  throw new Error(`the result has ${bytes} bytes, more than ${TOOL_RESULT_MAX_BYTES}: send less, or leave a file`);
}

function failureText(id: string, error: unknown): string {
  const isOurs = error instanceof ToolError;
  const failure: ProviderToolResultMessage = {
    type: 'tool.result',
    id,
    error: messageOf(error) || 'failed without a reason',
    errorCode: isOurs ? error.code : ToolErrorCode.Internal,
    ...(isOurs && error.retryable && { retryable: true }),
  };
  return JSON.stringify(failure);
}

/** A character has at most three bytes, so most texts need not be counted. */
function bytesOf(text: string): number {
  return text.length * 3 <= TOOL_RESULT_MAX_BYTES ? text.length : new TextEncoder().encode(text).length;
}
