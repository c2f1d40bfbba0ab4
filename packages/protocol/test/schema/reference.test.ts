/** The protocol reference in `docs/protocol`: complete, current, and with a meaning for everything. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allEntries, definitions } from '../../scripts/reference/entries.js';
import { anchorOf } from '../../scripts/reference/layout.js';
import { MEMBER_DESCRIPTIONS } from '../../scripts/reference/member-descriptions.js';
import { referencePages } from '../../scripts/reference/pages.js';
import { meaning } from '../../scripts/reference/text.js';
import { stateActions } from '../../src/ahp-1/actions.js';
import { ErrorCode } from '../../src/ahp-1/error-codes.js';
import { clientNotifications, clientRequests, hostNotifications, hostRequests } from '../../src/ahp-1/methods.js';
import { GatewayErrorCode, ToolErrorCode } from '../../src/provider/error-codes.js';
import { TO_GATEWAY_TYPES, TO_PROVIDER_TYPES } from '../../src/provider/message-types.js';
import type { SchemaNode } from '../../src/schema/node.js';

const FOLDER = new URL('../../../../docs/protocol/', import.meta.url);
const pages = referencePages();
const everything = [...pages.values()].join('\n');

/** Types so small that what they say of themselves explains no member. */
const BARE = ['URI', 'Seq', 'Meta', 'ProviderJsonObject', 'ProviderText'];

describe('the protocol reference', () => {
  it('is what the schemas say (after a change: npm run generate)', () => {
    expect(readdirSync(FOLDER).sort()).toEqual([...pages.keys()].sort());
    for (const [name, text] of pages) expect(readFileSync(new URL(name, FOLDER), 'utf8'), name).toBe(text);
  });

  it.each([
    ['command', Object.keys({ ...clientRequests, ...hostRequests })],
    ['notification', Object.keys({ ...clientNotifications, ...hostNotifications })],
    ['action', Object.keys(stateActions)],
    ['provider message', [...TO_GATEWAY_TYPES, ...TO_PROVIDER_TYPES]],
  ])('describes every %s', (_kind, names) => {
    for (const name of names) expect(everything).toContain(`\n### \`${name}\`\n`);
  });

  it('describes every type that has a name, and every error code', () => {
    const described = new Set(allEntries().flatMap((entry) => entry.definitions));
    expect([...definitions.keys()].filter((name) => !described.has(name))).toEqual([]);
    for (const codes of [ErrorCode, GatewayErrorCode, ToolErrorCode]) {
      for (const [name, code] of Object.entries(codes)) expect(everything).toContain(`\n| \`${code}\` | ${name} | `);
    }
  });

  it('has no heading twice on a page, so that every anchor leads to one place', () => {
    for (const [name, text] of pages) {
      const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
      expect([name, anchors.filter((anchor, index) => anchors.indexOf(anchor) < index)]).toEqual([name, []]);
    }
  });
});

describe('the meaning of a member', () => {
  const bare = new Set(BARE.map((name) => definitions.get(name)?.description));
  const members = [...definitions].flatMap(([name, schema]) => membersOf(name, schema as SchemaNode));

  it('is said for every member (if not: give it a description)', () => {
    const unsaid = members.filter(({ name, schema }) => {
      const text = meaning(name, schema, definitions);
      return schema.const === undefined && (text === '' || bare.has(text));
    });
    expect(unsaid.map(({ path }) => path)).toEqual([]);
  });

  it('is looked up in no list that has grown old', () => {
    const used = new Set(
      members.filter(({ name, schema }) => meaning(name, schema, definitions) === MEMBER_DESCRIPTIONS[name]),
    );
    const names = new Set([...used].map(({ name }) => name));
    expect(Object.keys(MEMBER_DESCRIPTIONS).filter((word) => !names.has(word))).toEqual([]);
  });
});

interface Member {
  readonly path: string;
  readonly name: string;
  readonly schema: SchemaNode;
}

/** All members of a definition, also those of the objects inside it that have no name. */
function membersOf(path: string, schema: SchemaNode): Member[] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    { path: `${path}.${name}`, name, schema: member },
    ...membersOf(`${path}.${name}`, member),
  ]);
  const isKnown = (member: SchemaNode) => !Object.values(member.properties ?? {}).some((inside) => 'not' in inside);
  return [...inner, ...(schema.anyOf ?? []).filter(isKnown).flatMap((member) => membersOf(path, member))];
}
