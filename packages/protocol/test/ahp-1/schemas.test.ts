/** The schemas of 1.0 as a whole. */
import { describe, expect, it } from 'vitest';
import { bundled, type Definitions } from '../../scripts/bundle.js';
import * as schemas from '../../src/ahp-1/schemas.js';
import type { SchemaNode } from '../../src/schema/node.js';

const calls = (table: Record<string, { params: SchemaNode; result: SchemaNode }>) =>
  Object.values(table).flatMap(({ params, result }) => [params, result]);

const ROOTS: SchemaNode[] = [
  ...Object.values(schemas.channelStates),
  ...Object.values(schemas.stateActions),
  ...calls(schemas.clientRequests),
  ...calls(schemas.hostRequests),
  ...Object.values(schemas.clientNotifications),
  ...Object.values(schemas.hostNotifications),
  ...Object.values(schemas.errorData),
  schemas.Snapshot,
];

/** Every schema with a name, wherever it is nested. */
function named(schema: unknown, found = new Map<string, Set<object>>(), seen = new Set<object>()) {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return found;
  seen.add(schema);
  const { $id } = schema as SchemaNode;
  if (typeof $id === 'string') found.set($id, (found.get($id) ?? new Set()).add(schema));
  for (const child of Object.values(schema)) named(child, found, seen);
  return found;
}

describe('the schemas of 1.0', () => {
  it('give every name to one schema only, although some come from the older model', () => {
    const found = new Map<string, Set<object>>();
    const seen = new Set<object>();
    for (const root of ROOTS) named(root, found, seen);
    const texts = [...found].map(([name, all]) => [name, new Set([...all].map((one) => JSON.stringify(one))).size]);
    expect(texts.filter(([, count]) => count !== 1)).toEqual([]);
    expect(found.size).toBeGreaterThan(200);
  });

  it('name every message, and bundle into one set of definitions', () => {
    const definitions: Definitions = new Map();
    for (const root of ROOTS) {
      expect(root.$id).toBeTypeOf('string');
      bundled(root, definitions);
    }
    expect([...definitions.keys()]).toEqual(expect.arrayContaining(['ChatState', 'AutomationRunState', 'CanvasState']));
  });
});
