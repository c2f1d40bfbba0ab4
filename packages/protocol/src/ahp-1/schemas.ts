/** The catalogue of all schemas of 1.0, from which JSON Schema files, validators and documentation are made. */
export { TelemetryCapabilities } from '../otlp/telemetry.js';
export {
  JsonRpcErrorResponse,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcSuccessResponse,
} from '../rpc.js';
export { StateAction, stateActions } from './actions.js';
export { ActionEnvelope, Snapshot } from './common/envelope.js';
export { errorData } from './errors.js';
export { clientNotifications, clientRequests, hostNotifications, hostRequests } from './methods.js';
export { channelStates } from './states.js';
