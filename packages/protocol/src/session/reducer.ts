/**
 * What can happen in a session: one handler for each type of action, in families. `sessionReducer` at the end combines
 * them. The handlers of tool calls are in `tool-call-reducer.ts`.
 */
import type { ErrorInfo } from '../common/types.js';
import { withFirstPart, withPart, withTurnMembers } from '../parts.js';
import { reducerOf, withElement, withMembers, withoutMember, withValues } from '../reducing.js';
import type { SessionActionMap } from './actions.js';
import type { Customization } from './customizations.js';
import type { SessionInputAnswer, SessionInputRequest } from './input.js';
import type { PendingMessage } from './messages.js';
import { type SessionHandlers, touched, touchedUnread, withActiveTurn, withFlag } from './reducing.js';
import type { SessionState, SessionSummary } from './state.js';
import { SessionStatus } from './status.js';
import { baseOf, toolCallHandlers } from './tool-call-reducer.js';
import type { ToolCallResponsePart } from './tool-calls.js';
import type { ResponsePart, TurnState } from './turns.js';

/** The life of a session and of its turns: started, ended, truncated. */
const turnHandlers: SessionHandlers<
  | 'session/ready'
  | 'session/creationFailed'
  | 'session/turnStarted'
  | 'session/turnComplete'
  | 'session/turnCancelled'
  | 'session/error'
  | 'session/truncated'
> = {
  'session/ready': (state) => withMembers(state, { lifecycle: 'ready' }),

  'session/creationFailed': (state, { error }) =>
    withMembers(state, { lifecycle: 'creationFailed', creationError: error }),

  'session/turnStarted': (state, { turnId, userMessage, queuedMessageId }, { now }) => {
    const activeTurn = { id: turnId, userMessage, responseParts: [], usage: undefined };
    const started = touchedUnread({ ...state, activeTurn }, now);
    return queuedMessageId ? withoutPending(started, queuedMessageId) : started;
  },

  'session/turnComplete': (state, { turnId }, { now }) => endTurn(state, { turnId, ended: 'complete', now }),

  'session/turnCancelled': (state, { turnId }, { now }) => endTurn(state, { turnId, ended: 'cancelled', now }),

  'session/error': (state, { turnId, error }, { now }) => endTurn(state, { turnId, ended: 'error', error, now }),

  'session/truncated': (state, { turnId }, { now }) => {
    const cutsAll = turnId === undefined || turnId === null;
    const keep = cutsAll ? 0 : state.turns.findIndex((turn) => turn.id === turnId) + 1;
    if (!cutsAll && keep === 0) return state;
    const rest = withoutMember(state, 'inputRequests');
    return touched({ ...rest, turns: state.turns.slice(0, keep), activeTurn: undefined }, now);
  },
};

interface TurnEnd {
  readonly turnId: string;
  readonly ended: TurnState;
  readonly error?: ErrorInfo;
  readonly now: number;
}

/** Moves the active turn to the finished ones. Unfinished calls are cancelled. */
function endTurn(state: SessionState, { turnId, ended, error, now }: TurnEnd): SessionState {
  const { activeTurn } = state;
  if (!activeTurn || activeTurn.id !== turnId) return state;
  const turn = {
    id: activeTurn.id,
    userMessage: activeTurn.userMessage,
    responseParts: activeTurn.responseParts.map(settled),
    usage: activeTurn.usage,
    state: ended,
    error,
  };
  const rest = withoutMember(state, 'inputRequests');
  const forced = ended === 'error' ? SessionStatus.Error : undefined;
  return touched({ ...rest, turns: [...state.turns, turn], activeTurn: undefined }, now, forced);
}

/** A part as history keeps it: an unfinished tool call becomes skipped. */
function settled(part: ResponsePart): ResponsePart {
  if (part.kind !== 'toolCall') return part;
  const { status } = part.toolCall;
  return status === 'completed' || status === 'cancelled' ? part : skipped(part);
}

function skipped({ toolCall }: ToolCallResponsePart): ToolCallResponsePart {
  const streaming = toolCall.status === 'streaming';
  return {
    kind: 'toolCall',
    toolCall: {
      status: 'cancelled',
      ...baseOf(toolCall),
      invocationMessage: streaming ? (toolCall.invocationMessage ?? '') : toolCall.invocationMessage,
      toolInput: streaming ? undefined : toolCall.toolInput,
      reason: 'skipped',
    },
  };
}

/** Removes the waiting message, of either kind, that became a turn. */
function withoutPending(state: SessionState, id: string): SessionState {
  const steered = state.steeringMessage?.id === id ? { ...state, steeringMessage: undefined } : state;
  return steered.queuedMessages ? withoutQueued(steered, id) : steered;
}

/** The streamed answer. These handlers run for every token: each copies only the path to the part that grows. */
const streamHandlers: SessionHandlers<
  'session/responsePart' | 'session/delta' | 'session/reasoning' | 'session/usage'
> = {
  'session/responsePart': (state, { turnId, part }) => withActiveTurn(state, turnId, (turn) => withPart(turn, part)),

  'session/delta': (state, action) => appended(state, 'markdown', action),

  'session/reasoning': (state, action) => appended(state, 'reasoning', action),

  'session/usage': (state, { turnId, usage }) =>
    withActiveTurn(state, turnId, (turn) => withTurnMembers(turn, { usage })),
};

interface Delta {
  readonly turnId: string;
  readonly partId: string;
  readonly content: string;
}

function appended(state: SessionState, kind: 'markdown' | 'reasoning', delta: Delta): SessionState {
  return withActiveTurn(state, delta.turnId, (turn) =>
    withFirstPart(turn, delta.partId, (part) =>
      part.kind !== kind || delta.content === '' ? part : { ...part, content: part.content + delta.content },
    ),
  );
}

/** Waiting messages: one that steers the running turn, and a queue for future turns. */
const pendingMessageHandlers: SessionHandlers<
  'session/pendingMessageSet' | 'session/pendingMessageRemoved' | 'session/queuedMessagesReordered'
> = {
  'session/pendingMessageSet': (state, { kind, id, userMessage }) => {
    const message = { id, userMessage };
    if (kind === 'steering') return { ...state, steeringMessage: message };
    return { ...state, queuedMessages: withQueued(state.queuedMessages ?? [], message) };
  },

  'session/pendingMessageRemoved': (state, { kind, id }) => {
    if (kind === 'steering') {
      return state.steeringMessage?.id === id ? { ...state, steeringMessage: undefined } : state;
    }
    return state.queuedMessages?.some((message) => message.id === id) ? withoutQueued(state, id) : state;
  },

  'session/queuedMessagesReordered': (state, { order }) =>
    state.queuedMessages ? withMembers(state, { queuedMessages: reordered(state.queuedMessages, order) }) : state,
};

function withQueued(queue: PendingMessage[], message: PendingMessage): PendingMessage[] {
  const index = queue.findIndex(({ id }) => id === message.id);
  return index < 0 ? [...queue, message] : withElement(queue, index, message);
}

/** Removes a message from the queue. An empty queue becomes absent. */
function withoutQueued(state: SessionState, id: string): SessionState {
  const left = state.queuedMessages?.filter((message) => message.id !== id);
  return { ...state, queuedMessages: left?.length ? left : undefined };
}

/** The named messages first, in the given order; unknown and repeated names are skipped, the rest keep their order. */
function reordered(queue: PendingMessage[], order: string[]): PendingMessage[] {
  const named = [...new Set(order)].flatMap((id) => queue.find((message) => message.id === id) ?? []);
  const rest = queue.filter((message) => !named.includes(message));
  const result = [...named, ...rest];
  return result.every((message, index) => message === queue[index]) ? queue : result;
}

/** Questions to people: asked, answered in drafts that all clients share, and closed. */
const inputHandlers: SessionHandlers<
  'session/inputRequested' | 'session/inputAnswerChanged' | 'session/inputCompleted'
> = {
  'session/inputRequested': (state, { request }, { now }) =>
    touchedUnread({ ...state, inputRequests: withRequest(state.inputRequests ?? [], request) }, now),

  'session/inputAnswerChanged': (state, { requestId, questionId, answer }, { now }) => {
    const requests = state.inputRequests ?? [];
    const index = requests.findIndex(({ id }) => id === requestId);
    const request = requests[index];
    if (!request) return state;
    const inputRequests = withElement(requests, index, {
      ...request,
      answers: withAnswer(request.answers ?? {}, questionId, answer),
    });
    return { ...state, inputRequests, summary: { ...state.summary, modifiedAt: now } };
  },

  'session/inputCompleted': (state, { requestId }, { now }) => {
    const open = state.inputRequests?.filter(({ id }) => id !== requestId);
    if (!open || open.length === state.inputRequests?.length) return state;
    return touched(open.length ? { ...state, inputRequests: open } : withoutMember(state, 'inputRequests'), now);
  },
};

/** A request with a known id replaces that request; drafts survive unless the new one has answers. */
function withRequest(requests: SessionInputRequest[], request: SessionInputRequest): SessionInputRequest[] {
  const index = requests.findIndex(({ id }) => id === request.id);
  if (index < 0) return [...requests, request];
  return withElement(requests, index, { ...request, answers: request.answers ?? requests[index]?.answers });
}

type Answers = Record<string, SessionInputAnswer>;

function withAnswer(answers: Answers, questionId: string, answer: SessionInputAnswer | undefined): Answers | undefined {
  if (answer) return { ...answers, [questionId]: answer };
  const rest = withoutMember(answers, questionId);
  return Object.keys(rest).length ? rest : undefined;
}

/** What the session list shows: title, model, agent, flags, activity, changes. */
const summaryHandlers: SessionHandlers<
  | 'session/titleChanged'
  | 'session/modelChanged'
  | 'session/agentChanged'
  | 'session/isReadChanged'
  | 'session/isArchivedChanged'
  | 'session/activityChanged'
  | 'session/changesetsChanged'
> = {
  'session/titleChanged': (state, { title }, { now }) => withSummary(state, { title, modifiedAt: now }),

  'session/modelChanged': (state, { model }, { now }) => withSummary(state, { model, modifiedAt: now }),

  'session/agentChanged': (state, { agent }, { now }) => withSummary(state, { agent, modifiedAt: now }),

  'session/isReadChanged': (state, { isRead }) =>
    withSummary(state, { status: withFlag(state.summary.status, SessionStatus.IsRead, isRead) }),

  'session/isArchivedChanged': (state, { isArchived }) =>
    withSummary(state, { status: withFlag(state.summary.status, SessionStatus.IsArchived, isArchived) }),

  'session/activityChanged': (state, { activity }) => withSummary(state, { activity }),

  'session/changesetsChanged': (state, { changesets }) =>
    changesets
      ? withSummary(state, { changesets })
      : withMembers(state, { summary: withoutMember(state.summary, 'changesets') }),
};

function withSummary(state: SessionState, members: Partial<SessionSummary>): SessionState {
  return withMembers(state, { summary: withMembers(state.summary, members) });
}

/** How the session is set up: configuration, metadata, tools, the active client. */
const settingHandlers: SessionHandlers<
  | 'session/configChanged'
  | 'session/metaChanged'
  | 'session/serverToolsChanged'
  | 'session/activeClientChanged'
  | 'session/activeClientToolsChanged'
> = {
  'session/configChanged': (state, action, { now }) => {
    if (!state.config) return state;
    return {
      ...state,
      config: withValues(state.config, action),
      summary: { ...state.summary, modifiedAt: now },
    };
  },

  'session/metaChanged': (state, { _meta }) => withMembers(state, { _meta }),

  'session/serverToolsChanged': (state, { tools }) => withMembers(state, { serverTools: tools }),

  'session/activeClientChanged': (state, { activeClient }) =>
    withMembers(state, { activeClient: activeClient ?? undefined }),

  'session/activeClientToolsChanged': (state, { tools }) =>
    state.activeClient ? withMembers(state, { activeClient: withMembers(state.activeClient, { tools }) }) : state,
};

/** The tree of customizations. Only top-level entries can be toggled or replaced; a child can be removed. */
const customizationHandlers: SessionHandlers<
  | 'session/customizationsChanged'
  | 'session/customizationToggled'
  | 'session/customizationUpdated'
  | 'session/customizationRemoved'
> = {
  'session/customizationsChanged': (state, { customizations }) => withMembers(state, { customizations }),

  'session/customizationToggled': (state, { id, enabled }) => {
    const list = state.customizations ?? [];
    const index = list.findIndex((entry) => entry.id === id);
    const entry = list[index];
    if (!entry) return state;
    return withMembers(state, { customizations: withElement(list, index, withMembers(entry, { enabled })) });
  },

  'session/customizationUpdated': (state, { customization }) => {
    const list = state.customizations ?? [];
    const index = list.findIndex((entry) => entry.id === customization.id);
    const customizations = index < 0 ? [...list, customization] : withElement(list, index, customization);
    return withMembers(state, { customizations });
  },

  'session/customizationRemoved': (state, { id }) => {
    if (!state.customizations) return state;
    return withMembers(state, { customizations: withoutEntry(state.customizations, id) });
  },
};

/**
 * Removes the top-level entry with this id, or else the children with this id. Returns the same list when there are
 * none.
 */
function withoutEntry(list: Customization[], id: string): Customization[] {
  const index = list.findIndex((entry) => entry.id === id);
  if (index >= 0) return list.toSpliced(index, 1);
  const changed = list.map((entry) => withoutChild(entry, id));
  return changed.every((entry, at) => entry === list[at]) ? list : changed;
}

function withoutChild(entry: Customization, id: string): Customization {
  const index = entry.children?.findIndex((child) => child.id === id) ?? -1;
  return index < 0 ? entry : { ...entry, children: entry.children?.toSpliced(index, 1) };
}

export const sessionReducer = reducerOf<SessionState, SessionActionMap>({
  ...turnHandlers,
  ...streamHandlers,
  ...toolCallHandlers,
  ...pendingMessageHandlers,
  ...inputHandlers,
  ...summaryHandlers,
  ...settingHandlers,
  ...customizationHandlers,
});
