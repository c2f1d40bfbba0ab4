/** The actions of tool calls. */
import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';
import { Meta, StringOrMarkdown } from '../common/types.js';
import { McpAuthRequirement } from '../session/customizations.js';
import { Message } from './messages.js';
import {
  confirmationMembers,
  ToolCallConfirmationReason,
  ToolCallContributor,
  ToolCallResult,
  ToolResultContent,
  toolCallParameters,
} from './tool-calls.js';

/** Which call an action is about. Its `_meta` replaces that of the call. */
const toolCallTarget = {
  turnId: Type.String(),
  toolCallId: Type.String(),
  _meta: Type.Optional(Meta),
};

export const ChatToolCallStartAction = Type.Object(
  {
    type: Type.Literal('chat/toolCallStart'),
    ...toolCallTarget,
    toolName: Type.String(),
    displayName: Type.String(),
    intention: Type.Optional(Type.String()),
    contributor: Type.Optional(ToolCallContributor),
  },
  { $id: 'ChatToolCallStartAction', description: 'The model begins a tool call; its parameters follow.' },
);
export type ChatToolCallStartAction = Static<typeof ChatToolCallStartAction>;

export const ChatToolCallDeltaAction = Type.Object(
  {
    type: Type.Literal('chat/toolCallDelta'),
    ...toolCallTarget,
    content: Type.Optional(Type.String({ description: 'The text to append to the arguments.' })),
    invocationMessage: Type.Optional(StringOrMarkdown),
  },
  { $id: 'ChatToolCallDeltaAction', description: 'Parameters of a call, as the model writes them.' },
);
export type ChatToolCallDeltaAction = Static<typeof ChatToolCallDeltaAction>;

export const ChatToolCallReadyAction = Type.Object(
  {
    type: Type.Literal('chat/toolCallReady'),
    ...toolCallTarget,
    ...toolCallParameters,
    ...confirmationMembers,
    confirmed: Type.Optional(ToolCallConfirmationReason),
    contributor: Type.Optional(ToolCallContributor),
    intention: Type.Optional(Type.String()),
  },
  {
    $id: 'ChatToolCallReadyAction',
    description: 'The parameters are complete: run (`confirmed`), or ask a person first.',
  },
);
export type ChatToolCallReadyAction = Static<typeof ChatToolCallReadyAction>;

export const ChatToolCallApprovedAction = Type.Object(
  {
    type: Type.Literal('chat/toolCallConfirmed'),
    ...toolCallTarget,
    approved: Type.Literal(true),
    confirmed: Choice(['not-needed', 'user-action', 'setting'], { description: 'Why the call may run.' }),
    editedToolInput: Type.Optional(Type.String({ description: 'The edited arguments, as JSON text.' })),
    selectedOptionId: Type.Optional(Type.String()),
  },
  {
    $id: 'ChatToolCallApprovedAction',
    description: 'A person or a setting approved the call, possibly with edited input.',
  },
);
export type ChatToolCallApprovedAction = Static<typeof ChatToolCallApprovedAction>;

export const ChatToolCallDeniedAction = Type.Object(
  {
    type: Type.Literal('chat/toolCallConfirmed'),
    ...toolCallTarget,
    approved: Type.Literal(false),
    reason: Choice(['denied', 'skipped'], { description: 'Whether the person denied the call or skipped it.' }),
    userSuggestion: Type.Optional(Message),
    reasonMessage: Type.Optional(StringOrMarkdown),
    selectedOptionId: Type.Optional(Type.String()),
  },
  { $id: 'ChatToolCallDeniedAction', description: 'A person denied the call, possibly with advice.' },
);
export type ChatToolCallDeniedAction = Static<typeof ChatToolCallDeniedAction>;

export const ChatToolCallConfirmedAction = Type.Union([ChatToolCallApprovedAction, ChatToolCallDeniedAction], {
  $id: 'ChatToolCallConfirmedAction',
  description: 'A person approved or denied the call.',
});
export type ChatToolCallConfirmedAction = Static<typeof ChatToolCallConfirmedAction>;

export const ChatToolCallCompleteAction = Type.Object(
  {
    type: Type.Literal('chat/toolCallComplete'),
    ...toolCallTarget,
    result: ToolCallResult,
    requiresResultConfirmation: Type.Optional(
      Type.Boolean({ description: 'Whether a person must release the result before the model sees it.' }),
    ),
  },
  { $id: 'ChatToolCallCompleteAction', description: 'The tool has returned.' },
);
export type ChatToolCallCompleteAction = Static<typeof ChatToolCallCompleteAction>;

export const ChatToolCallResultConfirmedAction = Type.Object(
  {
    type: Type.Literal('chat/toolCallResultConfirmed'),
    ...toolCallTarget,
    approved: Type.Boolean({ description: 'Whether the model may see it.' }),
  },
  {
    $id: 'ChatToolCallResultConfirmedAction',
    description: 'A person released the result to the model, or denied it.',
  },
);
export type ChatToolCallResultConfirmedAction = Static<typeof ChatToolCallResultConfirmedAction>;

export const ChatToolCallContentChangedAction = Type.Object(
  { type: Type.Literal('chat/toolCallContentChanged'), ...toolCallTarget, content: Type.Array(ToolResultContent) },
  {
    $id: 'ChatToolCallContentChangedAction',
    description: 'The output of a running tool so far; replaces earlier output.',
  },
);
export type ChatToolCallContentChangedAction = Static<typeof ChatToolCallContentChangedAction>;

export const ChatToolCallAuthRequiredAction = Type.Object(
  { type: Type.Literal('chat/toolCallAuthRequired'), ...toolCallTarget, auth: McpAuthRequirement },
  { $id: 'ChatToolCallAuthRequiredAction', description: 'The MCP server of a running call needs a token.' },
);
export type ChatToolCallAuthRequiredAction = Static<typeof ChatToolCallAuthRequiredAction>;

export const ChatToolCallAuthResolvedAction = Type.Object(
  { type: Type.Literal('chat/toolCallAuthResolved'), ...toolCallTarget },
  { $id: 'ChatToolCallAuthResolvedAction', description: 'The MCP server has its token; the call goes on.' },
);
export type ChatToolCallAuthResolvedAction = Static<typeof ChatToolCallAuthResolvedAction>;

/** Every action of a tool call, by its type. */
export const toolCallActions = {
  'chat/toolCallStart': ChatToolCallStartAction,
  'chat/toolCallDelta': ChatToolCallDeltaAction,
  'chat/toolCallReady': ChatToolCallReadyAction,
  'chat/toolCallConfirmed': ChatToolCallConfirmedAction,
  'chat/toolCallComplete': ChatToolCallCompleteAction,
  'chat/toolCallResultConfirmed': ChatToolCallResultConfirmedAction,
  'chat/toolCallContentChanged': ChatToolCallContentChangedAction,
  'chat/toolCallAuthRequired': ChatToolCallAuthRequiredAction,
  'chat/toolCallAuthResolved': ChatToolCallAuthResolvedAction,
} as const;
