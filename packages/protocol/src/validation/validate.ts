/** Checks messages against their schemas. Unknown members are legal everywhere; unknown methods are the caller's to answer. */
import { type ActionType, type StateAction, stateActions } from '../actions.js';
import {
  type ClientNotificationMethod,
  type ClientNotifications,
  type ClientRequestMethod,
  type ClientRequests,
  clientNotifications,
  clientRequests,
  type HostNotificationMethod,
  type HostNotifications,
  type HostRequestMethod,
  type HostRequests,
  hostNotifications,
  hostRequests,
} from '../methods.js';
import type { Checked } from './checked.js';
import { type CompiledValidator, checkWith } from './compiled.js';
import * as compiled from './generated/validators.js';

export const isClientRequest = (method: string): method is ClientRequestMethod => Object.hasOwn(clientRequests, method);
export const isHostRequest = (method: string): method is HostRequestMethod => Object.hasOwn(hostRequests, method);
export const isClientNotification = (method: string): method is ClientNotificationMethod =>
  Object.hasOwn(clientNotifications, method);
export const isHostNotification = (method: string): method is HostNotificationMethod =>
  Object.hasOwn(hostNotifications, method);
export const isKnownAction = (type: string): type is ActionType => Object.hasOwn(stateActions, type);

export function checkClientRequest<M extends ClientRequestMethod>(
  method: M,
  params: unknown,
): Checked<ClientRequests[M]['params']> {
  return check(compiled.clientRequestParams, method, clientRequests[method].params, params);
}

export function checkClientRequestResult<M extends ClientRequestMethod>(
  method: M,
  result: unknown,
): Checked<ClientRequests[M]['result']> {
  return check(compiled.clientRequestResults, method, clientRequests[method].result, result);
}

export function checkHostRequest<M extends HostRequestMethod>(
  method: M,
  params: unknown,
): Checked<HostRequests[M]['params']> {
  return check(compiled.hostRequestParams, method, hostRequests[method].params, params);
}

export function checkHostRequestResult<M extends HostRequestMethod>(
  method: M,
  result: unknown,
): Checked<HostRequests[M]['result']> {
  return check(compiled.hostRequestResults, method, hostRequests[method].result, result);
}

export function checkClientNotification<M extends ClientNotificationMethod>(
  method: M,
  params: unknown,
): Checked<ClientNotifications[M]> {
  return check(compiled.clientNotificationParams, method, clientNotifications[method], params);
}

export function checkHostNotification<M extends HostNotificationMethod>(
  method: M,
  params: unknown,
): Checked<HostNotifications[M]> {
  return check(compiled.hostNotificationParams, method, hostNotifications[method], params);
}

/** An action by itself. A type that we do not know is a problem here; reducers would just ignore it. */
export function checkAction(action: unknown): Checked<StateAction> {
  const type = typeOf(action);
  if (!isKnownAction(type)) return { ok: false, problem: { path: '/type', expected: 'a known type of action' } };
  return check(compiled.actions, type, stateActions[type], action);
}

/** The `type` of a message or an action, or an empty string. */
export function typeOf(message: unknown): string {
  const type = typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined;
  return typeof type === 'string' ? type : '';
}

export function check<T>(
  table: ReadonlyMap<string, CompiledValidator>,
  name: string,
  schema: object,
  value: unknown,
): Checked<T> {
  const validator = table.get(name);
  if (!validator) throw new Error(`no validator was generated for ${name}: run \`npm run generate\``);
  return checkWith(validator, schema, value);
}
