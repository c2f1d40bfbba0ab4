/**
 * What a channel did in one tick, as actions of this wire. All actions made from one internal action carry its number.
 * The whole tick is seen at once, because a refusal by the host must be known before its question is sent.
 */
import type { ActionMap, ActionType } from '../../actions.js';
import { findPart } from '../../parts.js';
import type { ToolCallState } from '../../session/tool-calls.js';
import type { ResponsePart } from '../../session/turns.js';
import type { ChannelMemory, Step } from '../dialect-0.3.js';
import { messageToWire, usageToWire } from './messages.js';
import { agentToWire, structuredPartToWire } from './state.js';
import {
  confirmationId,
  denialToWire,
  findToolCall,
  isPending,
  isShown,
  type PendingToolCall,
  permissionRequest,
  remember,
  resultId,
  resultToWire,
  toolCallToWire,
} from './tool-calls.js';
import { sessionToWire } from './uris.js';
import type { SessionsV1Action, SessionsV1ActionEnvelope, SessionsV1ToolCallResult } from './wire.js';

interface SessionsV1Steps {
  readonly memory: ChannelMemory;
  readonly frames: readonly SessionsV1ActionEnvelope[];
  readonly close?: string;
}

const TRUNCATED = 'The history was cut, which version 1 cannot express: reconnect for a snapshot.';

/**
 * Translates `steps` of one channel, in order. After a truncation nothing more is sent, but the memory still follows.
 */
export function translateSteps(memory: ChannelMemory, steps: readonly Step[]): SessionsV1Steps {
  const accepted = acceptedSteps(steps);
  const frames: SessionsV1ActionEnvelope[] = [];
  let current = memory;
  let close: string | undefined;
  accepted.forEach((step, index) => {
    current = remember(current, step);
    close ??= isCut(step) ? TRUNCATED : undefined;
    if (close !== undefined) return;
    frames.push(...envelopes(step, bodiesOf({ ...step, memory: current }, accepted[index - 1], accepted[index + 1])));
  });
  return close === undefined ? { memory: current, frames } : { memory: current, frames, close };
}

/** A rejection goes to one client only and changes nothing. */
export function acceptedSteps(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ envelope }) => envelope.rejectionReason === undefined);
}

function isCut({ envelope, before, after }: Step): boolean {
  return envelope.action.type === 'session/truncated' && before !== after;
}

function bodiesOf(
  step: StepContext,
  previous: Step | undefined,
  next: Step | undefined,
): readonly SessionsV1ActionBody[] {
  const { action } = step.envelope;
  if (isRefusedAtOnce(step, next)) return refusedCallAppears(step);
  const isRefusal = previous !== undefined && isRefusedAtOnce(previous, step);
  return isRefusal && action.type === 'session/toolCallConfirmed' ? callRefused(action) : actionToWire(step);
}

/** Whether the host itself asks in `step` and refuses in `next`: clients need not see such a question. */
function isRefusedAtOnce(step: Step, next: Step | undefined): boolean {
  const asked = step.envelope.action;
  const answer = next?.envelope.action;
  if (asked.type !== 'session/toolCallReady' || answer?.type !== 'session/toolCallConfirmed') return false;
  if (answer.approved || step.envelope.origin || next?.envelope.origin) return false;
  if (asked.toolCallId !== answer.toolCallId || asked.turnId !== answer.turnId) return false;
  const { was, is } = callAround(step, asked);
  return !isPending(was) && isPending(is);
}

function envelopes(
  { envelope, before, after }: Step,
  bodies: readonly SessionsV1ActionBody[],
): SessionsV1ActionEnvelope[] {
  const { action, channel, serverSeq, origin } = envelope;
  const session = sessionToWire(channel, (after ?? before)?.summary.provider);
  const echo = echoIndex(action.type, bodies);
  return bodies.map((body, index) => {
    const named = withSession(body, session);
    return origin && index === echo ? { action: named, serverSeq, origin } : { action: named, serverSeq };
  });
}

/** Adds the session; root actions name none. */
function withSession(body: SessionsV1ActionBody, session: string): SessionsV1Action {
  return body.type === 'root/agentsChanged' ? body : ({ ...body, session } as SessionsV1Action);
}

type WithoutSession<Action> = Action extends unknown ? Omit<Action, 'session'> : never;

/** A sessions-v1 action without the name of its session. */
type SessionsV1ActionBody = WithoutSession<SessionsV1Action>;

/** A step of a channel, with the memory after it. */
interface StepContext extends Step {
  readonly memory: ChannelMemory;
}

type Translator<Type extends ActionType> = (
  action: ActionMap[Type],
  step: StepContext,
) => readonly SessionsV1ActionBody[];

type Translators<Types extends ActionType> = { readonly [Type in Types]: Translator<Type> };

/**
 * True when an action touches the turn that it names. Otherwise it had no effect, but the client that dispatched it
 * must still see it come back.
 */
function concernsTurn({ envelope, before }: StepContext, turnId: string): boolean {
  return before?.activeTurn?.id === turnId || envelope.origin !== undefined;
}

// Streamed content: this wire appends to one text and one reasoning, and lists only other parts.

const textTranslators: Translators<'session/delta' | 'session/reasoning' | 'session/responsePart'> = {
  'session/delta': (action, step) => appended(action, 'markdown', step),
  'session/reasoning': (action, step) => appended(action, 'reasoning', step),
  'session/responsePart': ({ turnId, part }, step) =>
    concernsTurn(step, turnId) ? partAppears(turnId, part, step) : [],
};

type TextAction = ActionMap['session/delta'] | ActionMap['session/reasoning'];

/**
 * Sessions-v1 has no part ids: its clients append every text, so text without effect must not be sent. Text for an
 * earlier part appears after the later ones until the next snapshot.
 */
function appended({ type, turnId, partId, content }: TextAction, kind: ResponsePart['kind'], { before }: StepContext) {
  const turn = before?.activeTurn;
  return turn?.id === turnId && findPart(turn, partId)?.kind === kind ? [{ type, turnId, content }] : [];
}

function partAppears(turnId: string, part: ResponsePart, step: StepContext): readonly SessionsV1ActionBody[] {
  if (part.kind === 'toolCall') return toolCallAppears(turnId, part.toolCall, step.memory);
  if (part.kind === 'markdown') return textAppears({ type: 'session/delta', turnId, content: part.content });
  if (part.kind === 'reasoning') return textAppears({ type: 'session/reasoning', turnId, content: part.content });
  return structuredPartToWire(part).map((shown) => ({ type: 'session/responsePart', turnId, part: shown }));
}

function textAppears<Body extends SessionsV1ActionBody & { readonly content: string }>(body: Body): readonly Body[] {
  return body.content === '' ? [] : [body];
}

// Tool calls. What is sent follows from the call before and after the step: an action without effect sends nothing.

type ToolCallActionType =
  | 'session/toolCallReady'
  | 'session/toolCallConfirmed'
  | 'session/toolCallComplete'
  | 'session/toolCallResultConfirmed';

const toolCallTranslators: Translators<ToolCallActionType> = {
  'session/toolCallReady': ready,
  'session/toolCallConfirmed': confirmed,
  'session/toolCallComplete': completed,
  'session/toolCallResultConfirmed': resultConfirmed,
};

/** A call that sessions-v1 has not shown yet. It shows no calls while the parameters are streamed. */
function toolCallAppears(turnId: string, call: ToolCallState, memory: ChannelMemory): readonly SessionsV1ActionBody[] {
  if (!isShown(call)) return [];
  const start: SessionsV1ActionBody = { type: 'session/toolStart', turnId, toolCall: toolCallToWire(call) };
  return isPending(call) ? [start, asks(turnId, call, memory)] : [start];
}

/** A call that the host refused without asking a person: shown as started, if it is new, and then as failed. */
function refusedCallAppears(step: StepContext): readonly SessionsV1ActionBody[] {
  const { action } = step.envelope;
  if (action.type !== 'session/toolCallReady') return [];
  const { was, is } = callAround(step, action);
  if (was?.status !== 'streaming' || !isShown(is)) return [];
  return [{ type: 'session/toolStart', turnId: action.turnId, toolCall: { ...toolCallToWire(is), status: 'running' } }];
}

function callRefused(action: ActionMap['session/toolCallConfirmed']): readonly SessionsV1ActionBody[] {
  const { turnId, toolCallId } = action;
  const message = 'Denied';
  const unexplained = { success: false, pastTenseMessage: message, error: { code: 'denied', message } };
  return [{ type: 'session/toolComplete', turnId, toolCallId, result: denialIn(action) ?? unexplained }];
}

function denialIn(action: ActionMap['session/toolCallConfirmed']): SessionsV1ToolCallResult | undefined {
  return action.approved || action.reason !== 'denied' ? undefined : denialToWire(action.reasonMessage);
}

/** The call that an action is about, before and after it. */
function callAround({ before, after }: Step, { turnId, toolCallId }: ToolCallTarget): CallAround {
  const find = (state: Step['before']) =>
    state?.activeTurn?.id === turnId ? findToolCall(state.activeTurn, toolCallId) : undefined;
  return { was: find(before), is: find(after) };
}

interface ToolCallTarget {
  readonly turnId: string;
  readonly toolCallId: string;
}

interface CallAround {
  readonly was: ToolCallState | undefined;
  readonly is: ToolCallState | undefined;
}

function ready(action: ActionMap['session/toolCallReady'], step: StepContext): readonly SessionsV1ActionBody[] {
  const { was, is } = callAround(step, action);
  if (was?.status === 'streaming' && is) return toolCallAppears(action.turnId, is, step.memory);
  return was?.status === 'running' && isPending(is) ? [asks(action.turnId, is, step.memory)] : [];
}

function confirmed(action: ActionMap['session/toolCallConfirmed'], step: StepContext): readonly SessionsV1ActionBody[] {
  const { was } = callAround(step, action);
  const { turnId, toolCallId, approved } = action;
  const isOpen = was?.status === 'pending-confirmation';
  if (!isOpen && step.envelope.origin === undefined) return [];
  const answer = resolved(turnId, confirmationId(step.memory, turnId, toolCallId), approved);
  const denial = isOpen ? denialIn(action) : undefined;
  return denial ? [answer, { type: 'session/toolComplete', turnId, toolCallId, result: denial }] : [answer];
}

function completed(action: ActionMap['session/toolCallComplete'], step: StepContext): readonly SessionsV1ActionBody[] {
  const { was, is } = callAround(step, action);
  const { turnId, toolCallId } = action;
  if (was?.status !== 'running' && was?.status !== 'pending-confirmation') return [];
  const open = was.status === 'pending-confirmation';
  const settled = open ? [resolved(turnId, confirmationId(step.memory, turnId, toolCallId), true)] : [];
  return [...settled, ...(isPending(is) ? [asks(turnId, is, step.memory)] : ends(turnId, is))];
}

function resultConfirmed(
  action: ActionMap['session/toolCallResultConfirmed'],
  step: StepContext,
): readonly SessionsV1ActionBody[] {
  const { was, is } = callAround(step, action);
  const { turnId, toolCallId, approved } = action;
  const settles = was?.status === 'pending-result-confirmation';
  if (!settles && step.envelope.origin === undefined) return [];
  return [resolved(turnId, resultId(toolCallId), approved), ...(settles ? ends(turnId, is) : [])];
}

function asks(turnId: string, call: PendingToolCall, memory: ChannelMemory): SessionsV1ActionBody {
  return { type: 'session/permissionRequest', turnId, request: permissionRequest(memory, turnId, call) };
}

function resolved(turnId: string, requestId: string, approved: boolean): SessionsV1ActionBody {
  return { type: 'session/permissionResolved', turnId, requestId, approved };
}

/** Only a call with a result ends by an action; a refused result has already ended with the answer. */
function ends(turnId: string, call: ToolCallState | undefined): readonly SessionsV1ActionBody[] {
  if (call?.status !== 'completed') return [];
  return [{ type: 'session/toolComplete', turnId, toolCallId: call.toolCallId, result: resultToWire(call) }];
}

// The table of all actions

const translators = {
  'root/agentsChanged': ({ type, agents }) => [{ type, agents: agents.map(agentToWire) }],
  'session/ready': ({ type }) => [{ type }],
  'session/creationFailed': ({ type, error }) => [{ type, error }],
  'session/titleChanged': ({ type, title }) => [{ type, title }],
  'session/modelChanged': ({ type, model }) => [{ type, model: model.id }],
  'session/turnStarted': ({ type, turnId, userMessage }) => [{ type, turnId, userMessage: messageToWire(userMessage) }],
  'session/turnComplete': ({ type, turnId }, step) => (concernsTurn(step, turnId) ? [{ type, turnId }] : []),
  'session/turnCancelled': ({ type, turnId }, step) => (concernsTurn(step, turnId) ? [{ type, turnId }] : []),
  'session/error': ({ type, turnId, error }, step) => (concernsTurn(step, turnId) ? [{ type, turnId, error }] : []),
  'session/usage': ({ type, turnId, usage }, step) =>
    concernsTurn(step, turnId) ? [{ type, turnId, usage: usageToWire(usage) }] : [],
  ...textTranslators,
  ...toolCallTranslators,
} satisfies Partial<Translators<ActionType>>;

/**
 * Actions that sessions-v1 cannot express. Together the two tables are exhaustive: a new action does not compile until
 * its author decides what an old client gets.
 */
const OMITTED_ACTIONS: { readonly [Type in Exclude<ActionType, keyof typeof translators>]: true } = {
  'root/activeSessionsChanged': true,
  'root/terminalsChanged': true,
  'root/configChanged': true,
  'session/toolCallStart': true,
  'session/toolCallDelta': true,
  'session/toolCallContentChanged': true,
  'session/agentChanged': true,
  'session/serverToolsChanged': true,
  'session/activeClientChanged': true,
  'session/activeClientToolsChanged': true,
  'session/pendingMessageSet': true,
  'session/pendingMessageRemoved': true,
  'session/queuedMessagesReordered': true,
  'session/inputRequested': true,
  'session/inputAnswerChanged': true,
  'session/inputCompleted': true,
  'session/customizationsChanged': true,
  'session/customizationToggled': true,
  'session/customizationUpdated': true,
  'session/customizationRemoved': true,
  'session/truncated': true,
  'session/isReadChanged': true,
  'session/isArchivedChanged': true,
  'session/activityChanged': true,
  'session/changesetsChanged': true,
  'session/configChanged': true,
  'session/metaChanged': true,
  'changeset/statusChanged': true,
  'changeset/fileSet': true,
  'changeset/fileRemoved': true,
  'changeset/operationsChanged': true,
  'changeset/cleared': true,
  'terminal/data': true,
  'terminal/input': true,
  'terminal/resized': true,
  'terminal/claimed': true,
  'terminal/titleChanged': true,
  'terminal/cwdChanged': true,
  'terminal/exited': true,
  'terminal/cleared': true,
  'terminal/commandDetectionAvailable': true,
  'terminal/commandExecuted': true,
  'terminal/commandFinished': true,
  'resourceWatch/changed': true,
};

/** A sessions-v1 client dispatches the answer to a question; that action carries the origin, not those that follow. */
const ECHOED_AS: Partial<Record<ActionType, SessionsV1Action['type']>> = {
  'session/toolCallConfirmed': 'session/permissionResolved',
  'session/toolCallResultConfirmed': 'session/permissionResolved',
};

function actionToWire(step: StepContext): readonly SessionsV1ActionBody[] {
  const { action } = step.envelope;
  if (Object.hasOwn(OMITTED_ACTIONS, action.type) || !Object.hasOwn(translators, action.type)) return [];
  const translate = (translators as Partial<Translators<ActionType>>)[action.type] as Translator<ActionType>;
  return translate(action, step);
}

/** Which of several actions represents the dispatched one, and so carries its origin. */
function echoIndex(type: ActionType, bodies: readonly SessionsV1ActionBody[]): number {
  const echo = bodies.findIndex((body) => body.type === ECHOED_AS[type]);
  return echo < 0 ? bodies.length - 1 : echo;
}
