/** Commands about one chat: opening, moving and closing it, its older turns, completions while a person types. */
import { type Static, Type } from 'typebox';
import { OpenUnion } from '../../schema/define.js';
import { CompletionsParams as CompletionParams } from '../../session/commands.js';
import { URI, withRequestMeta } from '../common/types.js';
import { Message, MessageAttachment } from './messages.js';
import { ChatForkOrigin, ChatSideChatOrigin } from './state.js';

export const ForkChatSource = Type.Object(ChatForkOrigin.properties, {
  $id: 'ForkChatSource',
  description: 'Copies the turns of a chat up to and including a completed turn.',
});
export type ForkChatSource = Static<typeof ForkChatSource>;

export const SideChatSource = Type.Object(ChatSideChatOrigin.properties, {
  $id: 'SideChatSource',
  description: 'Gives the agent the history of a chat up to a turn, and shows none of it.',
});
export type SideChatSource = Static<typeof SideChatSource>;

export const ChatSource = Type.Union([ForkChatSource, SideChatSource], {
  $id: 'ChatSource',
  description: 'The chat that a new one branches off from.',
});
export type ChatSource = Static<typeof ChatSource>;

export const CreateChatParams = withRequestMeta(
  Type.Object(
    {
      channel: URI,
      chat: URI,
      initialMessage: Type.Optional(Message),
      source: Type.Optional(ChatSource),
      workingDirectories: Type.Optional(Type.Array(URI, { description: "A subset of the session's." })),
    },
    { $id: 'CreateChatParams', description: 'Opens a chat in a session, under a URI that the client chose.' },
  ),
);
export type CreateChatParams = Static<typeof CreateChatParams>;

export const CreateChatResult = Type.Null({ $id: 'CreateChatResult', description: 'Nothing.' });
export type CreateChatResult = Static<typeof CreateChatResult>;

export const DisposeChatParams = withRequestMeta(
  Type.Object({ channel: URI }, { $id: 'DisposeChatParams', description: 'Removes a chat from its session.' }),
);
export type DisposeChatParams = Static<typeof DisposeChatParams>;

export const DisposeChatResult = Type.Null({ $id: 'DisposeChatResult', description: 'Nothing.' });
export type DisposeChatResult = Static<typeof DisposeChatResult>;

export const MoveChatToSession = Type.Object(
  { kind: Type.Literal('session'), session: URI },
  { $id: 'MoveChatToSession', description: 'Into a session that exists; into its own one to change the order.' },
);
export type MoveChatToSession = Static<typeof MoveChatToSession>;

export const MoveChatToNewSession = Type.Object(
  { kind: Type.Literal('newSession') },
  { $id: 'MoveChatToNewSession', description: 'Into a session that the host creates for it.' },
);
export type MoveChatToNewSession = Static<typeof MoveChatToNewSession>;

export const MoveChatDestination = OpenUnion('kind', [MoveChatToSession, MoveChatToNewSession], {
  $id: 'MoveChatDestination',
  description: 'Where a chat moves to.',
});
export type MoveChatDestination = Static<typeof MoveChatDestination>;

export const MoveChatParams = withRequestMeta(
  Type.Object(
    {
      channel: URI,
      destination: MoveChatDestination,
      requestId: Type.String({ description: 'The same request under the same id is carried out once.' }),
    },
    { $id: 'MoveChatParams', description: 'Moves a chat with those that it started.' },
  ),
);
export type MoveChatParams = Static<typeof MoveChatParams>;

export const MoveChatResult = Type.Object(
  { previousSession: URI, previousChat: URI, session: URI, chat: URI },
  { $id: 'MoveChatResult', description: 'Where the chat was, and where it is now.' },
);
export type MoveChatResult = Static<typeof MoveChatResult>;

export const FetchTurnsParams = withRequestMeta(
  Type.Object(
    {
      channel: URI,
      cursor: Type.Optional(Type.String({ description: 'As in `turnsNextCursor`. Absent: the next older page.' })),
    },
    { $id: 'FetchTurnsParams', description: 'Loads older turns into the state of a chat.' },
  ),
);
export type FetchTurnsParams = Static<typeof FetchTurnsParams>;

export const FetchTurnsResult = Type.Object(
  {},
  { $id: 'FetchTurnsResult', description: 'Nothing: the turns came with `chat/turnsLoaded`.' },
);
export type FetchTurnsResult = Static<typeof FetchTurnsResult>;

export const CompletionsParams = withRequestMeta(CompletionParams);
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
