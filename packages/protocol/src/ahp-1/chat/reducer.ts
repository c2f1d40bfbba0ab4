/**
 * What can happen in a chat: one handler for each type of action, in families. `chatReducer` at the end combines them.
 * The handlers of tool calls are in `tool-call-reducer.ts`.
 */
import { withFirstPart, withOpenParts, withPart, withTurnMembers } from '../../parts.js';
import { withMembers, withoutMember } from '../../reducing.js';
import { SessionStatus } from '../../session/status.js';
import {
  present,
  reducerOf,
  reordered,
  upserted,
  withDirectory,
  withFlag,
  withOptional,
  without,
  withoutDirectory,
} from '../reducing.js';
import type { ChatActionMap } from './actions.js';
import type { ChatInputAnswer, ChatInputRequest } from './input.js';
import type { PendingMessage } from './messages.js';
import { type ChatHandlers, refreshed, refreshedUnread, withActiveTurn } from './reducing.js';
import type { ChatState } from './state.js';
import { settled, toolCallHandlers } from './tool-call-reducer.js';
import type { ErrorResponsePart, InputRequestResponsePart, Turn, TurnState } from './turns.js';

const idOf = ({ id }: { id: string }) => id;

/** The life of turns: started, ended, resumed, truncated, loaded. */
const turnHandlers: ChatHandlers<
  | 'chat/turnStarted'
  | 'chat/turnComplete'
  | 'chat/turnCancelled'
  | 'chat/error'
  | 'chat/turnResume'
  | 'chat/truncated'
  | 'chat/turnsLoaded'
> = {
  'chat/turnStarted': (state, { turnId, startedAt, message, queuedMessageId }) => {
    if (state.activeTurn?.id === turnId || state.turns.some(({ id }) => id === turnId)) return state;
    const activeTurn = { id: turnId, startedAt, message, responseParts: [] };
    const started = refreshedUnread({ ...state, activeTurn, modifiedAt: startedAt });
    return queuedMessageId ? withoutQueued(withoutSteering(started, queuedMessageId), queuedMessageId) : started;
  },

  'chat/turnComplete': (state, action) => endTurn(state, { ...action, ended: 'complete' }),

  'chat/turnCancelled': (state, action) => endTurn(state, { ...action, ended: 'cancelled' }),

  'chat/error': (state, action) => endTurn(state, { ...action, ended: 'error' }),

  'chat/turnResume': (state, { turnId }) => {
    const turn = state.turns.at(-1);
    if (state.activeTurn || turn?.id !== turnId || !isResumable(turn)) return state;
    const { state: _ended, duration: _soFar, startedAt = state.modifiedAt, ...kept } = turn;
    return refreshedUnread({ ...state, turns: state.turns.slice(0, -1), activeTurn: { ...kept, startedAt } });
  },

  'chat/truncated': (state, { turnId }) => {
    const cutsAll = turnId === undefined || turnId === null;
    const keep = cutsAll ? 0 : state.turns.findIndex(({ id }) => id === turnId) + 1;
    if (!cutsAll && keep === 0) return state;
    const turns = keep === state.turns.length ? state.turns : state.turns.slice(0, keep);
    const rest = cutsAll ? withoutMember(state, 'turnsNextCursor') : state;
    return refreshed(withMembers<ChatState>(withoutMember(rest, 'activeTurn'), { turns }));
  },

  'chat/turnsLoaded': (state, { turns, turnsNextCursor }) => {
    const known = new Set(state.turns.map(idOf));
    const older = turns.filter(({ id }) => !known.has(id));
    const loaded = older.length ? { ...state, turns: [...older, ...state.turns] } : state;
    return withOptional(loaded, 'turnsNextCursor', turnsNextCursor);
  },
};

interface TurnEnd {
  readonly turnId: string;
  readonly duration: number;
  readonly ended: TurnState;
  readonly part?: ErrorResponsePart;
}

/** Moves the active turn to the finished ones. Unfinished calls are skipped; open questions stay unanswered. */
function endTurn(state: ChatState, { turnId, duration, ended, part }: TurnEnd): ChatState {
  const { activeTurn, ...rest } = state;
  if (activeTurn?.id !== turnId) return state;
  const took = Math.max(0, duration);
  const turn: Turn = {
    ...activeTurn,
    responseParts: [...activeTurn.responseParts.map(settled), ...(part ? [part] : [])],
    duration: took,
    state: ended,
  };
  const modifiedAt = laterBy(activeTurn.startedAt, took) ?? state.modifiedAt;
  const terminal = ended === 'error' ? SessionStatus.Error : undefined;
  return refreshed({ ...rest, turns: [...state.turns, turn], modifiedAt }, terminal);
}

/** The moment this many milliseconds after another one; undefined when that is not a valid moment. */
function laterBy(startedAt: string, milliseconds: number): string | undefined {
  const end = new Date(Date.parse(startedAt) + milliseconds);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}

function isResumable({ state, responseParts }: Turn): boolean {
  const last = responseParts.at(-1);
  return state === 'error' && last?.kind === 'error' && last.resumable === true;
}

/** The streamed answer. These handlers run for every token: each copies only the path to the part that grows. */
const streamHandlers: ChatHandlers<'chat/responsePart' | 'chat/delta' | 'chat/reasoning' | 'chat/usage'> = {
  'chat/responsePart': (state, { turnId, part }) =>
    withActiveTurn(state, turnId, (turn) => (part.kind === 'error' ? turn : withPart(turn, part))),

  'chat/delta': (state, action) => appended(state, 'markdown', action),

  'chat/reasoning': (state, action) => appended(state, 'reasoning', action),

  'chat/usage': (state, { turnId, usage }) => withActiveTurn(state, turnId, (turn) => withTurnMembers(turn, { usage })),
};

interface Delta {
  readonly turnId: string;
  readonly partId: string;
  readonly content: string;
}

function appended(state: ChatState, kind: 'markdown' | 'reasoning', { turnId, partId, content }: Delta): ChatState {
  return withActiveTurn(state, turnId, (turn) =>
    withFirstPart(turn, partId, (part) =>
      part.kind !== kind || content === '' ? part : { ...part, content: part.content + content },
    ),
  );
}

/** Waiting messages: a draft, one that steers the running turn, and a queue for future turns. */
const messageHandlers: ChatHandlers<
  'chat/draftChanged' | 'chat/pendingMessageSet' | 'chat/pendingMessageRemoved' | 'chat/queuedMessagesReordered'
> = {
  'chat/draftChanged': (state, { draft }) => withOptional(state, 'draft', draft),

  'chat/pendingMessageSet': (state, { kind, id, message }) => {
    const pending: PendingMessage = { id, message };
    if (kind === 'steering') return { ...state, steeringMessage: pending };
    return { ...state, queuedMessages: upserted(state.queuedMessages ?? [], pending, idOf) };
  },

  'chat/pendingMessageRemoved': (state, { kind, id }) =>
    kind === 'steering' ? withoutSteering(state, id) : withoutQueued(state, id),

  'chat/queuedMessagesReordered': (state, { order }) =>
    state.queuedMessages ? withMembers(state, { queuedMessages: reordered(state.queuedMessages, order, idOf) }) : state,
};

function withoutSteering(state: ChatState, id: string): ChatState {
  return state.steeringMessage?.id === id ? withoutMember(state, 'steeringMessage') : state;
}

/** Removes a message from the queue. An empty queue becomes absent. */
function withoutQueued(state: ChatState, id: string): ChatState {
  const { queuedMessages = [] } = state;
  const left = queuedMessages.filter((message) => message.id !== id);
  if (left.length === queuedMessages.length) return state;
  return withOptional(state, 'queuedMessages', left.length ? left : undefined);
}

/**
 * Questions to people: asked, answered in drafts that all clients share, and closed. They are parts of the active turn.
 */
const inputHandlers: ChatHandlers<'chat/inputRequested' | 'chat/inputAnswerChanged' | 'chat/inputCompleted'> = {
  'chat/inputRequested': (state, { request }) => {
    const { activeTurn } = state;
    if (!activeTurn) return state;
    const replaced = withOpenRequest(state, request.id, (part) => ({
      ...part,
      request: present({ ...request, answers: request.answers ?? part.request.answers }),
    }));
    if (replaced !== state) return refreshedUnread(replaced);
    return refreshedUnread({ ...state, activeTurn: withPart(activeTurn, { kind: 'inputRequest', request }) });
  },

  'chat/inputAnswerChanged': (state, { requestId, questionId, answer }) =>
    withOpenRequest(state, requestId, (part) => {
      const answers = withOptional<Answers, string>(part.request.answers ?? {}, questionId, answer);
      return withMembers(part, { request: withAnswers(part.request, answers) });
    }),

  'chat/inputCompleted': (state, { requestId, response, answers }) => {
    const closed = withOpenRequest(state, requestId, (part) => ({
      ...part,
      request: withAnswers(part.request, { ...part.request.answers, ...answers }),
      response,
    }));
    return closed === state ? state : refreshed(closed);
  },
};

type Answers = Record<string, ChatInputAnswer>;

/** A request with these answers; without any, the member is absent. */
function withAnswers(request: ChatInputRequest, answers: Answers): ChatInputRequest {
  return withOptional(request, 'answers', Object.keys(answers).length ? answers : undefined);
}

/** Changes the part of the active turn that holds this request, while it is open. */
function withOpenRequest(
  state: ChatState,
  requestId: string,
  change: (part: InputRequestResponsePart) => InputRequestResponsePart,
): ChatState {
  const { activeTurn } = state;
  if (!activeTurn) return state;
  let isFound = false;
  const changed = withOpenParts(activeTurn, (part) => {
    if (isFound || part.kind !== 'inputRequest' || part.request.id !== requestId) return part;
    isFound = true;
    return change(part);
  });
  return withMembers(state, { activeTurn: changed });
}

/** Settings of the chat, apart from its conversation. */
const settingHandlers: ChatHandlers<
  | 'chat/activityChanged'
  | 'chat/isReadChanged'
  | 'chat/isArchivedChanged'
  | 'chat/workingDirectorySet'
  | 'chat/workingDirectoryRemoved'
  | 'chat/backgroundWorkSet'
  | 'chat/backgroundWorkRemoved'
  | 'chat/movableChanged'
  | 'chat/changesetsChanged'
  | 'chat/canvasesChanged'
> = {
  'chat/activityChanged': (state, { activity }) => withOptional(state, 'activity', activity),

  'chat/isReadChanged': (state, { isRead }) =>
    withMembers(state, { status: withFlag(state.status, SessionStatus.IsRead, isRead) }),

  'chat/isArchivedChanged': (state, { isArchived }) =>
    withMembers(state, { status: withFlag(state.status, SessionStatus.IsArchived, isArchived) }),

  'chat/workingDirectorySet': (state, { directory }) => withDirectory(state, directory),

  'chat/workingDirectoryRemoved': (state, { directory }) => withoutDirectory(state, directory),

  'chat/backgroundWorkSet': (state, { work }) =>
    withMembers(state, { backgroundWork: upserted(state.backgroundWork ?? [], work, idOf) }),

  'chat/backgroundWorkRemoved': (state, { id }) =>
    state.backgroundWork ? withMembers(state, { backgroundWork: without(state.backgroundWork, id, idOf) }) : state,

  'chat/movableChanged': (state, { movable }) => withOptional(state, 'movable', movable),

  'chat/changesetsChanged': (state, { changesets }) => withOptional(state, 'changesets', changesets),

  'chat/canvasesChanged': (state, { canvases }) => withOptional(state, 'canvases', canvases),
};

export const chatReducer = reducerOf<ChatState, ChatActionMap>({
  ...turnHandlers,
  ...streamHandlers,
  ...toolCallHandlers,
  ...messageHandlers,
  ...inputHandlers,
  ...settingHandlers,
});
