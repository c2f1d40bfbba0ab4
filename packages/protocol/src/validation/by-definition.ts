/**
 * Checks values against their definitions, without generated code: a fifth of the size, for programs that are
 * downloaded. It accepts and rejects exactly what the compiled validators do, with the same complaints.
 */
import { type SchemaNode, tagValues } from '../schema/node.js';
import {
  type Definitions,
  escapePointer,
  type ValidationProblem,
  type Validator,
  type ValidatorTable,
} from './check.js';

/**
 * The keywords that a schema may use here, apart from `$ref` and `anyOf`, which occur alone. The generator refuses all
 * others.
 */
export const KEYWORDS: readonly string[] = [
  'type',
  'const',
  'enum',
  'not',
  'minimum',
  'maximum',
  'items',
  'required',
  'properties',
  'additionalProperties',
];

/** The first complaint about a value, if any. Its path is relative to that value. */
type Check = (value: unknown) => ValidationProblem | undefined;

type Members = Readonly<Record<string, unknown>>;

/** A validator for each name, built when it is first used. */
export function tableFrom(names: Readonly<Record<string, string>>, checks: DefinitionChecks): ValidatorTable {
  return new Map(
    Object.entries(names).map(([name, definition]) => [name, { check: checks.validator(definition), definition }]),
  );
}

export class DefinitionChecks {
  readonly #named = new Map<string, Check>();

  constructor(private readonly definitions: Definitions) {}

  validator(definition: string): Validator {
    const check: Validator = (value) => {
      const complaint = this.#reference(definition)(value);
      check.errors = complaint ? [complaint] : null;
      return !complaint;
    };
    return check;
  }

  #reference($ref: string): Check {
    let check = this.#named.get($ref);
    if (check) return check;
    // A definition may refer to itself, so its check is built when the first value reaches it.
    let target: Check | undefined;
    check = (value) => {
      target ??= this.#checkOf(this.definitions.resolve({ $ref }));
      return target(value);
    };
    this.#named.set($ref, check);
    return check;
  }

  #checkOf(schema: SchemaNode): Check {
    if (schema.$ref) return this.#reference(schema.$ref);
    if (schema.anyOf) return schema.tag ? this.#tagged(schema.tag, schema.anyOf) : this.#anyOf(schema.anyOf);
    const checks = [typeCheck(schema.type), ...valueChecks(schema), ...this.#insideChecks(schema)].filter(
      (check) => check !== undefined,
    );
    return checks.length === 1 && checks[0] ? checks[0] : (value) => firstProblem(checks, value);
  }

  #insideChecks({ items, required, additionalProperties, properties }: SchemaNode): Check[] {
    return [
      ...(items ? [itemsCheck(this.#checkOf(items))] : []),
      ...(required ? [requiredCheck(required)] : []),
      ...(additionalProperties ? [othersCheck(this.#checkOf(additionalProperties), properties)] : []),
      ...(properties ? [membersCheck(Object.entries(properties).map(([key, s]) => [key, this.#checkOf(s)]))] : []),
    ];
  }

  /** If no member of the union fits, the complaint is that of the first. */
  #anyOf(schemas: readonly SchemaNode[]): Check {
    const checks = schemas.map((schema) => this.#checkOf(schema));
    return (value) => {
      let first: ValidationProblem | undefined;
      for (const check of checks) {
        const complaint = check(value);
        if (!complaint) return undefined;
        first ??= complaint;
      }
      return first;
    };
  }

  /** A union whose members differ in one property: the complaint is that of the intended member. */
  #tagged(tag: string, schemas: readonly SchemaNode[]): Check {
    const values = schemas.map((schema) => tagValues(this.#resolved(schema), tag));
    const byValue = new Map(
      schemas.flatMap((schema, index) => values[index]?.map((value) => [value, this.#checkOf(schema)] as const) ?? []),
    );
    const isOpen = values.some((list) => list.length === 0);
    const isTag = isOpen ? typeCheck('string') : enumCheck([...byValue.keys()]);
    return (value) => {
      if (!isObject(value)) return problemOf('type', { type: 'object' });
      const meant = byValue.get(value[tag]);
      if (meant) return meant(value);
      if (value[tag] === undefined) return problemOf('required', { missingProperty: tag });
      return inside(tag, isTag?.(value[tag]));
    };
  }

  #resolved(schema: SchemaNode): SchemaNode {
    const target = this.definitions.resolve(schema);
    return target.anyOf ? { ...target, anyOf: target.anyOf.map((member) => this.#resolved(member)) } : target;
  }
}

function firstProblem(checks: readonly Check[], value: unknown): ValidationProblem | undefined {
  for (const check of checks) {
    const complaint = check(value);
    if (complaint) return complaint;
  }
  return undefined;
}

function problemOf(keyword: string, params: Members): ValidationProblem {
  return { instancePath: '', keyword, params };
}

/** The complaint, with its path relative to the containing value. */
function inside(key: string | number, complaint: ValidationProblem | undefined): ValidationProblem | undefined {
  return complaint && { ...complaint, instancePath: `/${escapePointer(String(key))}${complaint.instancePath}` };
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

function typeCheck(type: string | undefined): Check | undefined {
  if (type === undefined) return undefined;
  const isOfType = TYPES[type];
  if (!isOfType) throw new Error(`a definition asks for the unknown type ${type}`);
  const complaint = problemOf('type', { type });
  return (value) => (isOfType(value) ? undefined : complaint);
}

/** The checks of a string or a number, whose type has already been checked. */
function valueChecks({ const: only, enum: choices, not, minimum, maximum }: SchemaNode): Check[] {
  return [
    ...(maximum === undefined ? [] : [unless((n) => Number(n) <= maximum, problemOf('maximum', { limit: maximum }))]),
    ...(minimum === undefined ? [] : [unless((n) => Number(n) >= minimum, problemOf('minimum', { limit: minimum }))]),
    ...(only === undefined ? [] : [unless((value) => value === only, problemOf('const', { allowedValue: only }))]),
    ...(choices ? [enumCheck(choices)] : []),
    ...(not?.enum ? [unless((value) => !not.enum?.includes(value), problemOf('not', {}))] : []),
  ];
}

function unless(holds: (value: unknown) => boolean, complaint: ValidationProblem): Check {
  return (value) => (holds(value) ? undefined : complaint);
}

function enumCheck(choices: readonly unknown[]): Check {
  return unless((value) => choices.includes(value), problemOf('enum', { allowedValues: choices }));
}

function itemsCheck(check: Check): Check {
  return (list) => {
    const items = list as unknown[];
    for (let index = 0; index < items.length; index++) {
      const complaint = check(items[index]);
      if (complaint) return inside(index, complaint);
    }
    return undefined;
  };
}

function requiredCheck(required: readonly string[]): Check {
  return (value) => {
    const missing = required.find((key) => (value as Members)[key] === undefined);
    return missing === undefined ? undefined : problemOf('required', { missingProperty: missing });
  };
}

function membersCheck(checks: readonly (readonly [string, Check])[]): Check {
  return (value) => {
    for (const [key, check] of checks) {
      const member = (value as Members)[key];
      const complaint = member === undefined ? undefined : check(member);
      if (complaint) return inside(key, complaint);
    }
    return undefined;
  };
}

/** Checks the members without a schema of their own. */
function othersCheck(check: Check, properties: SchemaNode['properties'] = {}): Check {
  return (value) => {
    for (const [key, member] of Object.entries(value as Members)) {
      const complaint = Object.hasOwn(properties, key) ? undefined : check(member);
      if (complaint) return inside(key, complaint);
    }
    return undefined;
  };
}
