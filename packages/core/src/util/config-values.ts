/** Checks configuration values against the small part of JSON Schema that describes them. */
import type { SessionConfigPropertySchema, SessionConfigSchema } from '@atrium/protocol';

type Values = Record<string, unknown>;

/** What a value should have been; undefined when it fits. */
export function badValue(property: SessionConfigPropertySchema, value: unknown): string | undefined {
  const actual = Array.isArray(value) ? 'array' : typeof value;
  if (actual !== property.type) return `of type ${property.type}`;
  const isListed = property.enum?.includes(String(value)) ?? true;
  if (!isListed && !property.enumDynamic) return `one of ${property.enum?.join(', ')}`;
  return undefined;
}

/** What is wrong with a set of values; undefined when they fit. Properties that are not described are ignored. */
export function badValues(schema: SessionConfigSchema, values: Values): string | undefined {
  const missing = schema.required?.find((key) => !(key in values));
  if (missing) return `/config/${missing} must be present`;
  for (const [key, property] of Object.entries(schema.properties)) {
    const bad = key in values ? badValue(property, values[key]) : undefined;
    if (bad) return `/config/${key} must be ${bad}`;
  }
  return undefined;
}

/** The values given, and the defaults of those that were not. */
export function withDefaults(schema: SessionConfigSchema, values: Values): Values {
  const defaults = Object.entries(schema.properties).flatMap(([key, { default: value }]) =>
    value === undefined ? [] : [[key, value]],
  );
  return { ...Object.fromEntries(defaults), ...values };
}
