/** Holds the living schemas against every published version. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../scripts/bundle.js';
import { breaks, FROZEN_FOLDER, frozenWires, livingWire, type Wire } from '../../scripts/frozen.js';
import { fingerprint } from '../../scripts/json-schema.js';
import { AHP_1_WIRE, wireOf } from '../../scripts/wires.js';
import { AHP_1_FINGERPRINT, AHP_1_VERSION } from '../../src/versions/agreement.js';
import { AHP_0_3_FINGERPRINT, AHP_0_3_VERSION } from '../../src/versions/versions.js';

describe('published versions', () => {
  it('are 0.2.0, 0.3.0 and 1.0.0', () => {
    expect([...frozenWires().keys()]).toEqual(['0.2.0', '0.3.0', '1.0.0']);
  });

  it.each([...frozenWires()])(
    '%s: its peers understand every message as before (else: make a member optional, or cut a new version)',
    (version, wire) => expect(breaks(wire, livingWire(wireOf(version).schemas))).toEqual([]),
  );

  it.each([
    [new URL('0.2.0.json', FROZEN_FOLDER), '7f912198ed4f9eec3bd25862a2a15c53e14d23eb0f61648161255cd1ab8ddae7'],
    [new URL('0.3.0.json', FROZEN_FOLDER), 'b4704dd45a464735441c00c7dbb6b305bca24d509683f63075cf1e0bb0c8bce5'],
    [new URL('1.0.0.json', FROZEN_FOLDER), '6b75e5349c80bb5c478d1fb05072d86d18cb9874a12b9ff0e9e4f7595eceb313'],
    [
      new URL('../../src/dialects/sessions-v1/wire.ts', import.meta.url),
      '48366d872e700f6cd67dedff493c824069519b50d750840ab6f4290da6710fc3',
    ],
  ])('%s has not been touched since it was frozen', (file, hash) => {
    expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(hash);
  });
});

describe('a change that a peer of a published version', () => {
  const string = { type: 'string' };
  const list = (item: object) => ({ type: 'array', items: item });
  const item = { type: 'object', required: ['kind'], properties: { kind: { enum: ['a', 'b'] }, size: string } };
  const message = {
    type: 'object',
    required: ['id'],
    properties: { id: string, note: string, inner: list(item), map: { type: 'object', additionalProperties: string } },
  };
  const open = (...tags: string[]) => ({
    anyOf: [
      ...tags.map((tag) => ({ type: 'object', required: ['type'], properties: { type: { const: tag } } })),
      { type: 'object', required: ['type'], properties: { type: { type: 'string', not: { enum: tags } } } },
    ],
  });
  const closed = (...members: object[]) => ({ anyOf: members });
  const wire = (definition: JsonSchema): Wire => ({
    messages: { actions: { m: 'M' } },
    definitions: { M: definition },
  });
  const found = (was: JsonSchema, is: JsonSchema) => breaks(wire(was), wire(is));
  const withMembers = (properties: object, required: string[] = ['id']) => ({ ...message, required, properties });
  const { id, note, inner, map } = message.properties;

  it.each<[string, JsonSchema, JsonSchema]>([
    ['nothing at all', message, message],
    ['a new optional member', message, withMembers({ ...message.properties, extra: string })],
    [
      'a new optional member deep inside',
      message,
      withMembers({ id, note, map, inner: list({ ...item, properties: { ...item.properties, extra: string } }) }),
    ],
    ['a new member of an open union', open('a', 'b'), open('a', 'b', 'c')],
    ['members in another order', message, withMembers({ map, inner, note, id })],
  ])('does not notice: %s', (_what, was, is) => expect(found(was, is)).toEqual([]));

  it.each<[string, JsonSchema, JsonSchema, string]>([
    ['a required member was removed', message, withMembers({ note, inner, map }, []), 'M.id'],
    ['an optional member was removed', message, withMembers({ id, inner, map }), 'M.note'],
    ['a member has another type', message, withMembers({ id: { type: 'number' }, note, inner, map }), 'M.id'],
    ['an optional member has another type', message, withMembers({ id, note: list(string), inner, map }), 'M.note'],
    ['a member became required', message, withMembers(message.properties, ['id', 'note']), 'M'],
    ['a member became optional', message, withMembers(message.properties, []), 'M'],
    [
      'a required member was added',
      message,
      withMembers({ ...message.properties, extra: string }, ['id', 'extra']),
      'M',
    ],
    [
      'an optional member deep inside was removed',
      message,
      withMembers({ id, note, map, inner: list({ ...item, properties: { kind: item.properties.kind } }) }),
      'M.inner[].size',
    ],
    [
      'a choice was added that an old peer does not know',
      message,
      withMembers({
        id,
        note,
        map,
        inner: list({ ...item, properties: { ...item.properties, kind: { enum: ['a', 'b', 'c'] } } }),
      }),
      'M.inner[].kind',
    ],
    [
      'the values of a map have another type',
      message,
      withMembers({ id, note, inner, map: { type: 'object', additionalProperties: { type: 'number' } } }),
      'M.map{}',
    ],
    ['a closed union gained a member', closed(string), closed(string, { type: 'null' }), 'M'],
    ['a member of a union changed', closed(string, item), closed(string, message), 'M|1'],
    ['an open union lost a member', open('a', 'b'), open('a'), 'M|1'],
    ['an open union was closed', open('a'), closed(string), 'M'],
    ['a limit changed', { type: 'integer', minimum: 0 }, { type: 'integer', minimum: 1 }, 'M'],
  ])('notices: %s', (_what, was, is, where) => expect(found(was, is)).toContain(where));

  it('notices: the message or its definition is gone', () => {
    const nothing = { messages: {}, definitions: {} };
    expect(breaks(wire(message), nothing)).toEqual(['actions m', 'M']);
  });
});

it('[SMT-001] has the schemas that its fingerprint stands for', () => {
  expect({ version: AHP_0_3_VERSION, fingerprint: fingerprint() }).toEqual({
    version: '0.3.0',
    fingerprint: AHP_0_3_FINGERPRINT,
  });
});

it('AHP 1.0 has the schemas that its fingerprint stands for', () => {
  expect({ version: AHP_1_VERSION, fingerprint: fingerprint(AHP_1_WIRE) }).toEqual({
    version: '1.0.0',
    fingerprint: AHP_1_FINGERPRINT,
  });
});
