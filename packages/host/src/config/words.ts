/** How the check speaks: places, what was expected and what is there. */
import type { Node } from 'jsonc-parser';
import { didYouMean } from '../core/util/suggest.js';
import type { ConfigSchema } from './schema-kinds.js';

/** A text is never repeated: it may be a key in the wrong place. */
export function mismatch(schema: ConfigSchema, { type, value }: Node, at: string): string {
  const wanted = `${at === '' ? 'the file' : at} must be ${expected(schema)}`;
  if (type === 'object') return `${wanted}, but is an object`;
  if (type === 'array') return `${wanted}, but is a list`;
  if (type === 'string') return `${wanted}${'enum' in schema ? didYouMean(value, schema.enum) : ''}`;
  return `${wanted}, but is ${value}`;
}

export function expected(schema: ConfigSchema | undefined): string {
  if (schema === undefined || 'not' in schema) return 'a value';
  if (schema.title !== undefined) return schema.title;
  if ('anyOf' in schema) return [...new Set(schema.anyOf.map(expected))].join(' or ');
  if ('enum' in schema) return schema.enum.map(quoted).join(' or ');
  if (schema.type === 'integer') return `a whole number of at least ${schema.minimum}`;
  return EXPECTED[schema.type];
}

const EXPECTED = { string: 'a text', boolean: 'true or false', array: 'a list', object: 'an object' } as const;

/** `agents.ollama.models` */
export function below(at: string, name: string): string {
  const shown = /^[\w$-]+$/.test(name) ? name : quoted(name);
  return at === '' ? shown : `${at}.${shown}`;
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}
