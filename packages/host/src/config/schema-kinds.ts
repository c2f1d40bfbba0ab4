/**
 * The small part of JSON Schema that the configuration is described in, and the type of the values that a description
 * allows. One description gives the published schema, the check at the start and the TypeScript type.
 */

interface Described {
  /** What is expected, as the end of the sentence "must be …". */
  readonly title?: string;
  readonly description?: string;
}

export interface TextSchema extends Described {
  readonly type: 'string';
  readonly pattern?: string;
}
export interface ChoiceSchema extends Described {
  readonly enum: readonly string[];
}
export interface FlagSchema extends Described {
  readonly type: 'boolean';
}
export interface CountSchema extends Described {
  readonly type: 'integer';
  readonly minimum: number;
}
export interface ListSchema extends Described {
  readonly type: 'array';
  readonly items: ConfigSchema;
}
/** Any names, one kind of value. */
export interface MapSchema extends Described {
  readonly type: 'object';
  readonly propertyNames: TextSchema;
  readonly additionalProperties: ConfigSchema;
}
/** Known names, each with a kind of its own. */
export interface RecordSchema extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ConfigSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}
/** Records that their `type` tells apart (one of them may do without), or values of different kinds. */
export interface UnionSchema extends Described {
  readonly anyOf: readonly ConfigSchema[];
}
/** A key that people try and that must not be there; the description says what to do instead. */
export interface NeverSchema {
  readonly not: Readonly<Record<string, never>>;
  readonly description: string;
}
/** Passed on as it is. */
export interface DataSchema extends Described {
  readonly type: 'object';
  readonly additionalProperties: true;
}

export type ConfigSchema =
  | TextSchema
  | ChoiceSchema
  | FlagSchema
  | CountSchema
  | ListSchema
  | MapSchema
  | RecordSchema
  | UnionSchema
  | NeverSchema
  | DataSchema;

/** The type of the values that a schema allows. */
export type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Choice)[] }
  ? Choice
  : Schema extends { readonly type: keyof Plain }
    ? Plain[Schema['type']]
    : Schema extends { readonly items: infer Items }
      ? readonly ValueOf<Items>[]
      : Schema extends { readonly anyOf: readonly (infer Member)[] }
        ? ValueOf<Member>
        : ObjectOf<Schema>;

interface Plain {
  readonly string: string;
  readonly boolean: boolean;
  readonly integer: number;
}

type ObjectOf<Schema> = Schema extends {
  readonly properties: infer Known;
  readonly required: readonly (infer Needed)[];
}
  ? { readonly [Key in keyof Known as Key extends Needed ? Key : never]: ValueOf<Known[Key]> } & {
      readonly [Key in keyof Known as Key extends Needed ? never : Key]?: ValueOf<Known[Key]>;
    }
  : Schema extends { readonly additionalProperties: true }
    ? Readonly<Record<string, unknown>>
    : Schema extends { readonly additionalProperties: infer Member }
      ? Readonly<Record<string, ValueOf<Member>>>
      : never;

export function record<
  const Known extends Readonly<Record<string, ConfigSchema>>,
  const Needed extends readonly (string & keyof Known)[],
>(description: string, properties: Known, required: Needed) {
  return { description, type: 'object', properties, required, additionalProperties: false } as const;
}

export function mapOf<const Names extends TextSchema, const Member extends ConfigSchema>(
  description: string,
  propertyNames: Names,
  additionalProperties: Member,
) {
  return { description, type: 'object', propertyNames, additionalProperties } as const;
}
