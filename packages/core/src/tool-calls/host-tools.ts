/** Calls of tools that the host runs: its own, and those of extensions. */
import type { ChatState, ResponsePart, ToolCallResult, ToolDefinition } from '@atrium/protocol/ahp-1';
import type { HostTool, ToolContext, ToolOutput } from '../contracts/tool.js';
import { type HoldTime, withDeadline } from '../util/waiting.js';
import { parsedInput } from './arguments.js';
import type { CallContext, StoredCommand } from './call-context.js';
import { storedResult } from './results.js';
import { failureOf, type Preview, type Ran, type Stages, type ToolCall, type ToolRunner } from './tool-call.js';

export class HostToolRunner implements ToolRunner {
  readonly stages: Stages = { input: 'checked', permission: 'before-run', extensions: 'around', output: 'cut' };
  readonly inputSchema: ToolDefinition['inputSchema'];
  readonly #context: CallContext;
  readonly #tool: HostTool;
  /** The data on which the preview was based. */
  #basis: unknown;
  #command: StoredCommand | undefined;

  constructor(context: CallContext, tool: HostTool) {
    this.#context = context;
    this.#tool = tool;
    this.inputSchema = tool.definition.inputSchema;
  }

  describe(input: unknown) {
    const confirmation = this.#tool.confirmation?.(input);
    return { invocationMessage: this.#tool.invocationMessage(input), confirmation };
  }

  get runs(): 'host' | 'other' {
    return this.#tool.owner === undefined ? 'host' : 'other';
  }

  /** True for a tool that only reads. An extension's claim counts only if the host trusts it enough not to ask. */
  get isReadOnly(): boolean {
    const { definition, confirmation, owner } = this.#tool;
    if (owner === undefined) return definition.annotations?.readOnlyHint === true || confirmation === undefined;
    return definition.annotations?.readOnlyHint === true && confirmation === undefined;
  }

  async preview(input: unknown): Promise<Preview | undefined> {
    if (!this.#tool.preview) return undefined;
    const { workingDirectory: cwd, workingDirectories: folders, signal: turnSignal } = this.#context;
    try {
      const preview = await withDeadline(this.#deadline, (signal) =>
        this.#tool.preview?.(input, { cwd, folders, signal }),
      );
      if (preview?.kind === 'failed') return { failed: preview.output };
      this.#basis = preview?.basis;
      return { edits: preview?.edits ?? [] };
    } catch (error) {
      turnSignal.throwIfAborted();
      return { failed: failureOf(this.#tool, error) };
    }
  }

  async run(call: ToolCall): Promise<Ran> {
    const { definition, owner, identity } = this.#tool;
    this.#command = this.#context.runningCommand(call.id);
    // Gates and people take time: meanwhile the tool may have been removed, or replaced by another of the same name.
    const present = this.#context.extensions.tools().find((other) => other.definition.name === definition.name);
    if (!present || present.owner !== owner || present.identity !== identity) return { result: removed(this.#tool) };
    try {
      const output = await withDeadline(this.#deadline, (signal, hold) => {
        const context = this.#toolContext(call, { signal, hold, running: this.#command });
        return this.#wrapped(call, async () => {
          // Extensions around the call may take a moment, and the call may be cancelled meanwhile.
          signal.throwIfAborted();
          return present.run(call.gateCall.input, context);
        });
      });
      return { result: output };
    } catch (error) {
      this.#context.signal.throwIfAborted();
      return { result: failureOf(present, error) };
    }
  }

  /**
   * Removes the command's records once the result of its call is stored, so the log always has one of the two. If the
   * state still shows the call as running, the host is stopping: after a restart, it needs the records.
   */
  settled(call: ToolCall): void {
    if (this.#context.call(call.id)?.status !== 'running') this.#command?.forget();
  }

  get #deadline() {
    const { clock, signal } = this.#context;
    return { clock, signal, timeoutMs: this.#tool.timeoutMs };
  }

  /** Wraps the run in the extensions; the first one is the outermost. */
  #wrapped(call: ToolCall, run: () => Promise<ToolOutput>): Promise<ToolOutput> {
    const around = this.#context.extensions.all().filter((extension) => extension.around);
    return around.reduceRight((inner, extension) => () => extension.around?.(call.gateCall, inner) ?? inner(), run)();
  }

  #toolContext(call: ToolCall, { signal, hold, running }: Running): ToolContext {
    const context = this.#context;
    return {
      cwd: context.workingDirectory,
      folders: context.workingDirectories,
      session: context.session,
      signal,
      progress: (content) => call.progress(content),
      ask: (request) => {
        const release = hold();
        return context.ask(request).finally(release);
      },
      signIn: async (auth, signedIn) => {
        const release = hold();
        try {
          call.authRequired(auth);
          await signedIn;
          call.authResolved();
        } finally {
          release();
        }
      },
      openWorker: (start) => context.openWorker({ ...start, toolCallId: call.id, signal }),
      plan: (tasks) => context.plan(tasks),
      earlier: () => earlierInputs(context.state, call.tool.name),
      result: (id) => storedResult(context, id),
      ...(running && { running }),
      ...(this.#basis !== undefined && { basis: this.#basis }),
      ...(call.option !== undefined && { option: call.option }),
      ...context.toolContext(call.id),
    };
  }
}

interface Running {
  readonly signal: AbortSignal;
  /** Stops the tool's timeout while a person answers. */
  readonly hold: HoldTime;
  readonly running: StoredCommand | undefined;
}

function removed({ definition, displayName }: HostTool): ToolCallResult {
  const message = `the tool ${definition.name} was removed before the call could run`;
  return { success: false, pastTenseMessage: `Could not use ${displayName}`, error: { message, code: 'NOT_FOUND' } };
}

/** The inputs of successful earlier calls of a host tool, newest first, from the turns in memory. */
function* earlierInputs({ activeTurn, turns }: ChatState, tool: string): Generator<unknown> {
  if (activeTurn) yield* inputsIn(activeTurn.responseParts, tool);
  for (let index = turns.length - 1; index >= 0; index -= 1) yield* inputsIn(turns[index]?.responseParts ?? [], tool);
}

function* inputsIn(parts: readonly ResponsePart[], tool: string): Generator<unknown> {
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index];
    if (part?.kind !== 'toolCall') continue;
    const { toolCall } = part;
    const isOfTool = toolCall.toolName === tool && toolCall.contributor?.kind !== 'client';
    if (isOfTool && toolCall.status === 'completed' && toolCall.success) yield parsedInput(toolCall.toolInput);
  }
}
