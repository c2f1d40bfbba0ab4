import { type Static, Type } from 'typebox';
import { AgentSelection } from '../../common/agent-selection.js';
import { ModelSelection } from '../../common/model-selection.js';
import { URI } from '../../common/uri.js';
import { MapOf } from '../../schema/define.js';
import { SessionActiveClient } from '../state/session-active-client.js';

export const SessionForkSource = Type.Object(
  { session: URI, turnId: Type.String({ description: 'The last turn to copy.' }) },
  { $id: 'SessionForkSource', description: 'The history to start from; the last turn copied is `turnId`.' },
);
export type SessionForkSource = Static<typeof SessionForkSource>;

export const CreateSessionParams = Type.Object(
  {
    channel: URI,
    provider: Type.Optional(Type.String()),
    model: Type.Optional(ModelSelection),
    agent: Type.Optional(AgentSelection),
    workingDirectory: Type.Optional(URI),
    fork: Type.Optional(SessionForkSource),
    config: Type.Optional(MapOf(Type.Unknown(), { description: 'Values by the names of properties.' })),
    activeClient: Type.Optional(SessionActiveClient),
  },
  { $id: 'CreateSessionParams', description: 'Creates a session under a URI that the client chose.' },
);
export type CreateSessionParams = Static<typeof CreateSessionParams>;

export const CreateSessionResult = Type.Null({
  $id: 'CreateSessionResult',
  description: 'Nothing: the session is known by the URI that was asked for.',
});
export type CreateSessionResult = Static<typeof CreateSessionResult>;
