/** Schemas of values that versions share: a value of a later version passes through all of them, and tests nothing. */
import { isJson, type Json } from '../../../../src/dialects/upstream/shapes.js';

/** The schema without the variants that stand for values of later versions. */
export function knownOnly(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(knownOnly);
  if (!isJson(schema)) return schema;
  const { anyOf, examples, ...rest } = schema;
  if (Array.isArray(examples)) return { ...rest, enum: examples };
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, knownOnly(value)]));
  if (!Array.isArray(anyOf)) return inner;
  return { ...inner, anyOf: anyOf.filter((variant) => !isForLater(variant)).map(knownOnly) };
}

function isForLater(variant: Json): boolean {
  const members = isJson(variant.properties) ? Object.values(variant.properties) : [];
  return 'not' in variant || members.some((member) => isJson(member) && 'not' in member);
}
