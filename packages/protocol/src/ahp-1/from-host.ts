/**
 * Checks what a host of 1.0 sends, for clients. Browsers download this code, so it works from the definitions: the
 * compiled validators of the same messages are five times as long.
 */
import * as names from '../../generated/ahp-1-from-host.js';
import { DefinitionChecks, tableFrom } from '../validation/by-definition.js';
import { type Checked, checkNamed, Definitions } from '../validation/check.js';
import type {
  ClientRequestMethod,
  ClientRequests,
  HostNotificationMethod,
  HostNotifications,
  HostRequestMethod,
  HostRequests,
} from './methods.js';

export { type Checked, describeProblem, type Problem } from '../validation/check.js';
export { type Frame, readFrame } from '../validation/frame.js';

const definitions = new Definitions(() => names.definitionsText);
const checks = new DefinitionChecks(definitions);
const clientRequestResults = tableFrom(names.clientRequestResults, checks);
const hostRequestParams = tableFrom(names.hostRequestParams, checks);
const hostNotificationParams = tableFrom(names.hostNotificationParams, checks);

export const isClientRequest = (method: string): method is ClientRequestMethod => clientRequestResults.has(method);
export const isHostRequest = (method: string): method is HostRequestMethod => hostRequestParams.has(method);
export const isHostNotification = (method: string): method is HostNotificationMethod =>
  hostNotificationParams.has(method);

export function checkClientRequestResult<M extends ClientRequestMethod>(
  method: M,
  result: unknown,
): Checked<ClientRequests[M]['result']> {
  return checkNamed(clientRequestResults, definitions, method, result);
}

export function checkHostRequest<M extends HostRequestMethod>(
  method: M,
  params: unknown,
): Checked<HostRequests[M]['params']> {
  return checkNamed(hostRequestParams, definitions, method, params);
}

export function checkHostNotification<M extends HostNotificationMethod>(
  method: M,
  params: unknown,
): Checked<HostNotifications[M]> {
  return checkNamed(hostNotificationParams, definitions, method, params);
}
