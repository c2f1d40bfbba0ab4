/** Random values that a schema allows. Strings that are ids come from a small pool, so that actions hit their targets. */
import fc from 'fast-check';
import type { SchemaNode } from '../../src/schema/node.js';

const IDS = ['a', 'b', 'c', '', '__proto__'];
const TEXTS = ['', 'x', 'Port the parser', 'é\u2028\ud83d', '{"a":1}'];
const MAX_DEPTH = 6;

/** Where a schema refers to itself, the recursion ends with this. */
const LEAF: SchemaNode = { const: { type: 'string', title: 'x' } };

/** Which named members hold ids. */
const isId = (key: string) => /id$/i.test(key) || key === 'order';

export function arbitraryFrom(schema: SchemaNode, depth = 0, key = ''): fc.Arbitrary<unknown> {
  if (schema.$ref) return arbitraryFrom(schema.$defs?.[schema.$ref] ?? LEAF, depth, key);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.examples) return fc.constantFrom(...schema.examples, 'unheard-of');
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((member) => arbitraryFrom(member, depth, key)));
  switch (schema.type) {
    case 'string':
      return 'not' in schema ? fc.constant('unheard-of') : fc.constantFrom(...(isId(key) ? IDS : TEXTS));
    case 'number':
    case 'integer':
      return fc.integer({ min: 0, max: 127 });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(arbitraryFrom(schema.items ?? {}, depth + 1, key), { maxLength: depth > MAX_DEPTH ? 0 : 3 });
    case 'object':
      return arbitraryObject(schema, depth);
    default:
      return fc.constantFrom(null, 1, 'x', { nested: [true] });
  }
}

function arbitraryObject(schema: SchemaNode, depth: number): fc.Arbitrary<unknown> {
  if (schema.additionalProperties) {
    const value = arbitraryFrom(schema.additionalProperties, depth + 1);
    return fc.dictionary(fc.constantFrom(...IDS), value, { maxKeys: depth > MAX_DEPTH ? 0 : 3 });
  }
  const required = schema.required ?? [];
  const kept = Object.entries(schema.properties ?? {}).filter(([key]) => depth <= MAX_DEPTH || required.includes(key));
  const members: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    kept.map(([key, member]) => [key, arbitraryFrom(member, depth + 1, key)]),
  );
  return fc.record(members, { requiredKeys: [...required] });
}
