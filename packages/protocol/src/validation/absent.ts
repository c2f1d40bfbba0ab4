/** Takes out the members that a peer sent as `null` where the protocol says they may be missing. */
import { type SchemaNode, tagValues } from '../schema/node.js';

/** Finds what a reference stands for. */
export type Resolve = (schema: SchemaNode) => SchemaNode;

/** The value without such members, or the very same value when it has none. Content without a schema is not touched. */
export function withoutNulls(schema: SchemaNode, value: unknown, resolve: Resolve): unknown {
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

/** The member of a union that the value means: it has what the member requires, and the fixed values agree. */
function memberFor(members: readonly SchemaNode[], value: object, resolve: Resolve): SchemaNode | undefined {
  const objects = members.flatMap((member) => objectsIn(member, resolve));
  return objects.find(
    (member) => member.required?.every((key) => key in value) && Object.entries(value).every(fitsTagOf(member)),
  );
}

/** The object shapes that a member stands for: itself, or those of a union inside the union. */
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
