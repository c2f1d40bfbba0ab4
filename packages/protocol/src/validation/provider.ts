/** Checks the messages between gateway and providers. */
import {
  type ToGatewayMessage,
  type ToProviderMessage,
  toGatewayMessages,
  toProviderMessages,
} from '../provider/messages.js';
import type { Checked } from './checked.js';
import * as compiled from './generated/validators.js';
import { check, typeOf } from './validate.js';

export function checkToGateway(message: unknown): Checked<ToGatewayMessage> {
  return checkByType(compiled.toGateway, toGatewayMessages, message);
}

export function checkToProvider(message: unknown): Checked<ToProviderMessage> {
  return checkByType(compiled.toProvider, toProviderMessages, message);
}

function checkByType<T>(
  table: typeof compiled.toGateway,
  schemas: Readonly<Record<string, object>>,
  message: unknown,
): Checked<T> {
  const type = typeOf(message);
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (!schema) return { ok: false, problem: { path: '/type', expected: 'a known type of message' } };
  return check(table, type, schema, message);
}
