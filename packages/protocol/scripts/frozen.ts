/** Published versions of the wire as data, in `frozen/`, and the rule that keeps their peers working. */
import { readdirSync, readFileSync } from 'node:fs';
import type { SchemaNode } from '../src/schema/node.js';
import { bundled, type Definitions, type JsonSchema, withoutProse } from './bundle.js';
import { type CallTable, PRESENT_WIRE, type SchemaTable, type WireSchemas } from './wires.js';

/** What can be said on a wire: the names of the definitions behind every message, and the definitions. */
export interface Wire {
  /** By table (`actions`, `clientRequests`, …) and name; a request has the definitions of its params and its result. */
  readonly messages: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

export const FROZEN_FOLDER = new URL('../frozen/', import.meta.url);

/** Each published version, oldest first. A file holds what differs from all versions of its wire before it. */
export function frozenWires(): ReadonlyMap<string, Wire> {
  const files = readdirSync(FROZEN_FOLDER).filter((name) => name.endsWith('.json'));
  return new Map(
    files
      .sort()
      .map((name) => [
        name.replace('.json', ''),
        JSON.parse(readFileSync(new URL(name, FROZEN_FOLDER), 'utf8')) as Wire,
      ]),
  );
}

/** The wire as the schemas describe it now. */
export function livingWire(schemas: WireSchemas = PRESENT_WIRE.schemas): Wire {
  const definitions: Definitions = new Map();
  const named = (schema: SchemaNode): string => {
    bundled(schema, definitions);
    if (!schema.$id) throw new Error('every message needs a schema with an $id');
    return schema.$id;
  };
  const rows = (table: SchemaTable) => mapValues(table, named);
  const calls = (table: CallTable) => mapValues(table, ({ params, result }) => [named(params), named(result)]);
  const messages = {
    states: rows(schemas.channelStates),
    actions: rows(schemas.stateActions),
    clientRequests: calls(schemas.clientRequests),
    hostRequests: calls(schemas.hostRequests),
    clientNotifications: rows(schemas.clientNotifications),
    hostNotifications: rows(schemas.hostNotifications),
    errorData: rows(schemas.errorData),
  };
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  return { messages, definitions: Object.fromEntries(sorted.map(([name, schema]) => [name, withoutProse(schema)])) };
}

/**
 * The places where a peer of the frozen version would notice a change. A message may gain optional members, an open
 * union may gain members, and messages may be added; everything else stays as it was.
 */
export function breaks(frozen: Wire, living: Wire): string[] {
  const messages = Object.entries(frozen.messages).flatMap(([table, rows]) =>
    Object.entries(rows).flatMap(([name, definition]) =>
      equal(living.messages[table]?.[name], definition) ? [] : [`${table} ${name}`],
    ),
  );
  const definitions = Object.entries(frozen.definitions).flatMap(([name, was]) => {
    const is = living.definitions[name];
    return is ? schemaBreaks(was, is, name) : [name];
  });
  return [...messages, ...definitions];
}

/** Keywords whose values are schemas, and the list of what is required; all others must be equal. */
const COMPARED_APART = new Set(['properties', 'required', 'items', 'additionalProperties', 'anyOf']);

function schemaBreaks(was: SchemaNode, is: SchemaNode, path: string): string[] {
  const plain = (schema: SchemaNode) =>
    Object.fromEntries(Object.entries(schema).filter(([keyword]) => !COMPARED_APART.has(keyword)));
  const isSame = equal(plain(was), plain(is)) && equal(sorted(was.required), sorted(is.required));
  return [
    ...(isSame ? [] : [path]),
    ...Object.entries(was.properties ?? {}).flatMap(([name, member]) =>
      innerBreaks(member, is.properties?.[name], `${path}.${name}`),
    ),
    ...innerBreaks(was.items, is.items, `${path}[]`),
    ...innerBreaks(was.additionalProperties, is.additionalProperties, `${path}{}`),
    ...unionBreaks(was.anyOf, is.anyOf, path),
  ];
}

function innerBreaks(was: SchemaNode | undefined, is: SchemaNode | undefined, path: string): string[] {
  if (was && is) return schemaBreaks(was, is, path);
  return was || is ? [path] : [];
}

/** A closed union stays as it is, member by member. An open one keeps its members and may have more. */
function unionBreaks(
  was: readonly SchemaNode[] | undefined,
  is: readonly SchemaNode[] | undefined,
  path: string,
): string[] {
  if (!was || !is) return was || is ? [path] : [];
  if (was.some(isOpenMember) && is.some(isOpenMember)) {
    const isKept = (member: SchemaNode) => is.some((candidate) => schemaBreaks(member, candidate, '').length === 0);
    return was.flatMap((member, index) => (isOpenMember(member) || isKept(member) ? [] : [`${path}|${index}`]));
  }
  if (was.length !== is.length) return [path];
  return was.flatMap((member, index) => innerBreaks(member, is[index], `${path}|${index}`));
}

/** The member of an open union that stands for what later versions add. */
function isOpenMember(member: SchemaNode): boolean {
  return Object.values(member.properties ?? {}).some((property) => 'not' in property);
}

function sorted(list: readonly string[] | undefined): readonly string[] {
  return [...(list ?? [])].sort();
}

/** Equal as JSON, whatever the order of members. */
function equal(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([key, value]) => right.has(key) && equal(value, right.get(key)));
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
