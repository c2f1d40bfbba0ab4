/** Commands about one session and its chats. */
import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import {
  CreateSessionResult,
  DisposeSessionParams as DisposeParams,
  DisposeSessionResult,
  SessionForkSource,
  SystemMessageSectionContent,
  SystemMessageTransformParams,
  SystemMessageTransformResult,
} from '../../session/commands.js';
import { AgentSelection, ModelSelection, URI, withRequestMeta } from '../common/types.js';
import { SessionActiveClient } from './state.js';

export {
  CreateSessionResult,
  DisposeSessionResult,
  SessionForkSource,
  SystemMessageSectionContent,
  SystemMessageTransformParams,
  SystemMessageTransformResult,
};

export const CreateSessionParams = withRequestMeta(
  Type.Object(
    {
      channel: URI,
      provider: Type.Optional(Type.String({ description: "Absent: the host's default agent." })),
      workingDirectories: Type.Optional(Type.Array(URI)),
      config: Type.Optional(MapOf(Type.Unknown(), { description: 'Values by property name.' })),
      activeClient: Type.Optional(SessionActiveClient),
      progressToken: Type.Optional(Type.String({ description: 'Asks for `root/progress` under this token.' })),
      /** Private members: AHP dropped them, but clients of older versions still send them. */
      model: Type.Optional(ModelSelection),
      agent: Type.Optional(AgentSelection),
      fork: Type.Optional(SessionForkSource),
    },
    { $id: 'CreateSessionParams', description: 'Creates a session under a URI that the client chose.' },
  ),
);
export type CreateSessionParams = Static<typeof CreateSessionParams>;

export const DisposeSessionParams = withRequestMeta(DisposeParams);
export type DisposeSessionParams = Static<typeof DisposeSessionParams>;
