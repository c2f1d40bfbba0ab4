/** Compiles one schema of this package by itself, with the strictest reading that Ajv has. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';

/** A copy without names: a part that occurs twice in one schema would otherwise claim its `$id` twice. */
export function plainSchema(schema: TSchema): Record<string, unknown> {
  const copy: Record<string, unknown> = structuredClone({ ...schema });
  dropIds(copy);
  return copy;
}

/** A function that says whether a value fits the schema. */
export function acceptorOf(schema: TSchema): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: true, strictTypes: true, strictRequired: true, strictTuples: true });
  const validate = ajv.compile(plainSchema(schema));
  return (value) => validate(value) === true;
}

function dropIds(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('$id' in node) delete node.$id;
  for (const child of Object.values(node)) dropIds(child);
}
