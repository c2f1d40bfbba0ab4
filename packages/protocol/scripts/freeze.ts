/**
 * Prints the types of the protocol as plain TypeScript, independent of the schemas: the snapshot that a version is
 * frozen into. Run once when a version is closed: `npx tsx scripts/freeze.ts V0_4 > src/versions/v0_4.ts`.
 */
import type { SchemaNode } from '../src/schema/node.js';
import * as ahp from '../src/schemas.js';
import { bundled, type Definitions } from './bundle.js';

const name = process.argv[2] ?? 'Frozen';
const definitions: Definitions = new Map();

const type = (schema: SchemaNode): string => typeText(bundled(schema, definitions) as SchemaNode);
const rows = (table: Readonly<Record<string, SchemaNode>>): string =>
  Object.entries(table)
    .map(([key, schema]) => `${JSON.stringify(key)}: ${type(schema)};`)
    .join('\n');
const calls = (table: Readonly<Record<string, { params: SchemaNode; result: SchemaNode }>>): string =>
  Object.entries(table)
    .map(([method, { params, result }]) => `${method}: { params: ${type(params)}; result: ${type(result)} };`)
    .join('\n');

const catalogue = [
  `states: {\n${rows(ahp.channelStates)}\n};`,
  `actions: {\n${rows(ahp.stateActions)}\n};`,
  `clientRequests: {\n${calls(ahp.clientRequests)}\n};`,
  `hostRequests: {\n${calls(ahp.hostRequests)}\n};`,
  `clientNotifications: {\n${rows(ahp.clientNotifications)}\n};`,
  `hostNotifications: {\n${rows(ahp.hostNotifications)}\n};`,
  `errorData: {\n${rows(ahp.errorData)}\n};`,
].join('\n');

console.log(
  '/** Frozen: the wire as this version has it. Never edited; `compat.ts` holds the living types against it. */\n',
);
console.log(`export interface ${name} {\n${catalogue}\n}\n`);
for (const [title, schema] of [...definitions].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`export type ${title} = ${typeText(schema as SchemaNode)};\n`);
}

function typeText(schema: SchemaNode): string {
  if (schema.$ref) return schema.$ref.replace('#/$defs/', '');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.filter(isKnownMember).map(typeText).join(' | ');
  return plainType(schema);
}

/** The open member of a union is for what a later version adds: it is no part of this one. */
function isKnownMember(member: SchemaNode): boolean {
  return !Object.values(member.properties ?? {}).some((property) => 'not' in property);
}

function plainType(schema: SchemaNode): string {
  if (schema.type === 'array') return `Array<${schema.items ? typeText(schema.items) : 'unknown'}>`;
  if (schema.type === 'object') return objectType(schema);
  return (
    { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }[schema.type ?? ''] ??
    'unknown'
  );
}

function objectType({ properties, additionalProperties, required }: SchemaNode): string {
  if (additionalProperties) return `Record<string, ${typeText(additionalProperties)}>`;
  const members = Object.entries(properties ?? {}).map(
    ([key, member]) => `${key}${required?.includes(key) ? '' : '?'}: ${typeText(member)};`,
  );
  return members.length ? `{ ${members.join(' ')} }` : '{}';
}
