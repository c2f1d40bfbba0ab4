/** Clients check by definition, hosts with compiled code: both must take, mend and refuse the same, in the same words. */
import { isDeepStrictEqual } from 'node:util';
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
  return JSON.parse(brokenText(copy, [holder, key], wrong)).message;
}

/** Something with one place of it made wrong, as it is sent; it is whole again afterwards. */
function brokenText(whole: object, [holder, key]: readonly [Holder, string], wrong: unknown): string {
  const right = holder[key];
  if (wrong !== undefined) holder[key] = wrong;
  else if (!Array.isArray(holder)) delete holder[key];
  const text = JSON.stringify(whole);
  holder[key] = right;
  return text;
}

/** Thousands of answers are compared: `expect` is asked only to say how two of them differ. */
function expectAlike({ byDefinition, compiled }: Message, text: string): void {
  const [one, other] = [byDefinition(JSON.parse(text).message), compiled(JSON.parse(text).message)];
  if (!isDeepStrictEqual(one, other)) expect(one, text).toStrictEqual(other);
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

  it.each(MESSAGES)('is taken or refused alike: $name', (pair) => {
    const one = arbitraryFrom(pair.schema).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    const mistakes = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...WRONG)), { maxLength: 3 });
    fc.assert(
      fc.property(one, mistakes, (value, list) => {
        const message = list.reduce((sofar, [where, wrong]) => broken(sofar, where, wrong), value);
        expectAlike(pair, JSON.stringify({ message }));
      }),
      { numRuns: RUNS },
    );
  });

  it.each(MESSAGES)('is taken or refused alike with any one thing wrong: $name', (pair) => {
    for (const message of fc.sample(arbitraryFrom(pair.schema), { numRuns: SAMPLES, seed: 7 })) {
      const whole: { message: unknown } = JSON.parse(JSON.stringify({ message }));
      for (const place of placesIn(whole).slice(0, MAX_PLACES))
        for (const wrong of WRONG) expectAlike(pair, brokenText(whole, place, wrong));
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
