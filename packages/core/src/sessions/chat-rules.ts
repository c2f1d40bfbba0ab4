/**
 * Which actions of clients a chat accepts, and what follows from an accepted one. There is one rule per type: it looks
 * at the state and says why an action is refused, in words for the person who asked. Types without a rule are always
 * accepted. Nothing is done here: the chat acts on what these functions return.
 */
import {
  type AgentInfo,
  type ChatAction,
  type ChatActionMap,
  type ChatActionType,
  type ChatInputAnswer,
  type ChatInputRequest,
  type ChatState,
  findCall as callOf,
  type Message,
  openParts,
  type PendingMessage,
  type SessionState,
  type StateAction,
  type ToolCallState,
} from '@atrium/protocol/ahp-1';
import type { Step } from '../channels/channel.js';
import { standingRequest } from './input-needed.js';
import {
  ANSWER_MAX_CHARACTERS,
  ANSWERS_MAX_CHARACTERS,
  DRAFT_MAX_CHARACTERS,
  PENDING_MESSAGES_MAX,
  PENDING_MESSAGES_MAX_CHARACTERS,
} from './limits.js';
import { oneFolder, switchedOff } from './session-rules.js';

export interface ChatFacts {
  readonly state: ChatState;
  readonly session: SessionState;
  /** The client that dispatched the action. */
  readonly clientId: string;
  /** The chat's agent, as the host lists it. */
  readonly agent?: AgentInfo | undefined;
  /** True when the agent can resume a turn in the middle. */
  readonly canResume?: boolean;
}

const NOT_CREATED = 'the session could not be created; dispose it and create another';

/** Says why an action is refused; undefined when it is accepted. */
type Rule<Action> = (action: Action, facts: ChatFacts) => string | undefined;
type Rules = { readonly [Type in ChatActionType]?: Rule<ChatActionMap[Type]> };

/** Rules for turns and waiting messages. */
const turnRules: Rules = {
  'chat/turnStarted': ({ turnId, message }, facts) => {
    const { state, session } = facts;
    if (turnId === '') return 'a turn needs an id';
    if (session.lifecycle === 'failed') return NOT_CREATED;
    if (state.activeTurn) return `turn ${state.activeTurn.id} is running: queue the message, or wait`;
    return notWritable(message, facts) ?? switchedOff(message.agent?.uri, session);
  },

  'chat/turnCancelled': ({ turnId }, { state }) => {
    if (!state.activeTurn) return 'no turn is running';
    return state.activeTurn.id === turnId ? undefined : `turn ${turnId} is not the one that is running`;
  },

  'chat/turnResume': ({ turnId }, { state, session, canResume }) => {
    if (session.lifecycle === 'failed') return NOT_CREATED;
    if (state.activeTurn) return `turn ${state.activeTurn.id} is running`;
    const closed = notOpen(state);
    if (closed !== undefined) return closed;
    const last = state.turns.at(-1);
    if (last?.id !== turnId) return `turn ${turnId} is not the last one`;
    const part = last.responseParts.at(-1);
    const isResumable = canResume && last.state === 'error' && part?.kind === 'error' && part.resumable === true;
    return isResumable ? undefined : `turn ${turnId} cannot be resumed: send a message instead`;
  },

  'chat/pendingMessageSet': ({ kind, id, message }, facts) => {
    const others = waiting(facts.state).filter((other) => other.id !== id);
    if (kind === 'queued' && others.length >= PENDING_MESSAGES_MAX)
      return `${others.length} messages are waiting already`;
    const size = [{ id, message }, ...others].reduce((sum, other) => sum + sizeOf(other), 0);
    if (size > PENDING_MESSAGES_MAX_CHARACTERS) return 'too much is waiting already: let the agent read some of it';
    return notWritable(message, facts) ?? switchedOff(message.agent?.uri, facts.session);
  },

  'chat/pendingMessageRemoved': ({ kind, id }, { state }) => {
    const those = kind === 'steering' ? [state.steeringMessage] : (state.queuedMessages ?? []);
    return those.some((message) => message?.id === id) ? undefined : `no ${kind} message ${id} is waiting`;
  },

  'chat/truncated': (_action, { state }) => notOpen(state),

  'chat/draftChanged': ({ draft }, facts) => {
    if (!draft) return undefined;
    const isTooLong = JSON.stringify(draft).length > DRAFT_MAX_CHARACTERS;
    return isTooLong
      ? 'the draft is too long to be shared: attach large contents when you send it'
      : notWritable(draft, facts);
  },
};

/** Refuses messages that do not come from a person, and messages to a chat that people may not write to. */
function notWritable({ origin }: Message, { state }: ChatFacts): string | undefined {
  if (origin.kind !== 'user') return `a client can only send messages of origin user, not ${origin.kind}`;
  return notOpen(state);
}

function notOpen({ interactivity = 'full' }: ChatState): string | undefined {
  return interactivity === 'full' ? undefined : `this chat is ${interactivity}`;
}

function waiting({ steeringMessage, queuedMessages = [] }: ChatState): PendingMessage[] {
  return steeringMessage ? [steeringMessage, ...queuedMessages] : [...queuedMessages];
}

/** Sizes of waiting messages. Each stays the same object, so it is measured once. */
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

/** Rules for tool calls: the first answer wins, and only the owner of a client's tool reports on its calls. */
const toolCallRules: Rules = {
  'chat/toolCallConfirmed': (action, { state, clientId }) => {
    const call = findCall(state, action);
    // A client must deny a call of a tool that it does not know, even though its calls run at once. The host then ends
    // the call.
    if (call?.status === 'running' && sessionUriOf(call) === clientId && !action.approved) return undefined;
    if (call?.status !== 'pending-confirmation') return notWaiting(action, call);
    if (action.approved && action.editedToolInput !== undefined && !call.editable) return 'its input cannot be edited';
    if (!action.selectedOptionId) return undefined;
    const option = call.options?.find(({ id }) => id === action.selectedOptionId);
    if (!option) return `there is no option ${action.selectedOptionId}`;
    const fits = option.kind === (action.approved ? 'approve' : 'deny');
    return fits ? undefined : `option ${option.id} means to ${option.kind}`;
  },

  'chat/toolCallResultConfirmed': (action, { state }) => {
    const call = findCall(state, action);
    return call?.status === 'pending-result-confirmation' ? undefined : notWaiting(action, call);
  },

  'chat/toolCallComplete': (action, facts) =>
    notOwner(action, facts) ?? notIn(action, facts, ['running', 'pending-confirmation']),

  'chat/toolCallContentChanged': (action, facts) => notOwner(action, facts) ?? notIn(action, facts, ['running']),
};

/** The client whose tool a call uses. */
export function sessionUriOf({ contributor }: Pick<ToolCallState, 'contributor'>): string | undefined {
  return contributor?.kind === 'client' ? contributor.clientId : undefined;
}

/** Finds a call of the running turn. */
export function findCall({ activeTurn }: ChatState, { turnId, toolCallId }: Target): ToolCallState | undefined {
  return activeTurn?.id === turnId ? callOf(activeTurn, toolCallId) : undefined;
}

function notWaiting({ toolCallId }: Target, call: ToolCallState | undefined): string {
  return call ? `call ${toolCallId} is ${call.status}: somebody answered already` : `no call ${toolCallId} is running`;
}

function notOwner(target: Target, { state, clientId }: ChatFacts): string | undefined {
  const call = findCall(state, target);
  if (!call) return `no call ${target.toolCallId} is running`;
  const owner = sessionUriOf(call);
  if (owner === undefined) return `call ${target.toolCallId} is run by the host`;
  return owner === clientId ? undefined : `call ${target.toolCallId} belongs to another client`;
}

function notIn(target: Target, { state }: ChatFacts, allowed: readonly string[]): string | undefined {
  const status = findCall(state, target)?.status ?? 'gone';
  return allowed.includes(status) ? undefined : `call ${target.toolCallId} is ${status}`;
}

/** Rules for answers to questions. */
const inputRules: Rules = {
  'chat/inputAnswerChanged': ({ requestId, questionId, answer }, facts) => {
    const request = openRequest(facts, requestId);
    if (!request) return `no question ${requestId} is open`;
    if (!request.questions?.some(({ id }) => id === questionId)) return `${requestId} does not ask ${questionId}`;
    const isTooLong = answer !== undefined && JSON.stringify(answer).length > ANSWER_MAX_CHARACTERS;
    return isTooLong ? `an answer may have at most ${ANSWER_MAX_CHARACTERS} characters as JSON` : undefined;
  },

  'chat/inputCompleted': ({ requestId, response, answers }, facts) => {
    const request = openRequest(facts, requestId);
    if (!request) return `no question ${requestId} is open: somebody answered already`;
    if (answers && JSON.stringify(answers).length > ANSWERS_MAX_CHARACTERS)
      return `all answers together may have at most ${ANSWERS_MAX_CHARACTERS} characters as JSON`;
    if (response !== 'accept') return undefined;
    const missing = unanswered(request, { ...request.answers, ...answers });
    return missing ? `question ${missing} needs an answer` : undefined;
  },
};

function openRequest({ state, session }: ChatFacts, requestId: string): ChatInputRequest | undefined {
  return openRequestIn(state, requestId) ?? standingRequest(session, requestId, state.resource);
}

/** Finds a question of the running turn that still waits for its answer. */
export function openRequestIn({ activeTurn }: ChatState, requestId: string): ChatInputRequest | undefined {
  for (const part of activeTurn ? openParts(activeTurn) : []) {
    if (part.kind === 'inputRequest' && part.request.id === requestId) return part.request;
  }
  return undefined;
}

function unanswered(request: ChatInputRequest, answers: Record<string, ChatInputAnswer>): string | undefined {
  const open = request.questions?.find(({ id, required }) => required && answers[id]?.state !== 'submitted');
  return open?.id;
}

/** Rules for folders: a chat works in some of its session's folders. */
const folderRules: Rules = {
  'chat/workingDirectorySet': ({ directory }, facts) => {
    const isKnown = facts.session.workingDirectories?.includes(directory);
    return oneFolder(facts) ?? (isKnown ? undefined : `${directory} is not a folder of this session`);
  },

  'chat/workingDirectoryRemoved': (_action, facts) => oneFolder(facts),
};

const rules: Rules = { ...turnRules, ...toolCallRules, ...inputRules, ...folderRules };

export function chatRefusal(action: StateAction, facts: ChatFacts): string | undefined {
  const rule = rules[action.type as ChatActionType] as Rule<StateAction> | undefined;
  return rule?.(action, facts);
}

/** What follows from an accepted action: decided here as data, carried out by the chat. */
export type ChatReaction =
  /** A turn has ended. */
  | { readonly kind: 'turn-ended' }
  /** The first waiting message becomes the next turn. */
  | { readonly kind: 'start-queued' }
  /** The agent starts on a turn, once the turn is stored. */
  | { readonly kind: 'run-turn'; readonly turnId: string }
  /** The agent stops, once the end of its turn is stored. */
  | { readonly kind: 'stop-turn'; readonly turnId: string }
  /** The agent cuts its own history, too. */
  | { readonly kind: 'truncate-agent'; readonly turnId: string | undefined }
  /** The state is archived with this tick. */
  | { readonly kind: 'store-archive' };

export function reactionsTo(
  action: ChatAction,
  { before, after }: Pick<Step<ChatState>, 'before' | 'after'>,
): ChatReaction[] {
  const ended =
    before.activeTurn && before.activeTurn !== after.activeTurn && before.activeTurn.id !== after.activeTurn?.id;
  const reactions: ChatReaction[] = [];
  if (before.activeTurn && ended) reactions.push({ kind: 'stop-turn', turnId: before.activeTurn.id });
  if (ended || before.turns !== after.turns) reactions.push({ kind: 'store-archive' });
  if (action.type === 'chat/truncated' && before !== after) {
    reactions.push({ kind: 'truncate-agent', turnId: action.turnId });
  }
  if (ended) reactions.push({ kind: 'turn-ended' });
  const begins = action.type === 'chat/turnStarted' || (action.type === 'chat/turnResume' && before !== after);
  if (begins) reactions.push({ kind: 'run-turn', turnId: action.turnId });
  // The queue moves when a turn completes, and when a message joins it while the chat is idle.
  if (action.type === 'chat/turnComplete' || action.type === 'chat/pendingMessageSet')
    reactions.push({ kind: 'start-queued' });
  return reactions;
}
