/** The shapes that a script must have; kept beside the types of `script.ts`, which say what they mean. */
import type { RecordShape, Shape } from '../../core/util/shape.js';
import type { StepKind } from './script.js';

const text = { type: 'string' } as const;
const name = { type: 'string', minLength: 1 } as const;
const anything = {} as const;

function record(properties: Record<string, Shape>, required: readonly string[]): RecordShape {
  return { type: 'object', properties, required };
}

const scriptedError = record({ errorType: name, message: text }, ['errorType', 'message']);
const chunk = { type: 'integer', minimum: 1 } as const;
const milliseconds = { type: 'integer', minimum: 0 } as const;

const cannedTool = record(
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

export const STEP_SHAPES: Readonly<Record<StepKind, RecordShape>> = {
  text: record({ text, chunk, everyMs: milliseconds }, ['text']),
  reasoning: record({ reasoning: text, chunk, everyMs: milliseconds }, ['reasoning']),
  tool: record({ tool: cannedTool }, ['tool']),
  callTool: record({ callTool: record({ name, input: anything }, ['name']) }, ['callTool']),
  // The protocol's own validator looks into these two.
  usage: record({ usage: { type: 'object', additionalProperties: anything } }, ['usage']),
  ask: record({ ask: { type: 'object', additionalProperties: anything } }, ['ask']),
  title: record({ title: text }, ['title']),
  delayMs: record({ delayMs: milliseconds }, ['delayMs']),
  error: record({ error: scriptedError }, ['error']),
  showPrompt: record({ showPrompt: { anyOf: [{ const: true }, name] } }, ['showPrompt']),
};

/** Steps are looked at one by one, with better words than a shape has. */
const steps = { type: 'array', items: anything } as const;

export const SCRIPT_SHAPE = record(
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
