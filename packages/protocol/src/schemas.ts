/** The catalogue of all schemas, from which JSON Schema files, validators and documentation are made. */

import { StateAction, stateActions } from './actions.js';
import { ChangesetState } from './changeset/state.js';
import { ActionEnvelope, Snapshot } from './common/envelope.js';
import { errorData } from './errors/data.js';
import { clientNotifications, clientRequests, hostNotifications, hostRequests } from './methods.js';
import { TelemetryCapabilities } from './otlp/telemetry.js';
import { toGatewayMessages } from './provider/messages-to-gateway.js';
import { toProviderMessages } from './provider/messages-to-provider.js';
import { ResourceWatchState } from './resource-watch/state.js';
import { RootState } from './root/state.js';
import { JsonRpcErrorResponse, JsonRpcNotification, JsonRpcRequest, JsonRpcSuccessResponse } from './rpc.js';
import { SessionState } from './session/state.js';
import { TerminalState } from './terminal/state.js';

/** The state behind each kind of channel. */
export const channelStates = {
  root: RootState,
  session: SessionState,
  terminal: TerminalState,
  changeset: ChangesetState,
  resourceWatch: ResourceWatchState,
} as const;

export {
  ActionEnvelope,
  clientNotifications,
  clientRequests,
  errorData,
  hostNotifications,
  hostRequests,
  JsonRpcErrorResponse,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcSuccessResponse,
  Snapshot,
  StateAction,
  stateActions,
  TelemetryCapabilities,
  toGatewayMessages,
  toProviderMessages,
};
