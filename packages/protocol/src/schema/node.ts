/** Schemas as plain data, for code that walks them without the schema library. */

export type SchemaNode = SchemaKeywords & object;

interface SchemaKeywords {
  readonly $id?: string;
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly not?: SchemaNode;
  /** Not part of JSON Schema: the property that tells the members of `anyOf` apart. */
  readonly tag?: string;
}

/** The values that the property `tag` can have in a member of a union; empty when it is not fixed. */
export function tagValues(member: SchemaNode, tag: string): unknown[] {
  if (member.anyOf) return member.anyOf.flatMap((inner) => tagValues(inner, tag));
  const property = member.properties?.[tag];
  if (property?.const !== undefined) return [property.const];
  return property?.enum ? [...property.enum] : [];
}
