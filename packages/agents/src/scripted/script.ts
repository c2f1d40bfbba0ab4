/**
 * The format of a script, and the check that tells its author what is wrong: the file, the place, what was expected.
 */

import {
  isRecord,
  type Path,
  problemOf,
  type RecordShape,
  type Shape,
  type ShapeProblem,
} from '@atrium/core/util/shape.js';
import type { ChatInputRequest, UsageInfo } from '@atrium/protocol/ahp-1';
import { checkAction } from '@atrium/protocol/ahp-1/validation';

export interface Script {
  /** The id under which clients choose this agent. */
  readonly provider: string;
  readonly displayName: string;
  readonly models?: readonly { readonly id: string; readonly name: string }[];
  /** The system prompt, section by section. */
  readonly sections?: Readonly<Record<string, string>>;
  /** Makes sessions of this agent fail to open. */
  readonly createError?: ScriptedError;
  /** Steps by the exact text of the message. */
  readonly prompts?: Readonly<Record<string, readonly Step[]>>;
  /** Steps for every other message. */
  readonly default?: readonly Step[];
}

interface ScriptedError {
  readonly errorType: string;
  readonly message: string;
}

export interface Streaming {
  /** Characters per delta; absent: one delta for the whole text. `words` is for scripts written as code. */
  readonly chunk?: number | 'words';
  /** Milliseconds between deltas; absent: no pause. */
  readonly everyMs?: number;
}

export interface ScriptedTool {
  readonly id?: string;
  readonly name: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly pastTenseMessage: string;
  /** As text, or as any JSON value. */
  readonly input?: unknown;
  readonly output: string;
  readonly success: boolean;
  readonly confirm?: boolean;
}

/** An input request; if it has no id, one is made up. */
type ScriptedQuestion = Omit<ChatInputRequest, 'id'> & { readonly id?: string };

/** Every kind of step, by its key. */
export interface Steps {
  readonly text: { readonly text: string } & Streaming;
  readonly reasoning: { readonly reasoning: string } & Streaming;
  readonly tool: { readonly tool: ScriptedTool };
  readonly callTool: { readonly callTool: { readonly name: string; readonly input?: unknown } };
  readonly usage: { readonly usage: UsageInfo };
  readonly title: { readonly title: string };
  readonly ask: { readonly ask: ScriptedQuestion };
  readonly delayMs: { readonly delayMs: number };
  readonly error: { readonly error: ScriptedError };
  readonly showPrompt: { readonly showPrompt: true | string };
  readonly worker: { readonly worker: ScriptedWorker };
}

/** A worker in its own chat, started by a tool call of the script. */
export interface ScriptedWorker {
  readonly id?: string;
  readonly title: string;
  readonly prompt: string;
  /** What the worker plays. */
  readonly steps: readonly Step[];
}

export type StepKind = keyof Steps;
export type Step = Steps[StepKind];

/** Shapes of the types above. */
const text = { type: 'string' } as const;
const name = { type: 'string', minLength: 1 } as const;
const anything = {} as const;

function record(properties: Record<string, Shape>, required: readonly string[]): RecordShape {
  return { type: 'object', properties, required };
}

const scriptedError = record({ errorType: name, message: text }, ['errorType', 'message']);
const chunk = { type: 'integer', minimum: 1 } as const;
const milliseconds = { type: 'integer', minimum: 0 } as const;

const scriptedTool = record(
  {
    id: name,
    name,
    displayName: text,
    invocationMessage: text,
    pastTenseMessage: text,
    input: anything,
    output: text,
    success: { type: 'boolean' },
    confirm: { type: 'boolean' },
  },
  ['name', 'displayName', 'invocationMessage', 'pastTenseMessage', 'output', 'success'],
);

const WORKER_MEMBERS = ['title', 'prompt', 'steps'];

export const STEP_SHAPES: Readonly<Record<StepKind, RecordShape>> = {
  text: record({ text, chunk, everyMs: milliseconds }, ['text']),
  reasoning: record({ reasoning: text, chunk, everyMs: milliseconds }, ['reasoning']),
  tool: record({ tool: scriptedTool }, ['tool']),
  callTool: record({ callTool: record({ name, input: anything }, ['name']) }, ['callTool']),
  // The protocol's own validator checks these two.
  usage: record({ usage: { type: 'object', additionalProperties: anything } }, ['usage']),
  ask: record({ ask: { type: 'object', additionalProperties: anything } }, ['ask']),
  title: record({ title: text }, ['title']),
  delayMs: record({ delayMs: milliseconds }, ['delayMs']),
  error: record({ error: scriptedError }, ['error']),
  showPrompt: record({ showPrompt: { anyOf: [{ const: true }, name] } }, ['showPrompt']),
  worker: record(
    {
      worker: record(
        { id: name, title: name, prompt: name, steps: { type: 'array', items: anything } },
        WORKER_MEMBERS,
      ),
    },
    ['worker'],
  ),
};

/** Steps are checked one by one, for better messages than a shape gives. */
const steps = { type: 'array', items: anything } as const;

const SCRIPT_SHAPE = record(
  {
    provider: name,
    displayName: name,
    models: { type: 'array', items: record({ id: name, name }, ['id', 'name']) },
    sections: { type: 'object', additionalProperties: text },
    createError: scriptedError,
    prompts: { type: 'object', additionalProperties: steps },
    default: steps,
  },
  ['provider', 'displayName'],
);

export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

/** A dialect of the protocol puts the provider into URIs. */
const PROVIDER_ID = /^[A-Za-z][A-Za-z0-9_.+-]*$/;
const STEP_KINDS = Object.keys(STEP_SHAPES) as StepKind[];

/** Checks a parsed script; throws a `ScriptError` that names the file. */
export function checkScript(value: unknown, file: string): Script {
  const found = problemOf(SCRIPT_SHAPE, value) ?? problemOfProvider(value as Script) ?? problemOfSteps(value as Script);
  if (found) throw new ScriptError(`${file}: ${pathText(found.path)} ${found.problem}`);
  return value as Script;
}

function problemOfProvider({ provider }: Script): ShapeProblem | undefined {
  if (PROVIDER_ID.test(provider)) return undefined;
  const problem = `must be a letter, then letters, digits and any of _ . + -, but is ${JSON.stringify(provider)}`;
  return { path: ['provider'], problem };
}

function problemOfSteps(script: Script): ShapeProblem | undefined {
  const lists = Object.entries(script.prompts ?? {}).map(([text, steps]) => ({ path: ['prompts', text], steps }));
  for (const { path, steps } of [...lists, { path: ['default'], steps: script.default ?? [] }]) {
    const problem = problemIn(steps, path);
    if (problem) return problem;
  }
  return undefined;
}

function problemIn(steps: readonly unknown[], path: Path): ShapeProblem | undefined {
  for (const [index, step] of steps.entries()) {
    const problem = problemOfStep(step, [...path, index]);
    if (problem) return problem;
  }
  return undefined;
}

function problemOfStep(step: unknown, path: Path): ShapeProblem | undefined {
  if (!isRecord(step)) return { path, problem: `must be an object. ${knownSteps()}` };
  const kinds = STEP_KINDS.filter((kind) => Object.hasOwn(step, kind));
  const [kind] = kinds;
  if (kinds.length > 1) return { path, problem: `is ${kinds.join(' and ')} in one; make it ${kinds.length} steps` };
  const known = kind ? Object.keys(STEP_SHAPES[kind].properties) : [];
  const unknown = Object.keys(step).find((key) => !known.includes(key));
  if (unknown !== undefined) return { path, problem: unknownKey(unknown, kind) };
  if (!kind) return { path, problem: `is empty. ${knownSteps()}` };
  return problemOf(STEP_SHAPES[kind], step, path) ?? problemOfContent(kind, step[kind], [...path, kind]);
}

function unknownKey(key: string, kind: StepKind | undefined): string {
  const where = kind ? ` beside "${kind}"` : '';
  return `has the unknown key ${JSON.stringify(key)}${where}. ${knownSteps()}`;
}

function knownSteps(): string {
  const names = STEP_KINDS.map((kind) => {
    const options = Object.keys(STEP_SHAPES[kind].properties).filter((key) => key !== kind);
    return options.length > 0 ? `${kind} (with ${options.join(', ')})` : kind;
  });
  return `A step is one of: ${names.join('; ')}.`;
}

/** Checks contents that clients get unchanged, so they must be valid in the protocol. */
function problemOfContent(kind: StepKind, content: unknown, path: Path): ShapeProblem | undefined {
  if (kind === 'ask' && isRecord(content)) {
    return problemOfAction({ type: 'chat/inputRequested', request: { id: 'made-up', ...content } }, path);
  }
  if (kind === 'worker') return problemIn((content as ScriptedWorker).steps, [...path, 'steps']);
  if (kind === 'usage') {
    return problemOfAction({ type: 'chat/usage', turnId: 'any', usage: content as UsageInfo }, path);
  }
  return undefined;
}

function problemOfAction(action: unknown, path: Path): ShapeProblem | undefined {
  const checked = checkAction(action);
  if (checked.ok) return undefined;
  // The pointer begins with the action's own member: `/request/questions/0/kind`.
  const inner = checked.problem.path.split('/').slice(2).map(pointerPart);
  return { path: [...path, ...inner], problem: `must be ${checked.problem.expected}` };
}

function pointerPart(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** `prompts["hello there"][2].tool.name` */
function pathText(path: Path): string {
  if (path.length === 0) return 'the script';
  const parts = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return /^[A-Za-z_]\w*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
  });
  return parts.join('').replace(/^\./, '');
}
