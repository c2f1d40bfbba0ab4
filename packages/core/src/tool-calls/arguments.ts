/**
 * The arguments of a call: text for people and the wire, an object for tools and gates. They are refused when they are
 * too long, are not a JSON object, or certainly do not fit the tool's JSON Schema.
 */
import type { ToolDefinition } from '@atrium/protocol/ahp-1';
import { isRecord } from '../util/shape.js';
import { shorten, sizeText } from '../util/text.js';

/** Longest arguments of one call, as text: they are stored, sent to every client, and read again by the model. */
export const INPUT_MAX_CHARACTERS = 4 * 2 ** 20;
/** How much of refused arguments the error message and the session quote. */
const REFUSED_MAX_CHARACTERS = 60;
/** How much of one refused value the error message quotes. */
const VALUE_MAX_CHARACTERS = 40;

/** The arguments of a tool: as the model wrote them, and as an object. */
export interface ToolArguments {
  readonly text: string;
  readonly value: Record<string, unknown>;
}

export type Arguments = ToolArguments | { readonly text: string; readonly problem: string };

/** Reads arguments. Models write JSON text, or nothing for a tool without arguments. */
export function readArguments(input: unknown, schema?: ToolDefinition['inputSchema']): Arguments {
  const given = input === '' ? undefined : input;
  const { text, problem: excess } = boundedInput(given);
  if (excess !== undefined) return { text, problem: excess };
  const value = parsedInput(given ?? {});
  if (!isRecord(value)) {
    return { text, problem: `The arguments must be a JSON object, but are ${shorten(text, REFUSED_MAX_CHARACTERS)}.` };
  }
  const problem = schema && schemaProblem(schema, value);
  return problem === undefined ? { text, value } : { text, problem: `The arguments do not fit the tool: ${problem}.` };
}

/** Arguments as text; if they are too long, only the beginning, and the problem. */
export function boundedInput(input: unknown): { readonly text: string; readonly problem?: string } {
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  if (text.length <= INPUT_MAX_CHARACTERS) return { text };
  const problem = `The arguments have ${sizeText(text.length)}; ${sizeText(INPUT_MAX_CHARACTERS)} are allowed.`;
  return { text: shorten(text, REFUSED_MAX_CHARACTERS), problem };
}

/** Parses a JSON text; any other text stays as it is. */
export function parsedInput(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/**
 * Finds the first value that does not fit: `"at.line" must be an integer, but is "two"`. Checks only `type`, `enum`,
 * `required`, `properties` and `items`. Each of these can only rule a value out, so no valid value is refused; the tool
 * itself checks the rest.
 */
export function schemaProblem(schema: unknown, value: unknown, path: readonly string[] = []): string | undefined {
  // Some drafts of JSON Schema ignore the members next to a reference.
  if (!isRecord(schema) || '$ref' in schema) return undefined;
  return typeProblem(schema, value, path) ?? enumProblem(schema, value, path) ?? memberProblem(schema, value, path);
}

/** A map, because a schema may use any name as a type, even `constructor`. */
const TYPES: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['object', isRecord],
  ['array', Array.isArray],
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', Number.isInteger],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
]);

function typeProblem({ type }: Record<string, unknown>, value: unknown, path: readonly string[]): string | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  if (types.length === 0 || types.some((name) => TYPES.get(name)?.(value) ?? true)) return undefined;
  return `${nameOf(path)} must be ${types.map(withArticle).join(' or ')}, but is ${shown(value)}`;
}

function enumProblem(schema: Record<string, unknown>, value: unknown, path: readonly string[]): string | undefined {
  const allowed = schema.enum;
  if (!Array.isArray(allowed) || allowed.some((one) => typeof one === 'object' || one === value)) return undefined;
  return `${nameOf(path)} must be one of ${shown(allowed)}, but is ${shown(value)}`;
}

function memberProblem(schema: Record<string, unknown>, value: unknown, path: readonly string[]): string | undefined {
  if (Array.isArray(value)) return firstProblem(value.entries(), () => schema.items, path);
  if (!isRecord(value)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = required.find((key) => typeof key === 'string' && !Object.hasOwn(value, key));
  if (missing !== undefined) return `${nameOf(path)} must have "${missing}"`;
  const { properties } = schema;
  if (!isRecord(properties)) return undefined;
  const known = (key: string | number) => (Object.hasOwn(properties, key) ? properties[key] : undefined);
  return firstProblem(Object.entries(value), known, path);
}

function firstProblem(
  members: Iterable<[string | number, unknown]>,
  schemaOf: (key: string | number) => unknown,
  path: readonly string[],
): string | undefined {
  for (const [key, member] of members) {
    const problem = schemaProblem(schemaOf(key), member, [...path, String(key)]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function nameOf(path: readonly string[]): string {
  return path.length === 0 ? 'the whole' : `"${path.join('.')}"`;
}

function withArticle(type: string): string {
  return type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

function shown(value: unknown): string {
  return shorten(JSON.stringify(value) ?? 'missing', VALUE_MAX_CHARACTERS);
}
