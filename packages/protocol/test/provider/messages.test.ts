import { describe, expect, it } from 'vitest';
import { TO_GATEWAY_TYPES, TO_PROVIDER_TYPES } from '../../src/provider/message-types.js';
import { toGatewayMessages } from '../../src/provider/messages-to-gateway.js';
import { toProviderMessages } from '../../src/provider/messages-to-provider.js';
import { acceptorOf } from '../support/plain-schema.js';
import type { Malformed } from './malformed.js';
import { toGatewayExamples, toGatewayMalformed } from './to-gateway.examples.js';
import { toProviderExamples, toProviderMalformed } from './to-provider.examples.js';

const accepts = {
  ...Object.fromEntries(Object.entries(toGatewayMessages).map(([type, schema]) => [type, acceptorOf(schema)])),
  ...Object.fromEntries(Object.entries(toProviderMessages).map(([type, schema]) => [type, acceptorOf(schema)])),
};
const isMessage = (type: string, message: unknown) => accepts[type]?.(message);

const examples: [string, object][] = [
  ...TO_GATEWAY_TYPES.flatMap((type) => toGatewayExamples[type].map((message): [string, object] => [type, message])),
  ...TO_PROVIDER_TYPES.flatMap((type) => toProviderExamples[type].map((message): [string, object] => [type, message])),
];
const toRow =
  (type: string) =>
  ([why, message]: Malformed): [string, string, unknown] => [type, why, asOnTheWire(message)];
const malformed = [
  ...TO_GATEWAY_TYPES.flatMap((type) => toGatewayMalformed[type].map(toRow(type))),
  ...TO_PROVIDER_TYPES.flatMap((type) => toProviderMalformed[type].map(toRow(type))),
];

/** As JSON has it, a field that is undefined is not there. */
function asOnTheWire(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message));
}

describe('the table of messages', () => {
  it('has sixteen messages to the gateway and thirteen to the provider', () => {
    expect(TO_GATEWAY_TYPES).toHaveLength(16);
    expect(TO_PROVIDER_TYPES).toHaveLength(13);
    expect(new Set([...TO_GATEWAY_TYPES, ...TO_PROVIDER_TYPES]).size).toBe(29);
  });

  it('names every schema after its type', () => {
    for (const [type, schema] of Object.entries({ ...toGatewayMessages, ...toProviderMessages })) {
      const words = type.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
      expect(schema).toMatchObject({ $id: `Provider${words.join('')}Message`, description: expect.any(String) });
    }
  });
});

describe('every message', () => {
  it.each(examples)('%s fits its schema: %j', (type, message) => {
    expect(isMessage(type, message)).toBe(true);
  });

  it.each(malformed)('%s is refused with %s', (type, _why, message) => {
    expect(isMessage(type, message)).toBe(false);
  });

  it.each(examples)('[GW-005] %s may carry fields that nobody knows: %j', (type, message) => {
    expect(isMessage(type, { ...message, zzz: { any: 'thing' } })).toBe(true);
  });

  it.each(examples)('%s needs its own type: %j', (type, message) => {
    expect(isMessage(type, { ...message, type: `${type}.x` })).toBe(false);
    expect(isMessage(type, asOnTheWire({ ...message, type: undefined }))).toBe(false);
  });
});

describe('the lists of types', () => {
  it('have every message, in the order of the schemas', () => {
    expect(TO_GATEWAY_TYPES).toEqual(Object.keys(toGatewayMessages));
    expect(TO_PROVIDER_TYPES).toEqual(Object.keys(toProviderMessages));
  });
});
