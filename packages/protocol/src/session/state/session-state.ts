import { type Static, Type } from 'typebox';
import { ErrorInfo } from '../../common/error-info.js';
import { Meta } from '../../common/meta.js';
import { ActiveTurn } from './active-turn.js';
import { Customization } from './customization.js';
import { PendingMessage } from './pending-message.js';
import { SessionActiveClient } from './session-active-client.js';
import { SessionConfigState } from './session-config-state.js';
import { SessionInputRequest } from './session-input-request.js';
import { SessionLifecycle } from './session-lifecycle.js';
import { SessionSummary } from './session-summary.js';
import { ToolDefinition } from './tool-definition.js';
import { Turn } from './turn.js';

export const SessionState = Type.Object(
  {
    summary: SessionSummary,
    lifecycle: SessionLifecycle,
    creationError: Type.Optional(ErrorInfo),
    serverTools: Type.Optional(Type.Array(ToolDefinition)),
    activeClient: Type.Optional(SessionActiveClient),
    turns: Type.Array(Turn),
    activeTurn: Type.Optional(ActiveTurn),
    steeringMessage: Type.Optional(PendingMessage),
    queuedMessages: Type.Optional(Type.Array(PendingMessage)),
    inputRequests: Type.Optional(Type.Array(SessionInputRequest)),
    config: Type.Optional(SessionConfigState),
    customizations: Type.Optional(Type.Array(Customization)),
    _meta: Type.Optional(Meta),
  },
  { $id: 'SessionState', description: 'Everything about one session.' },
);
export type SessionState = Static<typeof SessionState>;
