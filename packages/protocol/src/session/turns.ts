/** Turns: a message and the parts of its answer, while it is written and afterwards. */
import { type Static, Type } from 'typebox';
import { ErrorInfo, StringOrMarkdown, URI, UsageInfo } from '../common/types.js';
import { Choice, OpenUnion } from '../schema/define.js';
import { UserMessage } from './messages.js';
import { ToolCallResponsePart } from './tool-calls.js';

export const MarkdownResponsePart = Type.Object(
  { kind: Type.Literal('markdown'), id: Type.String(), content: Type.String({ description: 'The text so far.' }) },
  { $id: 'MarkdownResponsePart', description: 'Text of the answer; `session/delta` appends to it.' },
);
export type MarkdownResponsePart = Static<typeof MarkdownResponsePart>;

export const ReasoningResponsePart = Type.Object(
  { kind: Type.Literal('reasoning'), id: Type.String(), content: Type.String({ description: 'The text so far.' }) },
  { $id: 'ReasoningResponsePart', description: "The model's thinking; `session/reasoning` appends to it." },
);
export type ReasoningResponsePart = Static<typeof ReasoningResponsePart>;

export const ResourceResponsePart = Type.Object(
  {
    kind: Type.Literal('contentRef'),
    uri: URI,
    sizeHint: Type.Optional(Type.Number()),
    contentType: Type.Optional(Type.String()),
  },
  { $id: 'ResourceResponsePart', description: 'Content of the answer, by reference.' },
);
export type ResourceResponsePart = Static<typeof ResourceResponsePart>;

export const SystemNotificationResponsePart = Type.Object(
  { kind: Type.Literal('systemNotification'), content: StringOrMarkdown },
  { $id: 'SystemNotificationResponsePart', description: 'A note from the host, for people and the agent.' },
);
export type SystemNotificationResponsePart = Static<typeof SystemNotificationResponsePart>;

export const ResponsePart = OpenUnion(
  'kind',
  [
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResourceResponsePart,
    ToolCallResponsePart,
    SystemNotificationResponsePart,
  ],
  { $id: 'ResponsePart', description: 'One part of an answer. Parts are in the order in which they were streamed.' },
);
export type ResponsePart = Static<typeof ResponsePart>;

export const ActiveTurn = Type.Object(
  {
    id: Type.String(),
    userMessage: UserMessage,
    responseParts: Type.Array(ResponsePart),
    usage: Type.Optional(UsageInfo),
  },
  {
    $id: 'ActiveTurn',
    description: 'The running turn. It is kept apart from the finished turns, so that streaming never copies them.',
  },
);
export type ActiveTurn = Static<typeof ActiveTurn>;

export const TurnState = Choice(['complete', 'cancelled', 'error'], {
  $id: 'TurnState',
  description: 'How a turn ended.',
});
export type TurnState = Static<typeof TurnState>;

export const Turn = Type.Object(
  {
    id: Type.String(),
    userMessage: UserMessage,
    responseParts: Type.Array(ResponsePart),
    usage: Type.Optional(UsageInfo),
    state: TurnState,
    error: Type.Optional(ErrorInfo),
  },
  { $id: 'Turn', description: 'A finished turn.' },
);
export type Turn = Static<typeof Turn>;
