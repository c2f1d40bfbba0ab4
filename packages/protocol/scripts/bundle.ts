/** Turns schemas that nest each other into one flat set of named definitions that refer to each other. */
import type { SchemaNode } from '../src/schema/node.js';

export type JsonSchema = { [key: string]: unknown };
export type Definitions = Map<string, JsonSchema>;

/** TypeBox writes a map this way; `.` does not match a line break, so a plain `additionalProperties` is better. */
const ANY_KEY = '^.*$';

/** The schema with every named part moved into `definitions`, and a reference left in its place. */
export function bundled(schema: SchemaNode, definitions: Definitions): JsonSchema {
  for (const [name, definition] of Object.entries(schema.$defs ?? {})) define(name, definition, definitions);
  if (schema.$ref) return reference(schema.$ref);
  if (schema.$id) return define(schema.$id, schema, definitions);
  return withChildren(schema, (child) => bundled(child, definitions));
}

export function reference(name: string): JsonSchema {
  return { $ref: `#/$defs/${name}` };
}

function define(name: string, schema: SchemaNode, definitions: Definitions): JsonSchema {
  if (!definitions.has(name)) {
    definitions.set(name, {});
    const { $id: _name, ...anonymous } = schema;
    definitions.set(
      name,
      withChildren(anonymous, (child) => bundled(child, definitions)),
    );
  }
  return reference(name);
}

/** The schema with each schema directly inside it replaced. */
export function withChildren(schema: SchemaNode, change: (child: SchemaNode) => JsonSchema): JsonSchema {
  const { patternProperties, ...rest } = schema as SchemaNode & { patternProperties?: Record<string, SchemaNode> };
  const anyKey = patternProperties?.[ANY_KEY];
  const additional = rest.additionalProperties ?? anyKey;
  return {
    ...rest,
    ...(rest.properties && { properties: mapValues(rest.properties, change) }),
    ...(typeof additional === 'object' && { additionalProperties: change(additional) }),
    ...(rest.items && { items: change(rest.items) }),
    ...(rest.anyOf && { anyOf: rest.anyOf.map(change) }),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

/** The schema without descriptions and examples: they are for people, and not on the wire. */
export function withoutProse(schema: JsonSchema): JsonSchema {
  const { description: _prose, examples: _values, ...bare } = schema;
  return withChildren(bare as SchemaNode, (child) => withoutProse(child as JsonSchema));
}
