/**
 * AHP 0.5.2: 0.6 with open questions in a list beside the turns, without times of turns, risk assessments and tool
 * calls that wait for a token.
 */
import { ACTIVITY_MASK, SessionStatus } from '../../session/status.js';
import { approval } from '../ahp-0.6/delta.js';
import { leaveOut, listOf, only, type Rewrite, type VersionDelta, withActivity } from '../upstream/delta.js';
import { isJson, type Json } from '../upstream/shapes.js';

const isOpenQuestion = ({ kind, response }: Json) => kind === 'inputRequest' && response === undefined;

const partsOf = (turn: unknown) => (isJson(turn) ? listOf(turn.responseParts) : []);

/** The open questions of the running turn become the list. */
function chatDown(chat: Json): Json {
  const parts = partsOf(chat.activeTurn);
  const inputRequests = parts.filter(isOpenQuestion).map(({ request }) => request);
  if (inputRequests.length > 0) {
    return { ...chat, inputRequests, status: withActivity(chat.status, SessionStatus.InputNeeded) };
  }
  return parts.some(isPending) ? chat : { ...chat, status: withoutWaiting(chat.status) };
}

const PENDING = ['pending-confirmation', 'pending-result-confirmation'];
const isPending = ({ toolCall }: Json) => isJson(toolCall) && PENDING.includes(String(toolCall.status));

/** 0.5.2 knows no calls that wait for a token, so a chat in which only these wait is in progress. */
function withoutWaiting(status: unknown): unknown {
  const waits = typeof status === 'number' && (status & ACTIVITY_MASK) === SessionStatus.InputNeeded;
  return waits ? withActivity(status, SessionStatus.InProgress) : status;
}

function chatUp({ inputRequests, ...chat }: Json): Json {
  const questions = listOf(inputRequests).map((request) => ({ kind: 'inputRequest', request }));
  const { activeTurn } = chat;
  if (!isJson(activeTurn) || questions.length === 0) return chat;
  return { ...chat, activeTurn: { ...activeTurn, responseParts: [...partsOf(activeTurn), ...questions] } };
}

function partDown(part: Json): Json | undefined {
  if (isOpenQuestion(part)) return undefined;
  return part.kind === 'systemNotification' ? leaveOut('_meta')(part) : part;
}

/** An open question is not a part here, but an entry of the list. */
function responsePartDown(action: Json): Json {
  const { part } = action;
  return isJson(part) && isOpenQuestion(part) ? { type: 'chat/inputRequested', request: part.request } : action;
}

const isForToken = ({ kind }: Json) => kind === 'toolAuthentication';

function sessionDown(session: Json): Json {
  const waiting = listOf(session.inputNeeded);
  if (!waiting.some(isForToken)) return session;
  const { inputNeeded: _all, ...rest } = session;
  const inputNeeded = waiting.filter((request) => !isForToken(request));
  return inputNeeded.length > 0 ? { ...rest, inputNeeded } : { ...rest, status: withoutWaiting(session.status) };
}

/** An entry that changes into one for a token is removed. */
function inputNeededDown(action: Json): Json {
  const { request } = action;
  return isJson(request) && isForToken(request) ? { type: 'session/inputNeededRemoved', id: request.id } : action;
}

function toolCallDown(call: Json): Json {
  const { auth: _token, riskAssessment: _risk, ...rest } = call;
  return call.status === 'auth-required' ? { ...rest, status: 'running' } : rest;
}

/** Here the action does not fit a call that is already pending: an approval is sent as such, an update is left out. */
const readyDown: Rewrite = (action, { around }) => {
  if (around?.before?.status !== 'pending-confirmation') return leaveOut('riskAssessment')(action);
  return action.confirmed === undefined ? undefined : approval(action);
};

/** A call that waited for a token is running here. The action gets what the upper version does with its result. */
const completeDown: Rewrite = (action, { around }) => {
  if (around?.before?.status !== 'auth-required') return action;
  const { requiresResultConfirmation: _never, result, ...rest } = action;
  if (around.after?.status !== 'completed' || !isJson(result)) return undefined;
  const { content } = around.after;
  return { ...rest, result: { ...result, ...(content !== undefined && { content }) } };
};

const withoutTimes = leaveOut('startedAt', 'duration');

export const ahp052: VersionDelta = {
  version: '0.5.2',
  lacks: { actions: ['chat/toolCallAuthRequired', 'chat/toolCallAuthResolved', 'changeset/filesReviewChanged'] },
  needsStates: ['chat/toolCallReady', 'chat/toolCallComplete'],
  down: {
    ChatState: chatDown,
    Turn: withoutTimes,
    ActiveTurn: withoutTimes,
    ResponsePart: partDown,
    ToolCall: toolCallDown,
    SessionState: sessionDown,
    'session/inputNeededSet': inputNeededDown,
    McpServerState: only('kind', ['authRequired'], leaveOut('oauthClient')),
    Changeset: leaveOut('capabilities'),
    'chat/turnStarted': withoutTimes,
    'chat/turnComplete': withoutTimes,
    'chat/turnCancelled': withoutTimes,
    'chat/error': withoutTimes,
    'chat/responsePart': responsePartDown,
    'chat/toolCallReady': readyDown,
    'chat/toolCallComplete': completeDown,
    'changeset/filesReviewChanged': ({ files, reviewed }) => ({
      type: 'changeset/filesReviewedChanged',
      fileIds: files,
      reviewed,
    }),
  },
  up: { ChatState: chatUp },
};
