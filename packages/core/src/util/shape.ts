/**
 * Checks a value against a small part of JSON Schema, and says in plain words what is wrong. Made for tool input and
 * for files that people write by hand; messages from the wire have compiled validators in the protocol package.
 */
import type { SessionConfigPropertySchema, SessionConfigSchema } from '@atrium/protocol/ahp-1';

export type Shape =
  | { readonly type: 'string'; readonly minLength?: number; readonly description?: string }
  | { readonly type: 'integer'; readonly minimum?: number; readonly maximum?: number; readonly description?: string }
  | { readonly type: 'boolean'; readonly description?: string }
  | { readonly type: 'array'; readonly items: Shape; readonly description?: string }
  | { readonly type: 'object'; readonly additionalProperties: Shape }
  | RecordShape
  | { readonly const: true }
  | { readonly anyOf: readonly Shape[] }
  | AnyShape;

/** An object with named members. */
export interface RecordShape {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Shape>>;
  readonly required: readonly string[];
  /** Members that are not named are allowed. */
  readonly open?: boolean;
}

/** Any JSON value. */
export interface AnyShape {
  readonly type?: undefined;
}

export type Path = readonly (string | number)[];

export interface ShapeProblem {
  readonly path: Path;
  /** The rest of the sentence: `must be a string, but is 3`. */
  readonly problem: string;
}

/** The first problem of a value. */
export function problemOf(shape: Shape, value: unknown, path: Path = []): ShapeProblem | undefined {
  if ('anyOf' in shape) return fitsAny(shape.anyOf, value) ? undefined : mismatch(shape, value, path);
  if (!isRightKind(shape, value)) return mismatch(shape, value, path);
  if (Array.isArray(value) && 'items' in shape) return firstOf(value.entries(), () => shape.items, path);
  if (!isRecord(value)) return undefined;
  if ('properties' in shape) return problemOfRecord(shape, value, path);
  if ('additionalProperties' in shape) return firstOf(Object.entries(value), () => shape.additionalProperties, path);
  return undefined;
}

function fitsAny(shapes: readonly Shape[], value: unknown): boolean {
  return shapes.some((shape) => problemOf(shape, value) === undefined);
}

function problemOfRecord(shape: RecordShape, value: Record<string, unknown>, path: Path): ShapeProblem | undefined {
  const known = Object.keys(shape.properties);
  const unknown = shape.open ? undefined : Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    return { path, problem: `has the unknown key ${JSON.stringify(unknown)}; known are: ${known.join(', ')}` };
  }
  const missing = shape.required.find((key) => !Object.hasOwn(value, key) || value[key] === undefined);
  if (missing !== undefined) {
    return { path, problem: `must have "${missing}" (${expected(shape.properties[missing])})` };
  }
  const present = Object.entries(value).filter(([key, member]) => known.includes(key) && member !== undefined);
  return firstOf(present, (key) => shape.properties[key], path);
}

function firstOf<Key extends string | number>(
  members: Iterable<[Key, unknown]>,
  shapeOf: (key: Key) => Shape | undefined,
  path: Path,
): ShapeProblem | undefined {
  for (const [key, member] of members) {
    const problem = problemOf(shapeOf(key) ?? {}, member, [...path, key]);
    if (problem) return problem;
  }
  return undefined;
}

function isRightKind(shape: Exclude<Shape, { anyOf: readonly Shape[] }>, value: unknown): boolean {
  if ('const' in shape) return value === shape.const;
  if (shape.type === undefined) return value !== undefined;
  if (shape.type === 'string') return typeof value === 'string' && value.length >= (shape.minLength ?? 0);
  if (shape.type === 'integer') return isInteger(value, shape);
  if (shape.type === 'array') return Array.isArray(value);
  return shape.type === 'object' ? isRecord(value) : typeof value === shape.type;
}

interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

function isInteger(value: unknown, { minimum = -Infinity, maximum = Infinity }: Range): boolean {
  return Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
}

function mismatch(shape: Shape, value: unknown, path: Path): ShapeProblem {
  return { path, problem: `must be ${expected(shape)}, but is ${describeValue(value)}` };
}

function expected(shape: Shape = {}): string {
  if ('anyOf' in shape) return shape.anyOf.map(expected).join(' or ');
  if ('const' in shape) return String(shape.const);
  if (shape.type === 'string') return shape.minLength ? 'a string that is not empty' : 'a string';
  if (shape.type === 'integer') return `a whole number${rangeText(shape)}`;
  return shape.type === undefined ? 'a value' : EXPECTED[shape.type];
}

const EXPECTED = { boolean: 'true or false', array: 'a list', object: 'an object' } as const;

function rangeText({ minimum, maximum }: Range): string {
  if (maximum === undefined) return minimum === undefined ? '' : ` of at least ${minimum}`;
  return minimum === undefined ? ` of at most ${maximum}` : ` from ${minimum} to ${maximum}`;
}

const SHOWN_VALUE_MAX_CHARACTERS = 40;

function describeValue(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'an object';
  const json = JSON.stringify(value) ?? typeof value;
  return json.length > SHOWN_VALUE_MAX_CHARACTERS ? `${json.slice(0, SHOWN_VALUE_MAX_CHARACTERS)}…` : json;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Values = Record<string, unknown>;

/** What the value of a setting should be; undefined when it fits. */
export function badValue(property: SessionConfigPropertySchema, value: unknown): string | undefined {
  const actual = Array.isArray(value) ? 'array' : typeof value;
  if (actual !== property.type) return `of type ${property.type}`;
  const isListed = property.enum?.includes(String(value)) ?? true;
  if (!isListed && !property.enumDynamic) return `one of ${property.enum?.join(', ')}`;
  return undefined;
}

/** Says what is wrong with a session's settings; undefined when they fit. Settings outside the schema are ignored. */
export function badValues(schema: SessionConfigSchema, values: Values): string | undefined {
  const missing = schema.required?.find((key) => !(key in values));
  if (missing) return `/config/${missing} must be present`;
  for (const [key, property] of Object.entries(schema.properties)) {
    const bad = key in values ? badValue(property, values[key]) : undefined;
    if (bad) return `/config/${key} must be ${bad}`;
  }
  return undefined;
}

/** The given values, with defaults for the others. */
export function withDefaults(schema: SessionConfigSchema, values: Values): Values {
  const defaults = Object.entries(schema.properties).flatMap(([key, { default: value }]) =>
    value === undefined ? [] : [[key, value]],
  );
  return { ...Object.fromEntries(defaults), ...values };
}
