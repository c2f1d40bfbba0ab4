/** Checks messages against their schemas. Unknown members are legal everywhere; unknown methods are the caller's to answer. */
import type { ActionType, StateAction } from '../actions.js';
import type {
  ClientNotificationMethod,
  ClientNotifications,
  ClientRequestMethod,
  ClientRequests,
  HostNotificationMethod,
  HostNotifications,
  HostRequestMethod,
  HostRequests,
} from '../methods.js';
import type { Checked } from './checked.js';
import { checkWith, Definitions, type ValidatorTable } from './compiled.js';
import * as compiled from './generated/ahp.js';
import { typeOf } from './type-of.js';

const definitions = new Definitions(compiled.definitionsText);

export const isClientRequest = (method: string): method is ClientRequestMethod =>
  compiled.clientRequestParams.has(method);
export const isHostRequest = (method: string): method is HostRequestMethod => compiled.hostRequestParams.has(method);
export const isClientNotification = (method: string): method is ClientNotificationMethod =>
  compiled.clientNotificationParams.has(method);
export const isHostNotification = (method: string): method is HostNotificationMethod =>
  compiled.hostNotificationParams.has(method);
export const isKnownAction = (type: string): type is ActionType => compiled.actions.has(type);

export function checkClientRequest<M extends ClientRequestMethod>(
  method: M,
  params: unknown,
): Checked<ClientRequests[M]['params']> {
  return check(compiled.clientRequestParams, method, params);
}

export function checkClientRequestResult<M extends ClientRequestMethod>(
  method: M,
  result: unknown,
): Checked<ClientRequests[M]['result']> {
  return check(compiled.clientRequestResults, method, result);
}

export function checkHostRequest<M extends HostRequestMethod>(
  method: M,
  params: unknown,
): Checked<HostRequests[M]['params']> {
  return check(compiled.hostRequestParams, method, params);
}

export function checkHostRequestResult<M extends HostRequestMethod>(
  method: M,
  result: unknown,
): Checked<HostRequests[M]['result']> {
  return check(compiled.hostRequestResults, method, result);
}

export function checkClientNotification<M extends ClientNotificationMethod>(
  method: M,
  params: unknown,
): Checked<ClientNotifications[M]> {
  return check(compiled.clientNotificationParams, method, params);
}

export function checkHostNotification<M extends HostNotificationMethod>(
  method: M,
  params: unknown,
): Checked<HostNotifications[M]> {
  return check(compiled.hostNotificationParams, method, params);
}

/** An action by itself. A type that we do not know is a problem here; reducers would just ignore it. */
export function checkAction(action: unknown): Checked<StateAction> {
  const type = typeOf(action);
  if (!isKnownAction(type)) return { ok: false, problem: { path: '/type', expected: 'a known type of action' } };
  return check(compiled.actions, type, action);
}

function check<T>(table: ValidatorTable, name: string, value: unknown): Checked<T> {
  const entry = table.get(name);
  if (!entry) throw new Error(`no validator was generated for ${name}: run \`npm run generate\``);
  return checkWith(entry, definitions, value);
}
