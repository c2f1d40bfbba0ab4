/** Calls a compiled validator and puts its complaint into words. The validators themselves are generated. */
import type { SchemaNode } from '../schema/node.js';
import { withoutNulls } from './absent.js';
import type { Checked, Problem } from './checked.js';

/** What Ajv leaves behind on a validator after a rejection. */
interface Complaint {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface CompiledValidator {
  (value: unknown): boolean;
  errors?: readonly Complaint[] | null;
}

/** A validator, and the name of the definition it was made from. */
export interface TableEntry {
  readonly check: CompiledValidator;
  readonly definition: string;
}

export type ValidatorTable = ReadonlyMap<string, TableEntry>;

/** All definitions behind a set of validators. They are read only when a message is turned down, so late. */
export class Definitions {
  #byName: Readonly<Record<string, SchemaNode>> | undefined;

  constructor(private readonly text: string) {}

  readonly resolve = (schema: SchemaNode): SchemaNode => {
    if (!schema.$ref) return schema;
    this.#byName ??= JSON.parse(this.text) as Record<string, SchemaNode>;
    return this.#byName[schema.$ref.replace('#/$defs/', '')] ?? {};
  };
}

/** A peer may send `null` for a member it has no value for; that is read as if the member were not there. */
export function checkWith<T>({ check, definition }: TableEntry, definitions: Definitions, value: unknown): Checked<T> {
  if (check(value)) return { ok: true, value: value as T };
  const problem = problemOf(check.errors?.[0]);
  const cleaned = withoutNulls({ $ref: definition }, value, definitions.resolve);
  if (cleaned === value || !check(cleaned)) return { ok: false, problem };
  return { ok: true, value: cleaned as T };
}

function problemOf(complaint: Complaint | undefined): Problem {
  if (!complaint) return { path: '', expected: 'valid' };
  const { instancePath, keyword, params } = complaint;
  const phrase = PHRASES[keyword];
  if (keyword === 'required' || keyword === 'additionalProperties') {
    const member = String(params.missingProperty ?? params.additionalProperty);
    return {
      path: `${instancePath}/${escapePointer(member)}`,
      expected: keyword === 'required' ? 'present' : 'absent',
    };
  }
  return { path: instancePath, expected: phrase ? phrase(params) : 'of the declared shape' };
}

const PHRASES: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => string>> = {
  type: ({ type }) => (type === 'null' ? 'null' : `${/^[aio]/.test(String(type)) ? 'an' : 'a'} ${type}`),
  const: ({ allowedValue }) => JSON.stringify(allowedValue),
  enum: ({ allowedValues }) =>
    `one of ${(allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`,
  pattern: ({ pattern }) => `a match for ${pattern}`,
  minimum: ({ limit }) => `at least ${limit}`,
  maximum: ({ limit }) => `at most ${limit}`,
};

function escapePointer(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1');
}
