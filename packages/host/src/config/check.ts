/**
 * Checks a parsed file against the schema: returns the part that fits, and reports everything else with its position
 * and the problem. Unknown keys are left out with a warning, so that a file for a newer version still works. Decision
 * 0034 says why this is not `core/util/shape.ts`.
 */

import { didYouMean } from '@atrium/core/util/text.js';
import type { Node } from 'jsonc-parser';
import type { ConfigSchema, MapSchema, RecordSchema, TextSchema, UnionSchema } from './config-schema.js';

export interface Finding {
  readonly severity: 'error' | 'warning';
  /** The beginning of the problem, in characters from the start of the file. */
  readonly offset: number;
  readonly message: string;
}

export type Report = (finding: Finding) => void;

/** The part of a node's value that fits; undefined when nothing does. */
export function checked(schema: ConfigSchema, node: Node, report: Report, at: string): unknown {
  if ('not' in schema) return wrong(node, report, `${at}: ${schema.description}`);
  if ('anyOf' in schema) return checkedMember(schema, node, report, at);
  if (!isRightKind(schema, node)) return wrong(node, report, mismatch(schema, node, at));
  if ('items' in schema)
    return (node.children ?? []).map((item, index) => checked(schema.items, item, report, `${at}[${index}]`));
  if ('propertyNames' in schema) return checkedMap(schema, node, report, at);
  if ('properties' in schema) return checkedRecord(schema, node, report, at);
  return plainValue(node);
}

function wrong(node: Node, report: Report, message: string): undefined {
  report({ severity: 'error', offset: node.offset, message });
}

function isRightKind(schema: Exclude<ConfigSchema, UnionSchema | { not: unknown }>, node: Node): boolean {
  if ('enum' in schema) return schema.enum.includes(node.value);
  if (schema.type === 'integer') return Number.isSafeInteger(node.value) && node.value >= schema.minimum;
  if (schema.type === 'number') return typeof node.value === 'number' && node.value >= schema.minimum;
  if (schema.type === 'string') return node.type === 'string' && fits(schema, node.value);
  return node.type === schema.type;
}

function fits({ pattern }: TextSchema, text: string): boolean {
  return pattern === undefined || new RegExp(pattern).test(text);
}

function checkedMap(schema: MapSchema, node: Node, report: Report, at: string): object {
  const { propertyNames: names, additionalProperties: member } = schema;
  const entries = propertiesOf(node).flatMap(({ key, name, value }) => {
    if (fits(names, name)) return [[name, checked(member, value, report, below(at, name))] as const];
    wrong(key, report, `${at}: ${quoted(name)} must be ${expected(names)}`);
    return [];
  });
  return withoutUndefined(entries);
}

function checkedRecord(schema: RecordSchema, node: Node, report: Report, at: string): object {
  const known = Object.keys(schema.properties);
  const properties = propertiesOf(node);
  for (const name of schema.required.filter((needed) => !properties.some((property) => property.name === needed))) {
    wrong(node, report, `${at} must have "${name}" (${expected(schema.properties[name])})`);
  }
  const entries = properties.map(({ key, name, value }) => {
    const member = known.includes(name) ? schema.properties[name] : undefined;
    if (member) return [name, checked(member, value, report, below(at, name))] as const;
    report({ severity: 'warning', offset: key.offset, message: unknownKey(at, name, known) });
    return [name, undefined] as const;
  });
  return withoutUndefined(entries);
}

function unknownKey(at: string, name: string, known: readonly string[]): string {
  const where = at === '' ? '' : ` in ${at}`;
  return `unknown key ${quoted(name)}${where} is ignored${didYouMean(name, known)}`;
}

/** Records are distinguished by their `type` member, all other values by their kind. */
function checkedMember(schema: UnionSchema, node: Node, report: Report, at: string): unknown {
  const members = schema.anyOf.filter((member) => 'type' in member && member.type === node.type);
  if (members.length === 0) return wrong(node, report, mismatch(schema, node, at));
  const types = members.flatMap(typesOf);
  const type = types.length === 0 ? undefined : propertiesOf(node).find(({ name }) => name === 'type')?.value;
  const member = members.find((candidate) => isOfType(candidate, type));
  if (member) return checked(member, node, report, at);
  const near = typeof type?.value === 'string' ? didYouMean(type.value, types) : '';
  return wrong(type ?? node, report, `${below(at, 'type')} must be ${types.map(quoted).join(' or ')}${near}`);
}

function isOfType(schema: ConfigSchema, type: Node | undefined): boolean {
  const types = typesOf(schema);
  return type === undefined ? types.length === 0 : types.includes(type.value);
}

function typesOf(schema: ConfigSchema): readonly string[] {
  const type = 'properties' in schema ? schema.properties.type : undefined;
  return type && 'enum' in type ? type.enum : [];
}

interface Property {
  readonly key: Node;
  readonly name: string;
  readonly value: Node;
}

function propertiesOf(node: Node): Property[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key && value ? [{ key, name: String(key.value), value }] : [],
  );
}

/** The value of a node, with every name as an own property, even `__proto__`. */
function plainValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plainValue);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(propertiesOf(node).map(({ name, value }) => [name, plainValue(value)]));
}

function withoutUndefined(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Never repeats a text, which may be a key in the wrong place. */
function mismatch(schema: ConfigSchema, { type, value }: Node, at: string): string {
  const wanted = `${at === '' ? 'the file' : at} must be ${expected(schema)}`;
  if (type === 'object') return `${wanted}, but is an object`;
  if (type === 'array') return `${wanted}, but is a list`;
  if (type === 'string') return `${wanted}${'enum' in schema ? didYouMean(value, schema.enum) : ''}`;
  return `${wanted}, but is ${value}`;
}

function expected(schema: ConfigSchema | undefined): string {
  if (schema === undefined || 'not' in schema) return 'a value';
  if (schema.title !== undefined) return schema.title;
  if ('anyOf' in schema) return [...new Set(schema.anyOf.map(expected))].join(' or ');
  if ('enum' in schema) return schema.enum.map(quoted).join(' or ');
  if (schema.type === 'integer') return `a whole number of at least ${schema.minimum}`;
  if (schema.type === 'number') return `a number of at least ${schema.minimum}`;
  return EXPECTED[schema.type];
}

const EXPECTED = { string: 'a text', boolean: 'true or false', array: 'a list', object: 'an object' } as const;

/** A path such as `agents.ollama.models`. */
function below(at: string, name: string): string {
  const shown = /^[\w$-]+$/.test(name) ? name : quoted(name);
  return at === '' ? shown : `${at}.${shown}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
