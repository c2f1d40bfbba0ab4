/**
 * Which actions of clients a session accepts, and what follows from an accepted action. One rule for each type: it looks at the
 * state and says why not, in words for the person who asked. A type without a rule is always accepted. Nothing is done here:
 * the session acts on what these functions return.
 */
import type {
  Customization,
  PendingMessage,
  SessionActionMap,
  SessionActionType,
  SessionInputAnswer,
  SessionInputRequest,
  SessionState,
  StateAction,
  ToolCallState,
} from '@atrium/protocol';
import type { Step } from '../channels/channel.js';
import { badValue } from '../util/shape.js';
import {
  ANSWER_MAX_CHARACTERS,
  CHOICE_MAX_CHARACTERS,
  GIVEN_TITLE_MAX_CHARACTERS,
  PENDING_MESSAGES_MAX,
  PENDING_MESSAGES_MAX_CHARACTERS,
} from './limits.js';

/** Turns and waiting messages. */
export const turnRules: Rules = {
  'session/turnStarted': ({ turnId }, { state }) => {
    if (turnId === '') return 'a turn needs an id';
    if (state.lifecycle === 'creationFailed') return 'the session could not be created; dispose it and create another';
    if (state.activeTurn) return `turn ${state.activeTurn.id} is running: queue the message, or wait`;
    return undefined;
  },

  'session/turnCancelled': ({ turnId }, { state }) => {
    if (!state.activeTurn) return 'no turn is running';
    return state.activeTurn.id === turnId ? undefined : `turn ${turnId} is not the one that is running`;
  },

  'session/pendingMessageSet': ({ kind, id, userMessage }, { state }) => {
    const others = waiting(state).filter((message) => message.id !== id);
    if (kind === 'queued' && others.length >= PENDING_MESSAGES_MAX) return `${others.length} messages wait already`;
    const size = [{ id, userMessage }, ...others].reduce((sum, message) => sum + sizeOf(message), 0);
    return size > PENDING_MESSAGES_MAX_CHARACTERS ? 'too much waits already: let the agent read some of it' : undefined;
  },

  'session/titleChanged': ({ title }) =>
    title.length > GIVEN_TITLE_MAX_CHARACTERS ? `a title may have ${GIVEN_TITLE_MAX_CHARACTERS} characters` : undefined,

  'session/pendingMessageRemoved': ({ kind, id }, { state }) => {
    const those = kind === 'steering' ? [state.steeringMessage] : (state.queuedMessages ?? []);
    return those.some((message) => message?.id === id) ? undefined : `no ${kind} message ${id} is waiting`;
  },
};

function waiting({ steeringMessage, queuedMessages = [] }: SessionState): PendingMessage[] {
  return steeringMessage ? [steeringMessage, ...queuedMessages] : [...queuedMessages];
}

/** A message that waits stays the same object, so that each is measured once. */
const sizes = new WeakMap<PendingMessage, number>();

function sizeOf(message: PendingMessage): number {
  const size = sizes.get(message) ?? JSON.stringify(message).length;
  sizes.set(message, size);
  return size;
}

interface Target {
  readonly turnId: string;
  readonly toolCallId: string;
}

/** Tool calls: the first answer wins, and only its owner speaks for a client's tool. */
export const toolCallRules: Rules = {
  'session/toolCallConfirmed': (action, { state, clientId }) => {
    const call = findCall(state, action);
    // A client must deny a call of a tool that it does not know, and its calls run at once. The host then ends the call.
    if (call?.status === 'running' && call.toolClientId === clientId && !action.approved) return undefined;
    if (call?.status !== 'pending-confirmation') return notWaiting(action, call);
    if (action.approved && action.editedToolInput !== undefined && !call.editable) return 'its input cannot be edited';
    if (!action.selectedOptionId) return undefined;
    const option = call.options?.find(({ id }) => id === action.selectedOptionId);
    if (!option) return `there is no option ${action.selectedOptionId}`;
    const fits = option.kind === (action.approved ? 'approve' : 'deny');
    return fits ? undefined : `option ${option.id} means to ${option.kind}`;
  },

  'session/toolCallResultConfirmed': (action, { state }) => {
    const call = findCall(state, action);
    return call?.status === 'pending-result-confirmation' ? undefined : notWaiting(action, call);
  },

  'session/toolCallComplete': (action, facts) =>
    notOwner(action, facts) ?? notIn(action, facts, ['running', 'pending-confirmation']),

  'session/toolCallContentChanged': (action, facts) => notOwner(action, facts) ?? notIn(action, facts, ['running']),
};

/** A call of the running turn. */
export function findCall(state: SessionState, { turnId, toolCallId }: Target): ToolCallState | undefined {
  if (state.activeTurn?.id !== turnId) return undefined;
  for (const part of state.activeTurn.responseParts) {
    if (part.kind === 'toolCall' && part.toolCall.toolCallId === toolCallId) return part.toolCall;
  }
  return undefined;
}

function notWaiting({ toolCallId }: Target, call: ToolCallState | undefined): string {
  return call ? `call ${toolCallId} is ${call.status}: somebody answered already` : `no call ${toolCallId} is running`;
}

function notOwner(target: Target, { state, clientId }: Facts): string | undefined {
  const call = findCall(state, target);
  if (!call) return `no call ${target.toolCallId} is running`;
  if (call.toolClientId === undefined) return `call ${target.toolCallId} is run by the host`;
  return call.toolClientId === clientId ? undefined : `call ${target.toolCallId} belongs to another client`;
}

function notIn(target: Target, { state }: Facts, allowed: readonly string[]): string | undefined {
  const status = findCall(state, target)?.status ?? 'gone';
  return allowed.includes(status) ? undefined : `call ${target.toolCallId} is ${status}`;
}

/** Answers to questions. */
export const inputRules: Rules = {
  'session/inputAnswerChanged': ({ requestId, questionId, answer }, { state }) => {
    const request = find(state, requestId);
    if (!request) return `no question ${requestId} is open`;
    if (!request.questions?.some(({ id }) => id === questionId)) return `${requestId} does not ask ${questionId}`;
    const isTooLong = answer !== undefined && JSON.stringify(answer).length > ANSWER_MAX_CHARACTERS;
    return isTooLong ? `an answer may have ${ANSWER_MAX_CHARACTERS} characters as JSON` : undefined;
  },

  'session/inputCompleted': ({ requestId, response, answers }, { state }) => {
    const request = find(state, requestId);
    if (!request) return `no question ${requestId} is open: somebody answered already`;
    if (response !== 'accept') return undefined;
    const missing = unanswered(request, { ...request.answers, ...answers });
    return missing ? `question ${missing} needs an answer` : undefined;
  },
};

function find(state: SessionState, requestId: string): SessionInputRequest | undefined {
  return state.inputRequests?.find(({ id }) => id === requestId);
}

function unanswered(request: SessionInputRequest, answers: Record<string, SessionInputAnswer>): string | undefined {
  const open = request.questions?.find(({ id, required }) => required && answers[id]?.state !== 'submitted');
  return open?.id;
}

/** Configuration, customizations, history. */
export const configRules: Rules = {
  'session/configChanged': ({ config, replace }, { state }) => {
    if (!state.config) return 'this session has no configuration';
    const { schema, values } = state.config;
    for (const [key, value] of Object.entries(config)) {
      const property = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
      if (!property) return `there is no property ${key}`;
      if (!property.sessionMutable && value !== values[key]) return `${key} cannot be changed any more`;
      const bad = badValue(property, value);
      if (bad) return `${key} must be ${bad}`;
    }
    const dropped =
      replace && Object.keys(values).find((key) => !(key in config) && !schema.properties[key]?.sessionMutable);
    return dropped ? `${dropped} cannot be removed` : undefined;
  },

  'session/modelChanged': ({ model }) => tooLong('model', model),

  'session/agentChanged': ({ agent }, { state }) => {
    const problem = tooLong('agent', agent);
    if (problem) return problem;
    const holders = (state.customizations ?? []).filter(({ children }) =>
      children?.some((child) => child.type === 'agent' && child.uri === agent?.uri),
    );
    const isOff = holders.length > 0 && holders.every(({ enabled }) => !enabled);
    return isOff ? `this agent belongs to ${holders[0]?.name}, which is switched off` : undefined;
  },

  'session/customizationToggled': ({ id }, { state }) => {
    const known = state.customizations?.some(
      (entry) => entry.id === id || entry.children?.some((child) => child.id === id && child.type === 'mcpServer'),
    );
    return known ? undefined : `there is no customization ${id}`;
  },
};

/** What is chosen for a session stands in the list of all. */
export function tooLong(name: 'model' | 'agent', chosen: object | undefined): string | undefined {
  const isTooLong = chosen !== undefined && JSON.stringify(chosen).length > CHOICE_MAX_CHARACTERS;
  return isTooLong ? `${name} may have ${CHOICE_MAX_CHARACTERS} characters as JSON` : undefined;
}

/** The role of active client: one at a time, and nobody speaks for another. */
export const activeClientRules: Rules = {
  'session/activeClientChanged': ({ activeClient }, { state, clientId }) => {
    const holder = state.activeClient?.clientId;
    if (!activeClient) return holder === clientId ? undefined : 'only the active client can give the role up';
    if (activeClient.clientId !== clientId) return 'a client can claim the role only for itself';
    return holder === undefined || holder === clientId ? undefined : `${holder} is the active client`;
  },

  'session/activeClientToolsChanged': (_action, { state, clientId }) =>
    state.activeClient?.clientId === clientId ? undefined : 'only the active client can change its tools',
};

export interface Facts {
  readonly state: SessionState;
  /** Who asks. */
  readonly clientId: string;
}

/** Why not; undefined when the action may be taken. */
export type Rule<Action> = (action: Action, facts: Facts) => string | undefined;
export type Rules = { readonly [Type in SessionActionType]?: Rule<SessionActionMap[Type]> };

const rules: Rules = {
  ...turnRules,
  ...toolCallRules,
  ...inputRules,
  ...activeClientRules,
  ...configRules,
};

export function refusal(action: StateAction, facts: Facts): string | undefined {
  const rule = rules[action.type as SessionActionType] as Rule<StateAction> | undefined;
  return rule?.(action, facts);
}

/** Actions that wait until the running turn is over: a turn keeps the model it began with. */
export function mustWait(action: StateAction, state: SessionState): boolean {
  return (action.type === 'session/modelChanged' || action.type === 'session/agentChanged') && !!state.activeTurn;
}

/** What follows from an accepted action: decided here as data, done by the session. */
export type Reaction =
  /** Actions that were held back for the end of the turn are applied now. */
  | { readonly kind: 'release-deferred' }
  /** The first waiting message becomes the next turn. */
  | { readonly kind: 'start-queued'; readonly message: PendingMessage }
  /** The agent gets to work, once the turn is stored. */
  | { readonly kind: 'run-turn'; readonly turnId: string }
  /** The agent stops, once the end of the turn is stored. */
  | { readonly kind: 'stop-turn'; readonly turnId: string }
  /** The agent's own history is cut too. */
  | { readonly kind: 'truncate-agent'; readonly turnId: string | undefined }
  /** A customization is published anew, because something inside of it changed. */
  | { readonly kind: 'update-customization'; readonly customization: Customization }
  /** The state is archived with this tick. */
  | { readonly kind: 'archive' };

export function reactionsTo({ action, before, after }: Step<SessionState>): Reaction[] {
  const ended =
    before.activeTurn && before.activeTurn !== after.activeTurn && before.activeTurn.id !== after.activeTurn?.id;
  const reactions: Reaction[] = [];
  if (before.activeTurn && ended) reactions.push({ kind: 'stop-turn', turnId: before.activeTurn.id });
  if (ended || before.turns !== after.turns) reactions.push({ kind: 'archive' });
  if (action.type === 'session/truncated' && before !== after) {
    reactions.push({ kind: 'truncate-agent', turnId: action.turnId });
  }
  if (ended) reactions.push({ kind: 'release-deferred' });
  if (action.type === 'session/turnStarted') reactions.push({ kind: 'run-turn', turnId: action.turnId });
  const container = containerOfToggled(action, after);
  if (container) reactions.push({ kind: 'update-customization', customization: container });
  const next = nextQueued(action.type, after);
  if (next) reactions.push({ kind: 'start-queued', message: next });
  return reactions;
}

/** The queue moves when a turn completes, and when something joins it while the session is idle. */
function nextQueued(type: string, state: SessionState): PendingMessage | undefined {
  const moves = type === 'session/turnComplete' || type === 'session/pendingMessageSet' || type === 'session/ready';
  const idle = !state.activeTurn && state.lifecycle === 'ready';
  return moves && idle ? state.queuedMessages?.[0] : undefined;
}

/** Reducers toggle containers only. When the toggled one is a server inside, its container says so. */
function containerOfToggled(action: StateAction, { customizations }: SessionState): Customization | undefined {
  if (action.type !== 'session/customizationToggled') return undefined;
  const { id, enabled } = action;
  const container = customizations?.find(({ children }) => children?.some((child) => child.id === id));
  if (!container || customizations?.some((entry) => entry.id === id)) return undefined;
  const children = container.children?.map((child) => (child.id === id ? { ...child, enabled } : child));
  return { ...container, ...(children && { children }) };
}
