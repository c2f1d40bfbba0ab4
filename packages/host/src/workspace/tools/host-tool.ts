/**
 * Makes a `HostTool` from a definition, so that all tools treat bad input, refusals and file system errors alike: they
 * become a failed output that says what to do. Only defects of the host throw.
 */

import {
  type HostTool,
  type PreviewContext,
  type ToolConfirmation,
  type ToolContext,
  ToolFailure,
  type ToolOutput,
  type ToolPreview,
} from '@atrium/core/contracts/tool.js';
import type { Folders } from '@atrium/core/util/paths.js';
import { problemOf, type RecordShape, type Shape } from '@atrium/core/util/shape.js';
import { shorten } from '@atrium/core/util/text.js';
import type { FileEdit, ToolAnnotations } from '@atrium/protocol/ahp-1';

type PlainShape = Extract<Shape, { type: 'string' | 'integer' | 'boolean' }>;
type ListShape = { readonly type: 'array'; readonly items: PlainShape; readonly description?: string };
type InputShape = PlainShape | ListShape;
type PlainValue<S extends PlainShape> = { string: string; integer: number; boolean: boolean }[S['type']];
type ValueOf<S extends InputShape> = S extends ListShape
  ? readonly PlainValue<S['items']>[]
  : S extends PlainShape
    ? PlainValue<S>
    : never;

/** The input that a tool's code gets: its properties with their types; those that are not required are optional. */
type InputOf<Properties extends Record<string, InputShape>, Required extends keyof Properties> = {
  readonly [Key in Required]: ValueOf<Properties[Key]>;
} & { readonly [Key in Exclude<keyof Properties, Required>]?: ValueOf<Properties[Key]> };

export interface HostToolOptions<
  Properties extends Record<string, InputShape>,
  Required extends keyof Properties & string,
> {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly properties: Properties;
  readonly required: readonly Required[];
  /** How long a call may take; by default as long as the tool itself allows. */
  readonly timeoutMs?: number;
  /** What the call is about to do, with a verb first: "Read parser.ts". */
  invocation(input: InputOf<Properties, Required>): string;
  confirmation?(input: InputOf<Properties, Required>): ToolConfirmation;
  /** Says what the call would change; throws when it would fail. */
  preview?(input: InputOf<Properties, Required>, context: PreviewContext): Promise<InputPreview>;
  run(input: InputOf<Properties, Required>, context: ToolContext): Promise<ToolOutput>;
}

export interface InputPreview {
  readonly edits: FileEdit[];
  /** Passed to the tool when it runs. */
  readonly basis?: unknown;
}

/** The folders that a tool may work in. */
export function foldersOf({ folders, cwd }: PreviewContext): Folders {
  return folders ?? cwd;
}

/** A disk that does not answer, such as a lost network drive, must not block a turn for ever. */
export const FILE_TOOL_TIMEOUT_MS = 60_000;

export function hostTool<
  const Properties extends Record<string, InputShape>,
  const Required extends keyof Properties & string = never,
>(options: HostToolOptions<Properties, Required>): HostTool {
  type Input = InputOf<Properties, Required>;
  const shape: RecordShape = { type: 'object', properties: options.properties, required: options.required, open: true };
  const invocation = (input: unknown) =>
    problemOf(shape, input) ? options.displayName : options.invocation(input as Input);
  const attempt = async <T>(input: unknown, signal: AbortSignal, act: (input: Input) => Promise<T>) => {
    try {
      checkInput(options.name, shape, input);
      signal.throwIfAborted();
      return { done: await act(input as Input) };
    } catch (error) {
      return { failed: failedOutput(invocation(input), asFailure(error, signal)) };
    }
  };
  return {
    definition: definitionOf(options),
    displayName: options.displayName,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    invocationMessage: invocation,
    // Bad input needs no question, because `run` refuses it with the same check.
    confirmation: (input) => (problemOf(shape, input) ? undefined : options.confirmation?.(input as Input)),
    ...(options.preview && {
      async preview(input: unknown, context: PreviewContext): Promise<ToolPreview> {
        const { done, failed } = await attempt(input, context.signal, async (it) => options.preview?.(it, context));
        return failed ? { kind: 'failed', output: failed } : { kind: 'edits', edits: [], ...done };
      },
    }),
    async run(input, context) {
      const result = await attempt(input, context.signal, (it) => options.run(it, context));
      return result.done ?? result.failed;
    },
  };
}

function definitionOf(options: HostToolOptions<Record<string, InputShape>, string>): HostTool['definition'] {
  const { name, displayName, description, annotations, properties, required } = options;
  const inputSchema = { type: 'object' as const, properties: { ...properties }, required: [...required] };
  return { name, title: displayName, description, inputSchema, annotations };
}

function checkInput(name: string, shape: RecordShape, input: unknown): void {
  const found = problemOf(shape, input);
  if (!found) return;
  const where = found.path.length === 0 ? 'The input' : `"${found.path.join('.')}"`;
  throw new ToolFailure('BAD_INPUT', `${where} of ${name} ${found.problem}.`);
}

export function succeeded(pastTenseMessage: string, text: string): ToolOutput {
  return { success: true, pastTenseMessage, content: [{ type: 'text', text }] };
}

function failedOutput(invocation: string, { code, message }: ToolFailure): ToolOutput {
  const pastTenseMessage = `Could not ${invocation.charAt(0).toLowerCase()}${invocation.slice(1)}`;
  return { success: false, pastTenseMessage, content: [{ type: 'text', text: message }], error: { message, code } };
}

function asFailure(error: unknown, signal: AbortSignal): ToolFailure {
  if (error instanceof ToolFailure) return error;
  if (signal.aborted) return new ToolFailure('CANCELLED', 'Cancelled before it was done.');
  if (isSystemError(error)) return new ToolFailure(error.code, `The system refused: ${shorten(error.message, 300)}.`);
  throw error;
}

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}
