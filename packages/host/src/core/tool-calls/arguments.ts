/** The arguments of a call: as text for people and the wire, as an object for tools and gates. */
import type { ToolDefinition } from '@atrium/protocol';
import { isRecord } from '../util/shape.js';
import { shorten, sizeText } from '../util/text.js';
import { schemaProblem } from './schema-check.js';

/** Of arguments that are no good, in words about them. */
export const SHOWN_MAX_CHARACTERS = 60;
/** The arguments of one call, as text: they are stored, sent to every client, and read by the model again. */
export const INPUT_MAX_CHARACTERS = 4 * 2 ** 20;

/** What a tool was given: as it was written, and what it means. */
export interface Given {
  readonly text: string;
  readonly value: Record<string, unknown>;
}

export type Arguments = Given | { readonly text: string; readonly problem: string };

/** Models write arguments as JSON text, and nothing at all when a tool takes none. */
export function readArguments(input: unknown, schema?: ToolDefinition['inputSchema']): Arguments {
  const given = input === '' ? undefined : input;
  const text = inputText(given);
  const excess = sizeProblem(text);
  if (excess !== undefined) return { text: shorten(text, SHOWN_MAX_CHARACTERS), problem: excess };
  const value = looseInput(given ?? {});
  if (!isRecord(value)) {
    return { text, problem: `The arguments must be a JSON object, but are ${shorten(text, SHOWN_MAX_CHARACTERS)}.` };
  }
  const problem = schema && schemaProblem(schema, value);
  return problem === undefined ? { text, value } : { text, problem: `The arguments do not fit the tool: ${problem}.` };
}

/** Undefined when they are short enough. */
export function sizeProblem(text: string): string | undefined {
  if (text.length <= INPUT_MAX_CHARACTERS) return undefined;
  return `The arguments have ${sizeText(text.length)}; ${sizeText(INPUT_MAX_CHARACTERS)} are allowed.`;
}

/** What was meant by a text, when it is JSON. */
export function looseInput(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

export function inputText(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}
