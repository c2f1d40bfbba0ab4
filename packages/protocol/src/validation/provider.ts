/** Checks the messages between gateway and providers. */
import type { ToGatewayMessage, ToProviderMessage } from '../provider/message-types.js';
import type { Checked } from './checked.js';
import { checkWith, Definitions, type ValidatorTable } from './compiled.js';
import * as compiled from './generated/provider.js';
import { typeOf } from './type-of.js';

const definitions = new Definitions(compiled.definitionsText);

export function checkToGateway(message: unknown): Checked<ToGatewayMessage> {
  return checkByType(compiled.toGateway, message);
}

export function checkToProvider(message: unknown): Checked<ToProviderMessage> {
  return checkByType(compiled.toProvider, message);
}

function checkByType<T>(table: ValidatorTable, message: unknown): Checked<T> {
  const entry = table.get(typeOf(message));
  if (!entry) return { ok: false, problem: { path: '/type', expected: 'a known type of message' } };
  return checkWith(entry, definitions, message);
}
