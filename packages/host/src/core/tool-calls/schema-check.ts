/**
 * Says whether arguments certainly do not fit a tool's JSON Schema. It knows `type`, `enum`, `required`, `properties` and
 * `items`, each of which can only rule a value out, so what fits is never turned down. All else is for the tool's owner.
 */
import { isRecord } from '../util/shape.js';
import { shorten } from '../util/text.js';

const SHOWN_MAX_CHARACTERS = 40;

/** The first thing that is wrong: `"at.line" must be an integer, but is "two"`. */
export function schemaProblem(schema: unknown, value: unknown, path: readonly string[] = []): string | undefined {
  // What stands beside a reference counts in some drafts of JSON Schema, and not in others.
  if (!isRecord(schema) || '$ref' in schema) return undefined;
  return typeProblem(schema, value, path) ?? enumProblem(schema, value, path) ?? memberProblem(schema, value, path);
}

/** A schema may have any words in it, also those that every object knows. */
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
  return shorten(JSON.stringify(value) ?? 'missing', SHOWN_MAX_CHARACTERS);
}
