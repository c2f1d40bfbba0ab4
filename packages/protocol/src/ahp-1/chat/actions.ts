/**
 * The actions of a chat: everything that can happen in a conversation. Those of tool calls are in
 * `tool-call-actions.ts`.
 */
import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import { Changeset } from '../changeset/state.js';
import { Meta, Timestamp, URI, UsageInfo } from '../common/types.js';
import { ChatInputAnswer, ChatInputRequest, ChatInputResponseKind } from './input.js';
import { Message, PendingMessageKind } from './messages.js';
import { BackgroundWork, CanvasReference } from './state.js';
import { toolCallActions } from './tool-call-actions.js';
import { ErrorResponsePart, ResponsePart, Turn } from './turns.js';

const turnMembers = { turnId: Type.String(), _meta: Type.Optional(Meta) };
const duration = Type.Number({ description: 'How long the turn took, in milliseconds.' });

export const ChatTurnStartedAction = Type.Object(
  {
    type: Type.Literal('chat/turnStarted'),
    turnId: Type.String({ description: 'A new id, chosen by the sender.' }),
    startedAt: Timestamp,
    message: Message,
    queuedMessageId: Type.Optional(Type.String({ description: 'The waiting message that starts this turn.' })),
    _meta: Type.Optional(Meta),
  },
  {
    $id: 'ChatTurnStartedAction',
    description: 'A message starts a turn; `queuedMessageId` removes it from the queue.',
  },
);
export type ChatTurnStartedAction = Static<typeof ChatTurnStartedAction>;

const deltaMembers = {
  ...turnMembers,
  partId: Type.String({ description: 'The part of the answer that grows.' }),
  content: Type.String({ description: 'The text to append.' }),
};

export const ChatDeltaAction = Type.Object(
  { type: Type.Literal('chat/delta'), ...deltaMembers },
  { $id: 'ChatDeltaAction', description: 'Text appended to a markdown part.' },
);
export type ChatDeltaAction = Static<typeof ChatDeltaAction>;

export const ChatReasoningAction = Type.Object(
  { type: Type.Literal('chat/reasoning'), ...deltaMembers },
  { $id: 'ChatReasoningAction', description: 'Text appended to a reasoning part.' },
);
export type ChatReasoningAction = Static<typeof ChatReasoningAction>;

export const ChatResponsePartAction = Type.Object(
  { type: Type.Literal('chat/responsePart'), ...turnMembers, part: ResponsePart },
  { $id: 'ChatResponsePartAction', description: 'A new part of the answer. Errors come with `chat/error` only.' },
);
export type ChatResponsePartAction = Static<typeof ChatResponsePartAction>;

export const ChatTurnCompleteAction = Type.Object(
  { type: Type.Literal('chat/turnComplete'), ...turnMembers, duration },
  { $id: 'ChatTurnCompleteAction', description: 'The turn ended normally.' },
);
export type ChatTurnCompleteAction = Static<typeof ChatTurnCompleteAction>;

export const ChatTurnCancelledAction = Type.Object(
  { type: Type.Literal('chat/turnCancelled'), ...turnMembers, duration },
  { $id: 'ChatTurnCancelledAction', description: 'The turn was stopped.' },
);
export type ChatTurnCancelledAction = Static<typeof ChatTurnCancelledAction>;

export const ChatErrorAction = Type.Object(
  { type: Type.Literal('chat/error'), ...turnMembers, duration, part: ErrorResponsePart },
  { $id: 'ChatErrorAction', description: 'The turn failed.' },
);
export type ChatErrorAction = Static<typeof ChatErrorAction>;

export const ChatTurnResumeAction = Type.Object(
  { type: Type.Literal('chat/turnResume'), ...turnMembers },
  { $id: 'ChatTurnResumeAction', description: 'The last turn, which failed, goes on.' },
);
export type ChatTurnResumeAction = Static<typeof ChatTurnResumeAction>;

export const ChatUsageAction = Type.Object(
  { type: Type.Literal('chat/usage'), ...turnMembers, usage: UsageInfo },
  { $id: 'ChatUsageAction', description: 'The tokens that the turn has used so far.' },
);
export type ChatUsageAction = Static<typeof ChatUsageAction>;

export const ChatActivityChangedAction = Type.Object(
  {
    type: Type.Literal('chat/activityChanged'),
    activity: Type.Optional(Type.String({ description: 'In a few words; absent when the chat is idle.' })),
  },
  { $id: 'ChatActivityChangedAction', description: 'What the chat is doing now, in a few words.' },
);
export type ChatActivityChangedAction = Static<typeof ChatActivityChangedAction>;

export const ChatPendingMessageSetAction = Type.Object(
  { type: Type.Literal('chat/pendingMessageSet'), kind: PendingMessageKind, id: Type.String(), message: Message },
  {
    $id: 'ChatPendingMessageSetAction',
    description: 'A message waits to steer the running turn, or to start the next one.',
  },
);
export type ChatPendingMessageSetAction = Static<typeof ChatPendingMessageSetAction>;

export const ChatPendingMessageRemovedAction = Type.Object(
  { type: Type.Literal('chat/pendingMessageRemoved'), kind: PendingMessageKind, id: Type.String() },
  { $id: 'ChatPendingMessageRemovedAction', description: 'A waiting message was withdrawn or delivered.' },
);
export type ChatPendingMessageRemovedAction = Static<typeof ChatPendingMessageRemovedAction>;

export const ChatQueuedMessagesReorderedAction = Type.Object(
  {
    type: Type.Literal('chat/queuedMessagesReordered'),
    order: Type.Array(Type.String(), { description: 'The ids of queued messages.' }),
  },
  {
    $id: 'ChatQueuedMessagesReorderedAction',
    description: 'Queued messages have a new order; unnamed ones follow in their old order.',
  },
);
export type ChatQueuedMessagesReorderedAction = Static<typeof ChatQueuedMessagesReorderedAction>;

export const ChatDraftChangedAction = Type.Object(
  { type: Type.Literal('chat/draftChanged'), draft: Type.Optional(Message) },
  { $id: 'ChatDraftChangedAction', description: 'The message that a person is writing changed, or was dropped.' },
);
export type ChatDraftChangedAction = Static<typeof ChatDraftChangedAction>;

export const ChatInputRequestedAction = Type.Object(
  { type: Type.Literal('chat/inputRequested'), request: ChatInputRequest },
  {
    $id: 'ChatInputRequestedAction',
    description: 'A person must answer something; an open request with a known id is replaced.',
  },
);
export type ChatInputRequestedAction = Static<typeof ChatInputRequestedAction>;

export const ChatInputAnswerChangedAction = Type.Object(
  {
    type: Type.Literal('chat/inputAnswerChanged'),
    requestId: Type.String(),
    questionId: Type.String({ description: 'One of its questions.' }),
    answer: Type.Optional(ChatInputAnswer),
  },
  {
    $id: 'ChatInputAnswerChangedAction',
    description: 'The answer to one question changed; without an answer, it was withdrawn.',
  },
);
export type ChatInputAnswerChangedAction = Static<typeof ChatInputAnswerChangedAction>;

export const ChatInputCompletedAction = Type.Object(
  {
    type: Type.Literal('chat/inputCompleted'),
    requestId: Type.String(),
    response: ChatInputResponseKind,
    answers: Type.Optional(MapOf(ChatInputAnswer)),
  },
  { $id: 'ChatInputCompletedAction', description: 'An input request was answered or closed.' },
);
export type ChatInputCompletedAction = Static<typeof ChatInputCompletedAction>;

export const ChatTruncatedAction = Type.Object(
  {
    type: Type.Literal('chat/truncated'),
    turnId: Type.Optional(Type.String({ description: 'The last turn that remains.' })),
  },
  {
    $id: 'ChatTruncatedAction',
    description: 'The turns after the named one were removed; without a name, all turns.',
  },
);
export type ChatTruncatedAction = Static<typeof ChatTruncatedAction>;

export const ChatTurnsLoadedAction = Type.Object(
  {
    type: Type.Literal('chat/turnsLoaded'),
    turns: Type.Array(Turn),
    turnsNextCursor: Type.Optional(Type.String({ description: 'Absent: there are no older turns.' })),
  },
  { $id: 'ChatTurnsLoadedAction', description: 'Older turns were loaded from storage.' },
);
export type ChatTurnsLoadedAction = Static<typeof ChatTurnsLoadedAction>;

export const ChatWorkingDirectorySetAction = Type.Object(
  { type: Type.Literal('chat/workingDirectorySet'), directory: URI },
  { $id: 'ChatWorkingDirectorySetAction', description: "The chat works in one more of the session's folders." },
);
export type ChatWorkingDirectorySetAction = Static<typeof ChatWorkingDirectorySetAction>;

export const ChatWorkingDirectoryRemovedAction = Type.Object(
  { type: Type.Literal('chat/workingDirectoryRemoved'), directory: URI },
  { $id: 'ChatWorkingDirectoryRemovedAction', description: 'The chat no longer works in a folder.' },
);
export type ChatWorkingDirectoryRemovedAction = Static<typeof ChatWorkingDirectoryRemovedAction>;

export const ChatIsReadChangedAction = Type.Object(
  { type: Type.Literal('chat/isReadChanged'), isRead: Type.Boolean() },
  { $id: 'ChatIsReadChangedAction', description: 'The chat was read, or marked unread.' },
);
export type ChatIsReadChangedAction = Static<typeof ChatIsReadChangedAction>;

export const ChatIsArchivedChangedAction = Type.Object(
  { type: Type.Literal('chat/isArchivedChanged'), isArchived: Type.Boolean() },
  { $id: 'ChatIsArchivedChangedAction', description: 'The chat was archived, or taken out of the archive.' },
);
export type ChatIsArchivedChangedAction = Static<typeof ChatIsArchivedChangedAction>;

export const ChatBackgroundWorkSetAction = Type.Object(
  { type: Type.Literal('chat/backgroundWorkSet'), work: BackgroundWork },
  { $id: 'ChatBackgroundWorkSetAction', description: 'Work goes on in the background; carries all about it.' },
);
export type ChatBackgroundWorkSetAction = Static<typeof ChatBackgroundWorkSetAction>;

export const ChatBackgroundWorkRemovedAction = Type.Object(
  { type: Type.Literal('chat/backgroundWorkRemoved'), id: Type.String() },
  { $id: 'ChatBackgroundWorkRemovedAction', description: 'Background work ended.' },
);
export type ChatBackgroundWorkRemovedAction = Static<typeof ChatBackgroundWorkRemovedAction>;

export const ChatMovableChangedAction = Type.Object(
  { type: Type.Literal('chat/movableChanged'), movable: Type.Optional(Type.Boolean()) },
  { $id: 'ChatMovableChangedAction', description: 'The chat can be moved now, or no longer.' },
);
export type ChatMovableChangedAction = Static<typeof ChatMovableChangedAction>;

export const ChatChangesetsChangedAction = Type.Object(
  { type: Type.Literal('chat/changesetsChanged'), changesets: Type.Optional(Type.Array(Changeset)) },
  { $id: 'ChatChangesetsChangedAction', description: 'The list of changesets changed; carries all of them.' },
);
export type ChatChangesetsChangedAction = Static<typeof ChatChangesetsChangedAction>;

export const ChatCanvasesChangedAction = Type.Object(
  { type: Type.Literal('chat/canvasesChanged'), canvases: Type.Optional(Type.Array(CanvasReference)) },
  { $id: 'ChatCanvasesChangedAction', description: 'The list of canvases changed; carries all of them.' },
);
export type ChatCanvasesChangedAction = Static<typeof ChatCanvasesChangedAction>;

/** Every action of the chat channel, by its type. */
export const chatActions = {
  'chat/turnStarted': ChatTurnStartedAction,
  'chat/delta': ChatDeltaAction,
  'chat/reasoning': ChatReasoningAction,
  'chat/responsePart': ChatResponsePartAction,
  'chat/turnComplete': ChatTurnCompleteAction,
  'chat/turnCancelled': ChatTurnCancelledAction,
  'chat/error': ChatErrorAction,
  'chat/turnResume': ChatTurnResumeAction,
  'chat/usage': ChatUsageAction,
  'chat/activityChanged': ChatActivityChangedAction,
  ...toolCallActions,
  'chat/pendingMessageSet': ChatPendingMessageSetAction,
  'chat/pendingMessageRemoved': ChatPendingMessageRemovedAction,
  'chat/queuedMessagesReordered': ChatQueuedMessagesReorderedAction,
  'chat/draftChanged': ChatDraftChangedAction,
  'chat/inputRequested': ChatInputRequestedAction,
  'chat/inputAnswerChanged': ChatInputAnswerChangedAction,
  'chat/inputCompleted': ChatInputCompletedAction,
  'chat/truncated': ChatTruncatedAction,
  'chat/turnsLoaded': ChatTurnsLoadedAction,
  'chat/workingDirectorySet': ChatWorkingDirectorySetAction,
  'chat/workingDirectoryRemoved': ChatWorkingDirectoryRemovedAction,
  'chat/isReadChanged': ChatIsReadChangedAction,
  'chat/isArchivedChanged': ChatIsArchivedChangedAction,
  'chat/backgroundWorkSet': ChatBackgroundWorkSetAction,
  'chat/backgroundWorkRemoved': ChatBackgroundWorkRemovedAction,
  'chat/movableChanged': ChatMovableChangedAction,
  'chat/changesetsChanged': ChatChangesetsChangedAction,
  'chat/canvasesChanged': ChatCanvasesChangedAction,
} as const;

export type ChatActionType = keyof typeof chatActions;
export type ChatActionMap = { [Type in ChatActionType]: Static<(typeof chatActions)[Type]> };
export type ChatAction = ChatActionMap[ChatActionType];
