/** Commands about one session. */
import { type Static, Type } from 'typebox';
import { AgentSelection, ModelSelection, URI } from '../common/types.js';
import { Choice, MapOf } from '../schema/define.js';
import { MessageAttachment } from './messages.js';
import { SessionActiveClient } from './state.js';
import { Turn } from './turns.js';

export const SessionForkSource = Type.Object(
  { session: URI, turnId: Type.String({ description: 'The last turn to copy.' }) },
  { $id: 'SessionForkSource', description: 'The session and turn to copy the history from.' },
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
    config: Type.Optional(MapOf(Type.Unknown(), { description: 'Values by property name.' })),
    activeClient: Type.Optional(SessionActiveClient),
  },
  { $id: 'CreateSessionParams', description: 'Creates a session under a URI that the client chose.' },
);
export type CreateSessionParams = Static<typeof CreateSessionParams>;

export const CreateSessionResult = Type.Null({
  $id: 'CreateSessionResult',
  description: 'Nothing: the session has the URI that the client chose.',
});
export type CreateSessionResult = Static<typeof CreateSessionResult>;

export const DisposeSessionParams = Type.Object(
  { channel: URI },
  { $id: 'DisposeSessionParams', description: 'Disposes a session.' },
);
export type DisposeSessionParams = Static<typeof DisposeSessionParams>;

export const DisposeSessionResult = Type.Null({ $id: 'DisposeSessionResult', description: 'Nothing.' });
export type DisposeSessionResult = Static<typeof DisposeSessionResult>;

export const FetchTurnsParams = Type.Object(
  {
    channel: URI,
    before: Type.Optional(
      Type.String({ description: 'The id of a turn: the page ends before it. Absent for the newest page.' }),
    ),
    limit: Type.Optional(Type.Number({ description: 'The maximum number of turns.' })),
  },
  { $id: 'FetchTurnsParams', description: 'Pages through finished turns, newest page first.' },
);
export type FetchTurnsParams = Static<typeof FetchTurnsParams>;

export const FetchTurnsResult = Type.Object(
  { turns: Type.Array(Turn), hasMore: Type.Boolean({ description: 'Whether there are older turns.' }) },
  { $id: 'FetchTurnsResult', description: 'A page of turns, oldest first.' },
);
export type FetchTurnsResult = Static<typeof FetchTurnsResult>;

export const CompletionsParams = Type.Object(
  {
    channel: URI,
    kind: Choice(['userMessage'], { description: 'Where the caret is.' }),
    text: Type.String({ description: 'The message so far.' }),
    offset: Type.Number({ description: 'Where the caret is, in UTF-16 units.' }),
  },
  { $id: 'CompletionsParams', description: 'Asks for completions at the caret of a message.' },
);
export type CompletionsParams = Static<typeof CompletionsParams>;

export const CompletionItem = Type.Object(
  {
    insertText: Type.String({ description: 'The text to insert.' }),
    rangeStart: Type.Optional(Type.Number({ description: 'Start of the text to replace.' })),
    rangeEnd: Type.Optional(
      Type.Number({ description: 'End of the text to replace, exclusive. Without both, insert at the caret.' }),
    ),
    attachment: MessageAttachment,
  },
  { $id: 'CompletionItem', description: 'A text to insert, with its attachment.' },
);
export type CompletionItem = Static<typeof CompletionItem>;

export const CompletionsResult = Type.Object(
  { items: Type.Array(CompletionItem) },
  { $id: 'CompletionsResult', description: 'The completions, in display order.' },
);
export type CompletionsResult = Static<typeof CompletionsResult>;

export const SystemMessageSectionContent = Type.Object(
  { content: Type.String({ description: 'The text.' }) },
  {
    $id: 'SystemMessageSectionContent',
    description: 'The text of a prompt section. Opaque: its layout may change between renders.',
  },
);
export type SystemMessageSectionContent = Static<typeof SystemMessageSectionContent>;

export const SystemMessageTransformParams = Type.Object(
  { channel: URI, sections: MapOf(SystemMessageSectionContent) },
  {
    $id: 'SystemMessageTransformParams',
    description: 'The host asks the active client to rewrite rendered prompt sections.',
  },
);
export type SystemMessageTransformParams = Static<typeof SystemMessageTransformParams>;

export const SystemMessageTransformResult = Type.Object(
  { sections: MapOf(SystemMessageSectionContent) },
  {
    $id: 'SystemMessageTransformResult',
    description: 'The sections that the client rewrote; the others stay unchanged.',
  },
);
export type SystemMessageTransformResult = Static<typeof SystemMessageTransformResult>;
