/** Clients check by definition, hosts with compiled code: both must take, mend and refuse the same, in the same words. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as fromHost from '../../src/ahp-1/from-host.js';
import { clientRequests, hostNotifications, hostRequests } from '../../src/ahp-1/schemas.js';
import * as compiled from '../../src/ahp-1/validation.js';
import type { SchemaNode } from '../../src/schema/node.js';
import type { Checked } from '../../src/validation/check.js';
import { arbitraryFrom } from '../support/arbitrary.js';

const RUNS = 150;
const SAMPLES = 3;
const MAX_PLACES = 60;

interface Message {
  readonly name: string;
  readonly schema: SchemaNode;
  readonly byDefinition: (value: unknown) => Checked<unknown>;
  readonly compiled: (value: unknown) => Checked<unknown>;
}

const MESSAGES: readonly Message[] = [
  ...keysOf(clientRequests).map((method) => ({
    name: `the result of ${method}`,
    schema: clientRequests[method].result as SchemaNode,
    byDefinition: (value: unknown) => fromHost.checkClientRequestResult(method, value),
    compiled: (value: unknown) => compiled.checkClientRequestResult(method, value),
  })),
  ...keysOf(hostRequests).map((method) => ({
    name: `the request ${method}`,
    schema: hostRequests[method].params as SchemaNode,
    byDefinition: (value: unknown) => fromHost.checkHostRequest(method, value),
    compiled: (value: unknown) => compiled.checkHostRequest(method, value),
  })),
  ...keysOf(hostNotifications).map((method) => ({
    name: `the notification ${method}`,
    schema: hostNotifications[method] as SchemaNode,
    byDefinition: (value: unknown) => fromHost.checkHostNotification(method, value),
    compiled: (value: unknown) => compiled.checkHostNotification(method, value),
  })),
];

function keysOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}

/** Put in the place of any part of a message. `undefined` takes the part away. */
const WRONG = [undefined, null, true, 7, -1, 0.5, 1e300, '', 'unheard-of', 'toString', [], [null], {}, { kind: 'x' }];

type Holder = Record<string, unknown>;

/** Every place in a message where something stands: what holds it, and its key there. */
function placesIn(value: unknown): [Holder, string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[value as Holder, key], ...placesIn(inner)]);
}

function broken(message: unknown, where: number, wrong: unknown): unknown {
  const copy = { message: structuredClone(message) };
  const places = placesIn(copy);
  const [holder, key] = places[where % places.length] as [Holder, string];
  if (wrong !== undefined) holder[key] = wrong;
  else if (!Array.isArray(holder)) delete holder[key];
  return JSON.parse(JSON.stringify(copy)).message;
}

describe('[AHP-004] what a host sends', () => {
  it('is known by name to both', () => {
    const names = [clientRequests, hostRequests, hostNotifications].flatMap(keysOf);
    for (const name of [...names, 'toString', '__proto__', '']) {
      expect(fromHost.isClientRequest(name), name).toBe(compiled.isClientRequest(name));
      expect(fromHost.isHostRequest(name), name).toBe(compiled.isHostRequest(name));
      expect(fromHost.isHostNotification(name), name).toBe(compiled.isHostNotification(name));
    }
  });

  it.each(MESSAGES)('is taken or refused alike: $name', (message) => {
    const one = arbitraryFrom(message.schema).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    const mistakes = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...WRONG)), { maxLength: 3 });
    fc.assert(
      fc.property(one, mistakes, (value, list) => {
        const sent = list.reduce((sofar, [where, wrong]) => broken(sofar, where, wrong), value);
        expect(message.byDefinition(structuredClone(sent))).toEqual(message.compiled(structuredClone(sent)));
      }),
      { numRuns: RUNS },
    );
  });

  it.each(MESSAGES)('is taken or refused alike with any one thing wrong: $name', (message) => {
    for (const sample of fc.sample(arbitraryFrom(message.schema), { numRuns: SAMPLES, seed: 7 })) {
      const value = JSON.parse(JSON.stringify(sample));
      const places = Array.from({ length: Math.min(placesIn({ value }).length, MAX_PLACES) }, (_, where) => where);
      for (const sent of places.flatMap((where) => WRONG.map((wrong) => broken(value, where, wrong)))) {
        expect(message.byDefinition(structuredClone(sent))).toEqual(message.compiled(structuredClone(sent)));
      }
    }
  });

  it('is refused, where it is broken, with the place and what belongs there', () => {
    const params = { channel: 'ahp-root://', session: 7 };
    expect(fromHost.checkHostNotification('root/sessionRemoved', params)).toEqual({
      ok: false,
      problem: { path: '/session', expected: 'a string' },
    });
  });
});
