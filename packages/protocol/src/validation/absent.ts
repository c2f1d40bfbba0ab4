/** Takes out the members that a peer sent as `null` where the protocol says they may be missing. */
import { type SchemaNode, tagValues } from '../schema/define.js';

/** The value without such members, or the very same value when it has none. Content without a schema is not touched. */
export function withoutNulls(schema: SchemaNode, value: unknown): unknown {
  if (Array.isArray(value)) return schema.items ? mapped(value, schema.items) : value;
  if (typeof value !== 'object' || value === null) return value;
  const shape = schema.anyOf ? memberFor(schema.anyOf, value) : schema;
  return shape ? withoutNullMembers(shape, value as Record<string, unknown>) : value;
}

function mapped(list: unknown[], items: SchemaNode): unknown[] {
  const result = list.map((item) => withoutNulls(items, item));
  return result.some((item, index) => item !== list[index]) ? result : list;
}

function withoutNullMembers(schema: SchemaNode, value: Record<string, unknown>): unknown {
  const entries = Object.entries(value);
  const kept = entries.flatMap(([key, inner]): [string, unknown][] => {
    const member = memberSchema(schema, key);
    if (!member) return [[key, inner]];
    if (inner === null && !schema.required?.includes(key) && !allowsNull(member)) return [];
    return [[key, withoutNulls(member, inner)]];
  });
  const changed = kept.length < entries.length || kept.some(([key, inner]) => inner !== value[key]);
  return changed ? Object.fromEntries(kept) : value;
}

function memberSchema(schema: SchemaNode, key: string): SchemaNode | undefined {
  const { properties } = schema;
  return properties && Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties;
}

function allowsNull(schema: SchemaNode): boolean {
  const isAnything = !schema.type && !schema.anyOf && !schema.enum && !schema.$ref;
  return isAnything || schema.type === 'null' || !!schema.anyOf?.some(allowsNull);
}

/** The member of a union that the value means: it has what the member requires, and the fixed values agree. */
function memberFor(members: readonly SchemaNode[], value: object): SchemaNode | undefined {
  const objects = members.flatMap((member) => member.anyOf ?? [member]).filter((member) => member.properties);
  return objects.find(
    (member) => member.required?.every((key) => key in value) && Object.entries(value).every(fitsTagOf(member)),
  );
}

function fitsTagOf(member: SchemaNode): (entry: [string, unknown]) => boolean {
  return ([key, value]) => {
    const values = tagValues(member, key);
    return values.length === 0 || values.includes(value);
  };
}
