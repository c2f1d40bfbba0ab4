/** The actions of tool calls. */
import { type Static, Type } from 'typebox';
import { Meta, StringOrMarkdown } from '../common/types.js';
import { Choice } from '../schema/define.js';
import { UserMessage } from './messages.js';
import {
  ConfirmationOption,
  FileEditList,
  ToolCallConfirmationReason,
  ToolCallResult,
  ToolResultContent,
  toolCallParameters,
} from './tool-calls.js';

/** Identifies the call. Reducers keep the `_meta` of the start and ignore all later ones. */
const toolCallTarget = {
  turnId: Type.String(),
  toolCallId: Type.String(),
  _meta: Type.Optional(Meta),
};

export const SessionToolCallStartAction = Type.Object(
  {
    type: Type.Literal('session/toolCallStart'),
    ...toolCallTarget,
    toolName: Type.String(),
    displayName: Type.String(),
    toolClientId: Type.Optional(Type.String()),
  },
  { $id: 'SessionToolCallStartAction', description: 'The model begins a tool call; its parameters follow.' },
);
export type SessionToolCallStartAction = Static<typeof SessionToolCallStartAction>;

export const SessionToolCallDeltaAction = Type.Object(
  {
    type: Type.Literal('session/toolCallDelta'),
    ...toolCallTarget,
    content: Type.String({ description: 'The text to append to the arguments.' }),
    invocationMessage: Type.Optional(StringOrMarkdown),
  },
  { $id: 'SessionToolCallDeltaAction', description: 'Parameters of a call, as the model writes them.' },
);
export type SessionToolCallDeltaAction = Static<typeof SessionToolCallDeltaAction>;

export const SessionToolCallReadyAction = Type.Object(
  {
    type: Type.Literal('session/toolCallReady'),
    ...toolCallTarget,
    ...toolCallParameters,
    confirmationTitle: Type.Optional(StringOrMarkdown),
    edits: Type.Optional(FileEditList),
    editable: Type.Optional(Type.Boolean()),
    confirmed: Type.Optional(ToolCallConfirmationReason),
    options: Type.Optional(Type.Array(ConfirmationOption)),
  },
  {
    $id: 'SessionToolCallReadyAction',
    description: 'The parameters are complete: run (`confirmed`), or ask a person first.',
  },
);
export type SessionToolCallReadyAction = Static<typeof SessionToolCallReadyAction>;

export const SessionToolCallApprovedAction = Type.Object(
  {
    type: Type.Literal('session/toolCallConfirmed'),
    ...toolCallTarget,
    approved: Type.Literal(true),
    confirmed: ToolCallConfirmationReason,
    editedToolInput: Type.Optional(Type.String({ description: 'The edited arguments, as JSON text.' })),
    selectedOptionId: Type.Optional(Type.String()),
  },
  {
    $id: 'SessionToolCallApprovedAction',
    description: 'A person or a setting approved the call, possibly with edited input.',
  },
);
export type SessionToolCallApprovedAction = Static<typeof SessionToolCallApprovedAction>;

export const SessionToolCallDeniedAction = Type.Object(
  {
    type: Type.Literal('session/toolCallConfirmed'),
    ...toolCallTarget,
    approved: Type.Literal(false),
    reason: Choice(['denied', 'skipped'], { description: 'Whether the person denied the call or skipped it.' }),
    userSuggestion: Type.Optional(UserMessage),
    reasonMessage: Type.Optional(StringOrMarkdown),
    selectedOptionId: Type.Optional(Type.String()),
  },
  { $id: 'SessionToolCallDeniedAction', description: 'A person denied the call, possibly with advice.' },
);
export type SessionToolCallDeniedAction = Static<typeof SessionToolCallDeniedAction>;

export const SessionToolCallConfirmedAction = Type.Union([SessionToolCallApprovedAction, SessionToolCallDeniedAction], {
  $id: 'SessionToolCallConfirmedAction',
  description: 'A person approved or denied the call.',
});
export type SessionToolCallConfirmedAction = Static<typeof SessionToolCallConfirmedAction>;

export const SessionToolCallCompleteAction = Type.Object(
  {
    type: Type.Literal('session/toolCallComplete'),
    ...toolCallTarget,
    result: ToolCallResult,
    requiresResultConfirmation: Type.Optional(
      Type.Boolean({ description: 'Whether a person must release the result before the model sees it.' }),
    ),
  },
  { $id: 'SessionToolCallCompleteAction', description: 'The tool has returned.' },
);
export type SessionToolCallCompleteAction = Static<typeof SessionToolCallCompleteAction>;

export const SessionToolCallResultConfirmedAction = Type.Object(
  {
    type: Type.Literal('session/toolCallResultConfirmed'),
    ...toolCallTarget,
    approved: Type.Boolean({ description: 'Whether the model may see it.' }),
  },
  {
    $id: 'SessionToolCallResultConfirmedAction',
    description: 'A person released the result to the model, or denied it.',
  },
);
export type SessionToolCallResultConfirmedAction = Static<typeof SessionToolCallResultConfirmedAction>;

export const SessionToolCallContentChangedAction = Type.Object(
  { type: Type.Literal('session/toolCallContentChanged'), ...toolCallTarget, content: Type.Array(ToolResultContent) },
  {
    $id: 'SessionToolCallContentChangedAction',
    description: 'The output of a running tool so far; replaces earlier output.',
  },
);
export type SessionToolCallContentChangedAction = Static<typeof SessionToolCallContentChangedAction>;
