/** Commands and notifications about the list of sessions, and about the configuration of a new session. */
import { type Static, Type } from 'typebox';
import { ChangesetSummary } from '../changeset/state.js';
import { AgentSelection, ModelSelection, RootChannel, URI } from '../common/types.js';
import { MapOf } from '../schema/define.js';
import { ProjectInfo, SessionConfigSchema, SessionSummary } from '../session/state.js';

export const ListSessionsParams = Type.Object(
  {
    channel: RootChannel,
    filter: Type.Optional(MapOf(Type.Unknown(), { description: 'Reserved; the host ignores it.' })),
  },
  { $id: 'ListSessionsParams', description: 'Lists all sessions that are not disposed.' },
);
export type ListSessionsParams = Static<typeof ListSessionsParams>;

export const ListSessionsResult = Type.Object(
  { items: Type.Array(SessionSummary) },
  { $id: 'ListSessionsResult', description: 'The session list. It is never part of root state.' },
);
export type ListSessionsResult = Static<typeof ListSessionsResult>;

export const ResolveSessionConfigParams = Type.Object(
  {
    channel: RootChannel,
    provider: Type.Optional(Type.String()),
    workingDirectory: Type.Optional(URI),
    config: Type.Optional(MapOf(Type.Unknown(), { description: 'The choices so far, by property name.' })),
  },
  {
    $id: 'ResolveSessionConfigParams',
    description: 'Asks which configuration a session can have, given the choices so far.',
  },
);
export type ResolveSessionConfigParams = Static<typeof ResolveSessionConfigParams>;

export const ResolveSessionConfigResult = Type.Object(
  { schema: SessionConfigSchema, values: MapOf(Type.Unknown()) },
  {
    $id: 'ResolveSessionConfigResult',
    description: 'The full schema, and the values with defaults filled in.',
  },
);
export type ResolveSessionConfigResult = Static<typeof ResolveSessionConfigResult>;

export const SessionConfigCompletionsParams = Type.Object(
  {
    channel: RootChannel,
    provider: Type.Optional(Type.String()),
    workingDirectory: Type.Optional(URI),
    config: Type.Optional(MapOf(Type.Unknown(), { description: 'The choices so far, by property name.' })),
    property: Type.String({ description: 'The property to look up.' }),
    query: Type.Optional(
      Type.String({ description: 'The text typed so far; empty or absent for the most common values.' }),
    ),
  },
  {
    $id: 'SessionConfigCompletionsParams',
    description: 'Looks up values of a property that has too many to list.',
  },
);
export type SessionConfigCompletionsParams = Static<typeof SessionConfigCompletionsParams>;

export const SessionConfigValueItem = Type.Object(
  {
    value: Type.String({ description: 'The value itself.' }),
    label: Type.String(),
    description: Type.Optional(Type.String()),
  },
  { $id: 'SessionConfigValueItem', description: 'One value.' },
);
export type SessionConfigValueItem = Static<typeof SessionConfigValueItem>;

export const SessionConfigCompletionsResult = Type.Object(
  { items: Type.Array(SessionConfigValueItem) },
  { $id: 'SessionConfigCompletionsResult', description: 'The values found.' },
);
export type SessionConfigCompletionsResult = Static<typeof SessionConfigCompletionsResult>;

export const SessionAddedParams = Type.Object(
  { channel: RootChannel, summary: SessionSummary },
  { $id: 'SessionAddedParams', description: 'A session was created.' },
);
export type SessionAddedParams = Static<typeof SessionAddedParams>;

export const SessionRemovedParams = Type.Object(
  { channel: RootChannel, session: URI },
  { $id: 'SessionRemovedParams', description: 'A session was disposed.' },
);
export type SessionRemovedParams = Static<typeof SessionRemovedParams>;

export const SessionSummaryChanges = Type.Object(
  {
    title: Type.Optional(Type.String()),
    status: Type.Optional(Type.Integer({ description: 'As in `SessionSummary`.' })),
    activity: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'What it is doing now, in a few words.' }),
    ),
    modifiedAt: Type.Optional(Type.Number({ description: 'Milliseconds since 1970.' })),
    project: Type.Optional(Type.Union([ProjectInfo, Type.Null()])),
    model: Type.Optional(Type.Union([ModelSelection, Type.Null()])),
    agent: Type.Optional(Type.Union([AgentSelection, Type.Null()])),
    workingDirectory: Type.Optional(Type.Union([URI, Type.Null()])),
    changesets: Type.Optional(Type.Union([Type.Array(ChangesetSummary), Type.Null()])),
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
