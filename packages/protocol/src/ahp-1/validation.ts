/** Checks messages of 1.0 against their schemas. Unknown members are legal; the caller answers unknown methods. */

import * as ahp1 from '../../generated/ahp-1.js';
import { type Checked, checkNamed, Definitions, typeOf, type ValidatorTable } from '../validation/check.js';
import type { ActionType, StateAction } from './actions.js';
import type {
  ClientNotificationMethod,
  ClientNotifications,
  ClientRequestMethod,
  ClientRequests,
  HostNotificationMethod,
  HostNotifications,
  HostRequestMethod,
  HostRequests,
} from './methods.js';

export { type Checked, describeProblem, type Problem } from '../validation/check.js';
export { type Frame, readFrame } from '../validation/frame.js';

const definitions = new Definitions(() => ahp1.definitionsText);

export const isClientRequest = (method: string): method is ClientRequestMethod => ahp1.clientRequestParams.has(method);
export const isHostRequest = (method: string): method is HostRequestMethod => ahp1.hostRequestParams.has(method);
export const isClientNotification = (method: string): method is ClientNotificationMethod =>
  ahp1.clientNotificationParams.has(method);
export const isHostNotification = (method: string): method is HostNotificationMethod =>
  ahp1.hostNotificationParams.has(method);
export const isKnownAction = (type: string): type is ActionType => ahp1.actions.has(type);

export function checkClientRequest<M extends ClientRequestMethod>(
  method: M,
  params: unknown,
): Checked<ClientRequests[M]['params']> {
  return check(ahp1.clientRequestParams, method, params);
}

export function checkClientRequestResult<M extends ClientRequestMethod>(
  method: M,
  result: unknown,
): Checked<ClientRequests[M]['result']> {
  return check(ahp1.clientRequestResults, method, result);
}

export function checkHostRequest<M extends HostRequestMethod>(
  method: M,
  params: unknown,
): Checked<HostRequests[M]['params']> {
  return check(ahp1.hostRequestParams, method, params);
}

export function checkHostRequestResult<M extends HostRequestMethod>(
  method: M,
  result: unknown,
): Checked<HostRequests[M]['result']> {
  return check(ahp1.hostRequestResults, method, result);
}

export function checkClientNotification<M extends ClientNotificationMethod>(
  method: M,
  params: unknown,
): Checked<ClientNotifications[M]> {
  return check(ahp1.clientNotificationParams, method, params);
}

export function checkHostNotification<M extends HostNotificationMethod>(
  method: M,
  params: unknown,
): Checked<HostNotifications[M]> {
  return check(ahp1.hostNotificationParams, method, params);
}

/** Checks an action by itself. An unknown type is a problem here; reducers would just ignore it. */
export function checkAction(action: unknown): Checked<StateAction> {
  const type = typeOf(action);
  if (!isKnownAction(type)) return { ok: false, problem: { path: '/type', expected: 'a known type of action' } };
  return check(ahp1.actions, type, action);
}

function check<T>(table: ValidatorTable, name: string, value: unknown): Checked<T> {
  return checkNamed(table, definitions, name, value);
}
