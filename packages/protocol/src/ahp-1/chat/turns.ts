/** Turns: a message and the parts of its answer, while it is written and afterwards. */
import { type Static, Type } from 'typebox';
import { Choice, OpenUnion } from '../../schema/define.js';
import { MarkdownResponsePart, ReasoningResponsePart } from '../../session/turns.js';
import { contentRefMembers, ErrorInfo, Meta, StringOrMarkdown, Timestamp, UsageInfo } from '../common/types.js';
import { ChatInputRequest, ChatInputResponseKind } from './input.js';
import { Message } from './messages.js';
import { ToolCallState } from './tool-calls.js';

export { MarkdownResponsePart, ReasoningResponsePart };

export const ResourceResponsePart = Type.Object(
  { kind: Type.Literal('contentRef'), ...contentRefMembers },
  { $id: 'ResourceResponsePart', description: 'Content of the answer, by reference.' },
);
export type ResourceResponsePart = Static<typeof ResourceResponsePart>;

export const ToolCallResponsePart = Type.Object(
  { kind: Type.Literal('toolCall'), toolCall: ToolCallState },
  { $id: 'ToolCallResponsePart', description: 'A tool call, in its place in the answer.' },
);
export type ToolCallResponsePart = Static<typeof ToolCallResponsePart>;

export const SystemNotificationResponsePart = Type.Object(
  { kind: Type.Literal('systemNotification'), content: StringOrMarkdown, _meta: Type.Optional(Meta) },
  { $id: 'SystemNotificationResponsePart', description: 'A note from the host, for people and the agent.' },
);
export type SystemNotificationResponsePart = Static<typeof SystemNotificationResponsePart>;

export const InputRequestResponsePart = Type.Object(
  {
    kind: Type.Literal('inputRequest'),
    request: ChatInputRequest,
    response: Type.Optional(ChatInputResponseKind),
  },
  { $id: 'InputRequestResponsePart', description: 'A question to a person; `response` is absent while it is open.' },
);
export type InputRequestResponsePart = Static<typeof InputRequestResponsePart>;

export const ErrorResponsePart = Type.Object(
  {
    kind: Type.Literal('error'),
    error: ErrorInfo,
    resumable: Type.Optional(Type.Boolean({ description: 'Whether `chat/turnResume` may continue the turn.' })),
  },
  { $id: 'ErrorResponsePart', description: 'Why the turn failed at this point.' },
);
export type ErrorResponsePart = Static<typeof ErrorResponsePart>;

export const ResponsePart = OpenUnion(
  'kind',
  [
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResourceResponsePart,
    ToolCallResponsePart,
    SystemNotificationResponsePart,
    InputRequestResponsePart,
    ErrorResponsePart,
  ],
  { $id: 'ResponsePart', description: 'One part of an answer. Parts are in the order in which they were streamed.' },
);
export type ResponsePart = Static<typeof ResponsePart>;

export const ActiveTurn = Type.Object(
  {
    id: Type.String(),
    startedAt: Timestamp,
    message: Message,
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
    startedAt: Type.Optional(Timestamp),
    duration: Type.Optional(Type.Number({ description: 'Milliseconds.' })),
    message: Message,
    responseParts: Type.Array(ResponsePart),
    usage: Type.Optional(UsageInfo),
    state: TurnState,
  },
  { $id: 'Turn', description: 'A finished turn. The last part of a failed one says why it failed.' },
);
export type Turn = Static<typeof Turn>;
