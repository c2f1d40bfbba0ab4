/**
 * Reference reducers of the older versions of AHP, for tests only: what clients of these versions do with the actions
 * that they get. Each is the reducer of the version above it with the actions that differ. They know nothing of the
 * dialects, so that the two can be held against each other.
 */
import { reducers } from '../../../../src/ahp-1/reducers.js';
import type { Json } from '../../../../src/dialects/upstream/shapes.js';

type Action = Json & { readonly type: string };
export type Reduce = (state: Json, action: Action) => Json;

/** The kinds of channels that older versions have. */
export type Kind = 'root' | 'session' | 'chat' | 'terminal' | 'changeset' | 'annotations';
export type Reducers = Readonly<Record<Kind, Reduce>>;

type Overrides = Readonly<Record<string, Reduce>>;

const nothing: Reduce = (state) => state;
const list = (value: unknown) => (value ?? []) as Json[];

/** The reducer with other handlers for some actions. */
function changed(reduce: Reduce, overrides: Overrides): Reduce {
  return (state, action) => (overrides[action.type] ?? reduce)(state, action);
}

const upper = reducers as unknown as Reducers;

// 0.9 has the reducers of 1.0. What it lacks never reaches it.
const reducers09: Reducers = upper;

/* 0.7 */

const waiting = (status: unknown, waits: boolean) => (waits ? (Number(status) & ~31) | 24 : Number(status) & ~16);

const reducers07: Reducers = {
  ...reducers09,
  chat: changed(reducers09.chat, {
    'chat/error': (state, { turnId, duration, error }) => {
      const ended = reducers09.chat(state, { type: 'chat/turnComplete', turnId, duration });
      if (ended === state) return state;
      const turns = list(ended.turns);
      const failed = { ...turns.at(-1), state: 'error', error };
      return { ...ended, turns: [...turns.slice(0, -1), failed], status: (Number(ended.status) & ~31) | 2 };
    },
  }),
  session: changed(reducers09.session, {
    'session/creationFailed': (state, { error }) => ({ ...state, lifecycle: 'creationFailed', creationError: error }),
    'session/customizationToggled': (state, { id, enabled }) => toggled(state, id, enabled, true),
    'session/inputNeededSet': (state, action) => raised(reducers09.session(state, action)),
    'session/inputNeededRemoved': (state, action) => {
      const left = reducers09.session(state, action);
      return left === state ? state : raised(left);
    },
  }),
  terminal: changed(reducers09.terminal, {
    'terminal/exited': (state, { exitCode }) => ({ ...state, exitCode }),
  }),
  annotations: changed(reducers09.annotations, {
    'annotations/updated': (state, { type: _type, annotationId, ...changes }) => ({
      ...state,
      annotations: list(state.annotations).map((each) => (each.id === annotationId ? { ...each, ...changes } : each)),
    }),
  }),
};

function raised(state: Json): Json {
  return { ...state, status: waiting(state.status, list(state.inputNeeded).length > 0) };
}

/** Top-level entries first, then, where a version looks there, the contents of containers. */
function toggled(state: Json, id: unknown, enabled: unknown, looksInside: boolean): Json {
  const entries = list(state.customizations);
  const flip = (entry: Json) => (entry.id === id ? { ...entry, enabled } : entry);
  const index = entries.findIndex((entry) => entry.id === id);
  if (index >= 0) return { ...state, customizations: entries.map((entry, at) => (at === index ? flip(entry) : entry)) };
  const holder = entries.findIndex(
    ({ type, children }) => type !== 'mcpServer' && list(children).some((c) => c.id === id),
  );
  if (holder < 0 || !looksInside) return state;
  return {
    ...state,
    customizations: entries.map((entry, at) =>
      at === holder ? { ...entry, children: list(entry.children).map(flip) } : entry,
    ),
  };
}

/* 0.6 */

function toolCallOf({ activeTurn }: Json, toolCallId: unknown): Json | undefined {
  const parts = list((activeTurn as Json | undefined)?.responseParts);
  return parts.find((part) => (part.toolCall as Json | undefined)?.toolCallId === toolCallId)?.toolCall as
    | Json
    | undefined;
}

function withCall(state: Json, toolCallId: unknown, change: (call: Json) => Json): Json {
  const activeTurn = state.activeTurn as Json;
  const responseParts = list(activeTurn.responseParts).map((part) => {
    const call = part.toolCall as Json | undefined;
    return call && call.toolCallId === toolCallId ? { ...part, toolCall: change(call) } : part;
  });
  return { ...state, activeTurn: { ...activeTurn, responseParts } };
}

const reducers06: Reducers = {
  ...reducers07,
  chat: changed(reducers07.chat, {
    'chat/workingDirectorySet': nothing,
    'chat/workingDirectoryRemoved': nothing,
    'chat/toolCallReady': (state, { contributor: _late, intention: _later, ...action }) => {
      const before = toolCallOf(state, action.toolCallId);
      const after = reducers07.chat(state, action as Action);
      if (before?.status !== 'pending-confirmation' || !action.confirmed) return after;
      return withCall(after, action.toolCallId, ({ toolInput: _kept, ...call }) => ({
        ...call,
        ...(action.toolInput !== undefined && { toolInput: action.toolInput }),
      }));
    },
  }),
  session: changed(reducers07.session, {
    'session/workingDirectorySet': nothing,
    'session/workingDirectoryRemoved': nothing,
  }),
};

/* 0.5.2 */

/** The times that the reducer of 1.0 writes although the actions had none. */
function timeless(state: Json): Json {
  const strip = ({ startedAt: _started, duration: _took, ...turn }: Json) => turn;
  return {
    ...state,
    turns: list(state.turns).map(strip),
    ...(state.activeTurn !== undefined && { activeTurn: strip(state.activeTurn as Json) }),
  };
}

function withRequests(state: Json, requests: readonly Json[]): Json {
  const { inputRequests: _before, ...rest } = state;
  const asks = requests.length > 0;
  const open = asks ? { ...rest, inputRequests: requests } : rest;
  if (asks) return { ...open, status: waiting(state.status, true) };
  // Any refresh of the status shows what else waits.
  const calls = list((state.activeTurn as Json | undefined)?.responseParts).map(({ toolCall }) => toolCall as Json);
  const waits = calls.some((call) => String(call?.status).startsWith('pending-'));
  const activity = waits ? 24 : state.activeTurn ? 8 : 1;
  return { ...open, status: (Number(state.status) & ~31) | activity };
}

const reduceTurns: Reduce = (state, action) => {
  const after = timeless(reducers06.chat(state, action));
  return list(after.inputRequests).length > 0 ? { ...after, status: waiting(after.status, true) } : after;
};

/** Ending a turn and cutting the history drop the open questions. */
const endsQuestions: Reduce = (state, action) => {
  const after = timeless(reducers06.chat(state, action));
  const ended = state.activeTurn !== undefined && after.activeTurn === undefined;
  const { inputRequests: _dropped, ...rest } = after;
  return ended ? rest : reduceTurns(state, action);
};

const chat05 = (keepsAnswers: boolean): Reduce =>
  changed(reduceTurns, {
    'chat/turnComplete': endsQuestions,
    'chat/turnCancelled': endsQuestions,
    'chat/error': endsQuestions,
    'chat/truncated': endsQuestions,
    'chat/toolCallAuthRequired': nothing,
    'chat/toolCallAuthResolved': nothing,
    'chat/toolCallReady': (state, action) =>
      toolCallOf(state, action.toolCallId)?.status === 'pending-confirmation' ? state : reduceTurns(state, action),
    'chat/inputRequested': (state, { request }) => {
      const asked = request as Json;
      const requests = list(state.inputRequests);
      const known = requests.find(({ id }) => id === asked.id);
      const next = {
        ...asked,
        ...(asked.answers === undefined && known?.answers !== undefined && { answers: known.answers }),
      };
      const after = withRequests(
        state,
        known ? requests.map((each) => (each === known ? next : each)) : [...requests, next],
      );
      return { ...after, status: Number(after.status) & ~32 };
    },
    'chat/inputAnswerChanged': (state, { requestId, questionId, answer }) =>
      withRequests(
        state,
        list(state.inputRequests).map((request) => {
          if (request.id !== requestId) return request;
          const { answers, ...rest } = request;
          const { [String(questionId)]: _old, ...others } = (answers ?? {}) as Json;
          const left = answer === undefined ? others : { ...others, [String(questionId)]: answer };
          return Object.keys(left).length > 0 ? { ...rest, answers: left } : rest;
        }),
      ),
    'chat/inputCompleted': (state, { requestId, response, answers }) => {
      const requests = list(state.inputRequests);
      const known = requests.find(({ id }) => id === requestId);
      if (!known) return state;
      const merged = { ...(known.answers as Json | undefined), ...(answers as Json | undefined) };
      const { answers: _drafts, ...asked } = known;
      const request = Object.keys(merged).length > 0 ? { ...asked, answers: merged } : asked;
      const activeTurn = state.activeTurn as Json | undefined;
      const part = { kind: 'inputRequest', request, response };
      const told =
        keepsAnswers && activeTurn
          ? { ...state, activeTurn: { ...activeTurn, responseParts: [...list(activeTurn.responseParts), part] } }
          : state;
      return withRequests(
        told,
        requests.filter((each) => each !== known),
      );
    },
  });

const reducers052: Reducers = {
  ...reducers06,
  chat: chat05(true),
  changeset: changed(reducers06.changeset, {
    'changeset/filesReviewChanged': nothing,
    'changeset/filesReviewedChanged': (state, { fileIds, reviewed }) =>
      reducers06.changeset(state, { type: 'changeset/filesReviewChanged', files: fileIds, reviewed }),
  }),
};

/* 0.5.1 and 0.5.0 */

const reducers051: Reducers = {
  ...reducers052,
  chat: chat05(false),
  session: changed(reducers052.session, {
    'session/mcpServerStartRequested': nothing,
    'session/mcpServerStopRequested': nothing,
    'session/customizationToggled': (state, { id, enabled }) => toggled(state, id, enabled, false),
  }),
  changeset: changed(reducers052.changeset, { 'changeset/filesReviewedChanged': nothing }),
};

const reducers050: Reducers = {
  ...reducers051,
  chat: changed(reducers051.chat, { 'chat/turnsLoaded': nothing }),
  session: changed(reducers051.session, {
    'session/inputNeededSet': nothing,
    'session/inputNeededRemoved': nothing,
  }),
};

export const OLDER_REDUCERS: Readonly<Record<string, Reducers>> = {
  '0.9.0': reducers09,
  '0.7.0': reducers07,
  '0.6.0': reducers06,
  '0.5.2': reducers052,
  '0.5.1': reducers051,
  '0.5.0': reducers050,
};
