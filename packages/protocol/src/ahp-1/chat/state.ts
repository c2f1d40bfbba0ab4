/** The state of a chat, and its summary in the session's list. */
import { type Static, Type } from 'typebox';
import { Choice, OpenUnion } from '../../schema/define.js';
import { Changeset } from '../changeset/state.js';
import { ChangesSummary, Meta, Timestamp, URI } from '../common/types.js';
import { Message, PendingMessage } from './messages.js';
import { ActiveTurn, Turn } from './turns.js';

export const SideChatSelection = Type.Object(
  {
    text: Type.String({ description: 'The selected words; never empty.' }),
    responsePartId: Type.Optional(Type.String({ description: 'The part of the answer that holds them.' })),
  },
  { $id: 'SideChatSelection', description: 'What a person selected before opening a side chat.' },
);
export type SideChatSelection = Static<typeof SideChatSelection>;

/** The turn at which a chat branches off. */
const branchMembers = { chat: URI, turnId: Type.String() };

export const ChatUserOrigin = Type.Object(
  { kind: Type.Literal('user') },
  { $id: 'ChatUserOrigin', description: 'A person opened the chat.' },
);
export type ChatUserOrigin = Static<typeof ChatUserOrigin>;

export const ChatForkOrigin = Type.Object(
  { kind: Type.Literal('fork'), ...branchMembers },
  { $id: 'ChatForkOrigin', description: 'The chat began as a copy of another one, up to and including a turn.' },
);
export type ChatForkOrigin = Static<typeof ChatForkOrigin>;

export const ChatSideChatOrigin = Type.Object(
  { kind: Type.Literal('sideChat'), ...branchMembers, selection: Type.Optional(SideChatSelection) },
  { $id: 'ChatSideChatOrigin', description: 'The agent knows the history of another chat up to a turn.' },
);
export type ChatSideChatOrigin = Static<typeof ChatSideChatOrigin>;

export const ChatToolOrigin = Type.Object(
  { kind: Type.Literal('tool'), chat: URI, toolCallId: Type.String() },
  { $id: 'ChatToolOrigin', description: 'A tool call of another chat opened the chat for a subagent.' },
);
export type ChatToolOrigin = Static<typeof ChatToolOrigin>;

export const ChatOrigin = OpenUnion('kind', [ChatUserOrigin, ChatForkOrigin, ChatSideChatOrigin, ChatToolOrigin], {
  $id: 'ChatOrigin',
  description: 'How a chat came to be.',
});
export type ChatOrigin = Static<typeof ChatOrigin>;

export const ChatInteractivity = Choice(['full', 'read-only', 'hidden'], {
  $id: 'ChatInteractivity',
  description: 'Whether people may write in a chat, only read it, or should not see it. Absent: `full`.',
});
export type ChatInteractivity = Static<typeof ChatInteractivity>;

/** Members that a chat and its summary share. */
const chatSummaryMembers = {
  resource: URI,
  title: Type.String(),
  status: Type.Integer({
    description:
      'Activity in the five lowest bits: 1 idle, 2 error, 8 in progress, 24 waits for input. 32: was read. 64: is archived.',
  }),
  activity: Type.Optional(Type.String({ description: 'What it is doing now, in a few words.' })),
  modifiedAt: Timestamp,
  changes: Type.Optional(ChangesSummary),
  origin: Type.Optional(ChatOrigin),
  movable: Type.Optional(Type.Boolean({ description: 'Whether clients may move it with `moveChat`.' })),
  interactivity: Type.Optional(ChatInteractivity),
  workingDirectories: Type.Optional(
    Type.Array(URI, { description: "A subset of the session's. Absent: all of them." }),
  ),
};

export const ChatSummary = Type.Object(chatSummaryMembers, {
  $id: 'ChatSummary',
  description: 'A chat as its session lists it.',
});
export type ChatSummary = Static<typeof ChatSummary>;

/** Members of all kinds of background work. */
const backgroundWorkBase = {
  id: Type.String(),
  label: Type.String(),
  startedAt: Timestamp,
  _meta: Type.Optional(Meta),
};

export const ShellBackgroundWork = Type.Object(
  {
    kind: Type.Literal('shell'),
    ...backgroundWorkBase,
    command: Type.String(),
    terminal: Type.Optional(URI),
  },
  { $id: 'ShellBackgroundWork', description: 'A shell command that runs on after its call.' },
);
export type ShellBackgroundWork = Static<typeof ShellBackgroundWork>;

export const SubagentBackgroundWork = Type.Object(
  { kind: Type.Literal('subagent'), ...backgroundWorkBase, chat: URI },
  { $id: 'SubagentBackgroundWork', description: 'A subagent that works on in its own chat.' },
);
export type SubagentBackgroundWork = Static<typeof SubagentBackgroundWork>;

export const BackgroundWork = OpenUnion('kind', [ShellBackgroundWork, SubagentBackgroundWork], {
  $id: 'BackgroundWork',
  description: 'Unfinished work that no turn waits for.',
});
export type BackgroundWork = Static<typeof BackgroundWork>;

export const CanvasReference = Type.Object(
  { resource: URI },
  { $id: 'CanvasReference', description: 'A canvas, by its channel.' },
);
export type CanvasReference = Static<typeof CanvasReference>;

export const ChatState = Type.Object(
  {
    ...chatSummaryMembers,
    changesets: Type.Optional(Type.Array(Changeset)),
    backgroundWork: Type.Optional(Type.Array(BackgroundWork)),
    canvases: Type.Optional(Type.Array(CanvasReference)),
    turns: Type.Array(Turn),
    turnsNextCursor: Type.Optional(
      Type.String({ description: 'Where `fetchTurns` continues. Absent: all turns are here.' }),
    ),
    activeTurn: Type.Optional(ActiveTurn),
    steeringMessage: Type.Optional(PendingMessage),
    queuedMessages: Type.Optional(Type.Array(PendingMessage)),
    draft: Type.Optional(Message),
    _meta: Type.Optional(Meta),
  },
  { $id: 'ChatState', description: 'One conversation of a session.' },
);
export type ChatState = Static<typeof ChatState>;
