/** Checks messages against their schemas. Unknown members are legal; the caller answers unknown methods. */

import * as ahp from '../../generated/ahp.js';
import * as provider from '../../generated/provider.js';
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
import type { ToGatewayMessage, ToProviderMessage } from '../provider/message-types.js';
import { type Checked, checkNamed, checkWith, Definitions, typeOf, type ValidatorTable } from './check.js';

const ahpDefinitions = new Definitions(() => ahp.definitionsText);

export const isClientRequest = (method: string): method is ClientRequestMethod => ahp.clientRequestParams.has(method);
export const isHostRequest = (method: string): method is HostRequestMethod => ahp.hostRequestParams.has(method);
export const isClientNotification = (method: string): method is ClientNotificationMethod =>
  ahp.clientNotificationParams.has(method);
export const isHostNotification = (method: string): method is HostNotificationMethod =>
  ahp.hostNotificationParams.has(method);
export const isKnownAction = (type: string): type is ActionType => ahp.actions.has(type);

export function checkClientRequest<M extends ClientRequestMethod>(
  method: M,
  params: unknown,
): Checked<ClientRequests[M]['params']> {
  return check(ahp.clientRequestParams, method, params);
}

export function checkClientRequestResult<M extends ClientRequestMethod>(
  method: M,
  result: unknown,
): Checked<ClientRequests[M]['result']> {
  return check(ahp.clientRequestResults, method, result);
}

export function checkHostRequest<M extends HostRequestMethod>(
  method: M,
  params: unknown,
): Checked<HostRequests[M]['params']> {
  return check(ahp.hostRequestParams, method, params);
}

export function checkHostRequestResult<M extends HostRequestMethod>(
  method: M,
  result: unknown,
): Checked<HostRequests[M]['result']> {
  return check(ahp.hostRequestResults, method, result);
}

export function checkClientNotification<M extends ClientNotificationMethod>(
  method: M,
  params: unknown,
): Checked<ClientNotifications[M]> {
  return check(ahp.clientNotificationParams, method, params);
}

export function checkHostNotification<M extends HostNotificationMethod>(
  method: M,
  params: unknown,
): Checked<HostNotifications[M]> {
  return check(ahp.hostNotificationParams, method, params);
}

/** Checks an action by itself. An unknown type is a problem here; reducers would just ignore it. */
export function checkAction(action: unknown): Checked<StateAction> {
  const type = typeOf(action);
  if (!isKnownAction(type)) return { ok: false, problem: { path: '/type', expected: 'a known type of action' } };
  return check(ahp.actions, type, action);
}

function check<T>(table: ValidatorTable, name: string, value: unknown): Checked<T> {
  return checkNamed(table, ahpDefinitions, name, value);
}

const providerDefinitions = new Definitions(() => provider.definitionsText);

export function checkToGateway(message: unknown): Checked<ToGatewayMessage> {
  return checkByType(provider.toGateway, message);
}

export function checkToProvider(message: unknown): Checked<ToProviderMessage> {
  return checkByType(provider.toProvider, message);
}

function checkByType<T>(table: ValidatorTable, message: unknown): Checked<T> {
  const entry = table.get(typeOf(message));
  if (!entry) return { ok: false, problem: { path: '/type', expected: 'a known type of message' } };
  return checkWith(entry, providerDefinitions, message);
}
