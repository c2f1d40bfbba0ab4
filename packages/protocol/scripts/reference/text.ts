/** Schemas as Markdown: what a type is called, and the table of its members. */
import type { SchemaNode } from '../../src/schema/node.js';
import type { Definitions } from '../bundle.js';
import { MEMBER_DESCRIPTIONS } from './member-descriptions.js';

type Node = SchemaNode & { readonly pattern?: string; readonly minimum?: number; readonly not?: unknown };

export interface Writer {
  readonly definitions: Definitions;
  /** The link to a definition, as Markdown. */
  link(name: string): string;
}

/** What a definition is: its members, its choices, or what it is one of. */
export function body(schema: Node, writer: Writer): string {
  if (schema.properties) return table(schema, writer);
  if (schema.enum) return `One of ${choices(schema.enum)}.`;
  if (schema.anyOf) return union(schema.anyOf, writer);
  return `${capital(typeText(schema, writer))}.`;
}

function union(members: readonly Node[], writer: Writer): string {
  const known = members.filter((member) => !isOpen(member));
  const tables = known.filter((member) => member.properties).map((member) => table(member, writer));
  const names = known.filter((member) => !member.properties).map((member) => `- ${typeText(member, writer)}`);
  const more =
    known.length < members.length ? ['Later versions may add others; peers pass on those that they do not know.'] : [];
  return [
    ...(names.length > 0 ? [`One of\n\n${names.join('\n')}`] : []),
    ...(tables.length > 0 ? [tables.join('\n\nor\n\n')] : []),
    ...more,
  ].join('\n\n');
}

/** The last member of an open union: any object whose tag is not known. */
function isOpen(member: Node): boolean {
  return Object.values(member.properties ?? {}).some((property: Node) => property.not !== undefined && property.type);
}

function table(schema: Node, writer: Writer): string {
  const rows = members(schema, writer);
  if (rows.length === 0) return 'No members.';
  return ['| Member | Type | Required | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function members(schema: Node, writer: Writer, prefix = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const required = schema.required?.includes(name) ? 'yes' : '';
    const row = [`\`${prefix}${name}\``, typeText(member, writer), required, meaning(name, member, writer.definitions)];
    const inner = member.properties ? members(member, writer, `${prefix}${name}.`) : [];
    return [`| ${row.map(inCell).join(' | ')} |`, ...inner];
  });
}

/** Its own description, else that of its name, else that of its type. */
export function meaning(name: string, member: Node, definitions: Definitions): string {
  if (member.description) return member.description;
  if (member.const !== undefined) return '';
  return (
    MEMBER_DESCRIPTIONS[name] ?? nameOf(member).map((type) => String(definitions.get(type)?.description ?? ''))[0] ?? ''
  );
}

/** The named types inside a list, a map or a choice. */
function nameOf(schema: Node): string[] {
  if (schema.$ref) return [schema.$ref.replace('#/$defs/', '')];
  const inside = [schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])];
  return inside.flatMap((inner) => (inner ? nameOf(inner) : []));
}

export function typeText(schema: Node, writer: Writer): string {
  if (schema.$ref) return writer.link(schema.$ref.replace('#/$defs/', ''));
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum) return choices(schema.enum);
  if (schema.anyOf) return schema.anyOf.map((member) => typeText(member, writer)).join(' or ');
  if (schema.not) return 'never';
  return plainText(schema, writer);
}

function plainText(schema: Node, writer: Writer): string {
  const { type, items, additionalProperties, pattern, minimum } = schema;
  if (type === undefined) return 'any JSON';
  if (items) return `list of ${typeText(items, writer)}`;
  if (additionalProperties) return `map to ${typeText(additionalProperties, writer)}`;
  if (pattern) return `string like \`${pattern}\``;
  return minimum === undefined ? type : `${type} ≥ ${minimum}`;
}

function choices(values: readonly unknown[]): string {
  const texts = values.map(code);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;
const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
