/** Commands and notifications about the list of sessions, about tokens, and about the configuration of a new session. */
import { type Static, Type } from 'typebox';
import {
  AuthenticateResult,
  AuthenticateParams as OlderAuthenticateParams,
  ProtectedResourceMetadata,
} from '../../root/authentication.js';
import {
  ResolveSessionConfigParams as OlderResolveSessionConfigParams,
  SessionConfigCompletionsParams as OlderSessionConfigCompletionsParams,
  SessionConfigCompletionsResult,
  SessionConfigValueItem,
  SessionRemovedParams,
} from '../../root/commands.js';
import { MapOf, OpenChoice } from '../../schema/define.js';
import { AnnotationsSummary } from '../annotations/state.js';
import { SessionConfigSchema } from '../common/config.js';
import { ChangesSummary, Meta, RootChannel, Timestamp, URI, withRequestMeta } from '../common/types.js';
import { ProjectInfo, SessionChatSummary, SessionOrigin, SessionSummary } from '../session/state.js';

export { AuthenticateResult, SessionConfigCompletionsResult, SessionConfigValueItem, SessionRemovedParams };

export const ListSessionsParams = withRequestMeta(
  Type.Object(
    {
      channel: RootChannel,
      limit: Type.Optional(Type.Number({ description: 'The maximum number of sessions. Absent: all.' })),
      cursor: Type.Optional(Type.String({ description: 'As in `nextCursor` of the page before.' })),
    },
    { $id: 'ListSessionsParams', description: 'Lists the sessions, the most recently modified first.' },
  ),
);
export type ListSessionsParams = Static<typeof ListSessionsParams>;

export const ListSessionsResult = Type.Object(
  {
    items: Type.Array(SessionSummary),
    nextCursor: Type.Optional(Type.String({ description: 'Absent on the last page.' })),
  },
  { $id: 'ListSessionsResult', description: 'A page of the session list. It is never part of root state.' },
);
export type ListSessionsResult = Static<typeof ListSessionsResult>;

export const ResolveSessionConfigParams = withRequestMeta(OlderResolveSessionConfigParams);
export type ResolveSessionConfigParams = Static<typeof ResolveSessionConfigParams>;

export const ResolveSessionConfigResult = Type.Object(
  { schema: SessionConfigSchema, values: MapOf(Type.Unknown()) },
  { $id: 'ResolveSessionConfigResult', description: 'The full schema, and the values with defaults filled in.' },
);
export type ResolveSessionConfigResult = Static<typeof ResolveSessionConfigResult>;

export const SessionConfigCompletionsParams = withRequestMeta(OlderSessionConfigCompletionsParams);
export type SessionConfigCompletionsParams = Static<typeof SessionConfigCompletionsParams>;

export const AuthenticateParams = withRequestMeta(
  Type.Object(
    {
      ...OlderAuthenticateParams.properties,
      expiresIn: Type.Optional(Type.Integer({ minimum: 1, description: 'Seconds for which the token is still good.' })),
      scopes: Type.Optional(Type.Array(Type.String(), { description: 'What the token grants.' })),
    },
    {
      $id: 'AuthenticateParams',
      description: 'Gives the host a bearer token for a protected resource; an empty token revokes.',
    },
  ),
);
export type AuthenticateParams = Static<typeof AuthenticateParams>;

export const AuthRequiredParams = Type.Object(
  {
    channel: URI,
    resource: ProtectedResourceMetadata,
    reason: Type.Optional(
      OpenChoice(['required', 'expired'], { description: 'Whether there is no token yet, or it has expired.' }),
    ),
  },
  { $id: 'AuthRequiredParams', description: 'A token is needed, or has expired.' },
);
export type AuthRequiredParams = Static<typeof AuthRequiredParams>;

export const SessionAddedParams = Type.Object(
  { channel: RootChannel, summary: SessionSummary },
  { $id: 'SessionAddedParams', description: 'A session was created.' },
);
export type SessionAddedParams = Static<typeof SessionAddedParams>;

export const SessionSummaryChanges = Type.Object(
  {
    title: Type.Optional(Type.String()),
    status: Type.Optional(Type.Integer({ description: 'As in `SessionSummary`.' })),
    activity: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    origin: Type.Optional(Type.Union([SessionOrigin, Type.Null()])),
    modifiedAt: Type.Optional(Timestamp),
    project: Type.Optional(Type.Union([ProjectInfo, Type.Null()])),
    workingDirectories: Type.Optional(Type.Union([Type.Array(URI), Type.Null()])),
    annotations: Type.Optional(Type.Union([AnnotationsSummary, Type.Null()])),
    changes: Type.Optional(Type.Union([ChangesSummary, Type.Null()])),
    chats: Type.Optional(Type.Union([Type.Array(SessionChatSummary), Type.Null()])),
    defaultChat: Type.Optional(Type.Union([URI, Type.Null()])),
    _meta: Type.Optional(Type.Union([Meta, Type.Null()])),
  },
  { $id: 'SessionSummaryChanges', description: 'The new values of the members that changed.' },
);
export type SessionSummaryChanges = Static<typeof SessionSummaryChanges>;

export const SessionSummaryChangedParams = Type.Object(
  { channel: RootChannel, session: URI, changes: SessionSummaryChanges },
  {
    $id: 'SessionSummaryChangedParams',
    description: "Members of a session's summary changed; `null` removes an optional member.",
  },
);
export type SessionSummaryChangedParams = Static<typeof SessionSummaryChangedParams>;

export const ProgressParams = Type.Object(
  {
    channel: RootChannel,
    progressToken: Type.String({ description: 'From `createSession`.' }),
    progress: Type.Number({ description: 'Never decreases; equals `total` at the end.' }),
    total: Type.Optional(Type.Number()),
    message: Type.Optional(Type.String()),
  },
  { $id: 'ProgressParams', description: 'How far a request is. Only the client that sent the token gets it.' },
);
export type ProgressParams = Static<typeof ProgressParams>;
