/** Calls a generated validator and puts its complaint into words. */
import { type SchemaNode, tagValues } from '../schema/node.js';

export interface Problem {
  /** Where, as a JSON Pointer: `/action/turnId`; empty for the value itself. */
  readonly path: string;
  /** What was expected there: `a string`, `one of "allow", "deny"`. */
  readonly expected: string;
}

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** The problem as a sentence for an error message. */
export function describeProblem({ path, expected }: Problem): string {
  return `${path || 'the value'} must be ${expected}`;
}

/** What Ajv leaves on a validator after a rejection. */
export interface ValidationProblem {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface Validator {
  (value: unknown): boolean;
  errors?: readonly ValidationProblem[] | null;
}

/** A validator, and the name of its definition. */
interface TableEntry {
  readonly check: Validator;
  readonly definition: string;
}

export type ValidatorTable = ReadonlyMap<string, TableEntry>;

/** The definitions of a set of validators, parsed when the first message is rejected. */
export class Definitions {
  #byName: Readonly<Record<string, SchemaNode>> | undefined;

  constructor(private readonly text: () => string) {}

  readonly resolve = (schema: SchemaNode): SchemaNode => {
    if (!schema.$ref) return schema;
    this.#byName ??= JSON.parse(this.text()) as Record<string, SchemaNode>;
    return this.#byName[schema.$ref.replace('#/$defs/', '')] ?? {};
  };
}

/** Checks a value. A peer may send `null` for an optional member; it counts as absent. */
export function checkWith<T>({ check, definition }: TableEntry, definitions: Definitions, value: unknown): Checked<T> {
  if (check(value)) return { ok: true, value: value as T };
  const problem = problemOf(check.errors?.[0]);
  const cleaned = withoutNulls({ $ref: definition }, value, definitions.resolve);
  if (cleaned === value || !check(cleaned)) return { ok: false, problem };
  return { ok: true, value: cleaned as T };
}

export function checkNamed<T>(
  table: ValidatorTable,
  definitions: Definitions,
  name: string,
  value: unknown,
): Checked<T> {
  const entry = table.get(name);
  if (!entry) throw new Error(`no validator was generated for ${name}: run \`npm run generate\``);
  return checkWith(entry, definitions, value);
}

function problemOf(complaint: ValidationProblem | undefined): Problem {
  if (!complaint) return { path: '', expected: 'valid' };
  const { instancePath, keyword, params } = complaint;
  const phrase = PHRASES[keyword];
  if (keyword === 'required' || keyword === 'additionalProperties') {
    const member = String(params.missingProperty ?? params.additionalProperty);
    return {
      path: `${instancePath}/${escapePointer(member)}`,
      expected: keyword === 'required' ? 'present' : 'absent',
    };
  }
  return { path: instancePath, expected: phrase ? phrase(params) : 'of the declared shape' };
}

const PHRASES: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => string>> = {
  type: ({ type }) => (type === 'null' ? 'null' : `${/^[aio]/.test(String(type)) ? 'an' : 'a'} ${type}`),
  const: ({ allowedValue }) => JSON.stringify(allowedValue),
  enum: ({ allowedValues }) =>
    `one of ${(allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`,
  pattern: ({ pattern }) => `a match for ${pattern}`,
  minimum: ({ limit }) => `at least ${limit}`,
  maximum: ({ limit }) => `at most ${limit}`,
};

export function escapePointer(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The `type` of a message or an action, or an empty string. */
export function typeOf(message: unknown): string {
  const type = typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined;
  return typeof type === 'string' ? type : '';
}

/** Resolves a reference. */
type Resolve = (schema: SchemaNode) => SchemaNode;

/**
 * The value without members that a peer sent as `null` where the protocol allows them to be absent; the very same value
 * when it has none. Content without a schema is not touched.
 */
function withoutNulls(schema: SchemaNode, value: unknown, resolve: Resolve): unknown {
  const { items, anyOf } = resolve(schema);
  if (Array.isArray(value)) return items ? mapped(value, items, resolve) : value;
  if (typeof value !== 'object' || value === null) return value;
  const shape = anyOf ? memberFor(anyOf, value, resolve) : resolve(schema);
  return shape ? withoutNullMembers(shape, value as Record<string, unknown>, resolve) : value;
}

function mapped(list: unknown[], items: SchemaNode, resolve: Resolve): unknown[] {
  const result = list.map((item) => withoutNulls(items, item, resolve));
  return result.some((item, index) => item !== list[index]) ? result : list;
}

function withoutNullMembers(schema: SchemaNode, value: Record<string, unknown>, resolve: Resolve): unknown {
  const entries = Object.entries(value);
  const kept = entries.flatMap(([key, inner]): [string, unknown][] => {
    const member = memberSchema(schema, key);
    if (!member) return [[key, inner]];
    if (inner === null && !schema.required?.includes(key) && !allowsNull(member, resolve)) return [];
    return [[key, withoutNulls(member, inner, resolve)]];
  });
  const changed = kept.length < entries.length || kept.some(([key, inner]) => inner !== value[key]);
  return changed ? Object.fromEntries(kept) : value;
}

function memberSchema(schema: SchemaNode, key: string): SchemaNode | undefined {
  const { properties } = schema;
  return properties && Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties;
}

function allowsNull(schema: SchemaNode, resolve: Resolve): boolean {
  const { type, anyOf, enum: choices } = resolve(schema);
  const isAnything = !type && !anyOf && !choices;
  return isAnything || type === 'null' || !!anyOf?.some((member) => allowsNull(member, resolve));
}

/** The union member that a value is meant to be: the value has the required members, and the fixed values agree. */
function memberFor(members: readonly SchemaNode[], value: object, resolve: Resolve): SchemaNode | undefined {
  const objects = members.flatMap((member) => objectsIn(member, resolve));
  return objects.find(
    (member) => member.required?.every((key) => key in value) && Object.entries(value).every(fitsTagOf(member)),
  );
}

/** The object shapes of a member: the member itself, or those of a union inside the union. */
function objectsIn(member: SchemaNode, resolve: Resolve): SchemaNode[] {
  const { anyOf, properties } = resolve(member);
  if (anyOf) return anyOf.flatMap((inner) => objectsIn(inner, resolve));
  return properties ? [resolve(member)] : [];
}

function fitsTagOf(member: SchemaNode): (entry: [string, unknown]) => boolean {
  return ([key, value]) => {
    const values = tagValues(member, key);
    return values.length === 0 || values.includes(value);
  };
}
