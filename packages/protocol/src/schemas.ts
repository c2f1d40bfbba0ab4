/** The catalogue of all schemas, from which JSON Schema files, validators and documentation are made. */

import { StateAction, stateActions } from './actions.js';
import { ChangesetState } from './changeset/state/changeset-state.js';
import { ActionEnvelope } from './common/action-envelope.js';
import { Snapshot } from './common/snapshot.js';
import { errorData } from './errors/error-data.js';
import { clientNotifications, clientRequests, hostNotifications, hostRequests } from './methods.js';
import { TelemetryCapabilities } from './otlp/state/telemetry-capabilities.js';
import { toGatewayMessages, toProviderMessages } from './provider/messages.js';
import { ResourceWatchState } from './resource-watch/state/resource-watch-state.js';
import { RootState } from './root/state/root-state.js';
import { JsonRpcErrorResponse } from './rpc/error-response.js';
import { JsonRpcNotification } from './rpc/notification.js';
import { JsonRpcRequest } from './rpc/request.js';
import { JsonRpcSuccessResponse } from './rpc/success-response.js';
import { SessionState } from './session/state/session-state.js';
import { TerminalState } from './terminal/state/terminal-state.js';

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
