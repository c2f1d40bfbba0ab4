/** Small states to test reducers with, and reducers that freeze what they are given: one that mutates throws. */
import type { ChangesetAction } from '../../src/changeset/actions.js';
import { changesetReducer } from '../../src/changeset/reducer.js';
import type { ChangesetFile, ChangesetState } from '../../src/changeset/state.js';
import type { RootAction } from '../../src/root/actions.js';
import { rootReducer } from '../../src/root/reducer.js';
import type { RootState } from '../../src/root/state.js';
import type { SessionAction } from '../../src/session/actions.js';
import type { Customization, SkillCustomization } from '../../src/session/customizations.js';
import type { SessionInputRequest } from '../../src/session/input.js';
import type { PendingMessage, UserMessage } from '../../src/session/messages.js';
import { sessionReducer } from '../../src/session/reducer.js';
import type { SessionState, SessionSummary } from '../../src/session/state.js';
import { SessionStatus } from '../../src/session/status.js';
import type {
  ToolCallCancelledState,
  ToolCallCompletedState,
  ToolCallPendingConfirmationState,
  ToolCallPendingResultConfirmationState,
  ToolCallResponsePart,
  ToolCallRunningState,
  ToolCallState,
  ToolCallStreamingState,
} from '../../src/session/tool-calls.js';
import type { MarkdownResponsePart, ReasoningResponsePart, ResponsePart, Turn } from '../../src/session/turns.js';
import type { TerminalAction } from '../../src/terminal/actions.js';
import { terminalReducer } from '../../src/terminal/reducer.js';
import type { TerminalCommandPart, TerminalState } from '../../src/terminal/state.js';
import { deepFreeze } from './fixtures.js';

/** When the states below were last changed, and when the actions of a test happen. */
export const BEFORE = 1_000;
export const NOW = 5_000;
const context = { now: NOW };

export function reduceSession(state: SessionState, action: SessionAction): SessionState {
  return sessionReducer(deepFreeze(state), deepFreeze(action), context);
}

export function reduceRoot(state: RootState, action: RootAction): RootState {
  return rootReducer(deepFreeze(state), deepFreeze(action), context);
}

export function reduceTerminal(state: TerminalState, action: TerminalAction): TerminalState {
  return terminalReducer(deepFreeze(state), deepFreeze(action), context);
}

export function reduceChangeset(state: ChangesetState, action: ChangesetAction): ChangesetState {
  return changesetReducer(deepFreeze(state), deepFreeze(action), context);
}

export function sessionSummary(members: Partial<SessionSummary> = {}): SessionSummary {
  return {
    resource: 'ahp-session:/one',
    provider: 'echo',
    title: 'Port the parser',
    status: SessionStatus.Idle,
    createdAt: BEFORE,
    modifiedAt: BEFORE,
    ...members,
  };
}

export function sessionState(members: Partial<SessionState> = {}): SessionState {
  return { summary: sessionSummary(), lifecycle: 'ready', turns: [], ...members };
}

export function message(text: string): UserMessage {
  return { text };
}

export function pending(id: string, text = `Text of ${id}`): PendingMessage {
  return { id, userMessage: message(text) };
}

/** The id of the turn that runs in `withTurn` and `withCalls`. */
export const TURN = 'turn-now';

/** A session in which a turn runs. */
export function withTurn(responseParts: ResponsePart[] = [], members: Partial<SessionState> = {}): SessionState {
  return sessionState({
    summary: sessionSummary({ status: SessionStatus.InProgress }),
    activeTurn: { id: TURN, userMessage: message('Port the parser'), responseParts, usage: undefined },
    ...members,
  });
}

/** A session in which a turn runs that has made these calls; its status is true. */
export function withCalls(...calls: ToolCallState[]): SessionState {
  const waits = calls.some(({ status }) => status.startsWith('pending'));
  const status = waits ? SessionStatus.InputNeeded : SessionStatus.InProgress;
  return withTurn(calls.map(toolPart), { summary: sessionSummary({ status }) });
}

export function finishedTurn(id: string, members: Partial<Turn> = {}): Turn {
  return {
    id,
    userMessage: message(`Text of ${id}`),
    responseParts: [],
    usage: undefined,
    state: 'complete',
    error: undefined,
    ...members,
  };
}

export function markdown(id: string, content: string): MarkdownResponsePart {
  return { kind: 'markdown', id, content };
}

export function reasoning(id: string, content: string): ReasoningResponsePart {
  return { kind: 'reasoning', id, content };
}

export function toolPart(toolCall: ToolCallState): ToolCallResponsePart {
  return { kind: 'toolCall', toolCall };
}

/** The id of the calls below. */
export const CALL = 'call-1';

const started = { toolCallId: CALL, toolName: 'search', displayName: 'Search' };
/** The five members that every call has once a reducer has built it anew. */
export const BASE_FIVE = { ...started, toolClientId: undefined, _meta: undefined };

export function streaming(members: Partial<ToolCallStreamingState> = {}): ToolCallStreamingState {
  return { status: 'streaming', ...started, ...members };
}

const parameters = { invocationMessage: 'Search for commas', toolInput: '{"find":","}' };

export function pendingConfirmation(
  members: Partial<ToolCallPendingConfirmationState> = {},
): ToolCallPendingConfirmationState {
  return { status: 'pending-confirmation', ...started, ...parameters, ...members };
}

export function running(members: Partial<ToolCallRunningState> = {}): ToolCallRunningState {
  return { status: 'running', ...started, ...parameters, confirmed: 'user-action', ...members };
}

const outcome = { success: true, pastTenseMessage: 'Searched for commas' };

export function pendingResult(
  members: Partial<ToolCallPendingResultConfirmationState> = {},
): ToolCallPendingResultConfirmationState {
  return {
    status: 'pending-result-confirmation',
    ...started,
    ...parameters,
    confirmed: 'user-action',
    ...outcome,
    ...members,
  };
}

export function completed(members: Partial<ToolCallCompletedState> = {}): ToolCallCompletedState {
  return { status: 'completed', ...started, ...parameters, confirmed: 'user-action', ...outcome, ...members };
}

export function cancelled(members: Partial<ToolCallCancelledState> = {}): ToolCallCancelledState {
  return { status: 'cancelled', ...started, ...parameters, reason: 'denied', ...members };
}

/** All calls of the running turn. */
export function callsOf({ activeTurn }: SessionState): ToolCallState[] {
  return (activeTurn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

export function inputRequest(id: string, members: Partial<SessionInputRequest> = {}): SessionInputRequest {
  return { id, message: `Question ${id}`, ...members };
}

export function skill(id: string): SkillCustomization {
  return { type: 'skill', id, uri: `file:///skills/${id}.md`, name: id };
}

export function plugin(id: string, members: Partial<Customization> = {}): Customization {
  return { type: 'plugin', id, uri: `file:///plugins/${id}`, name: id, enabled: true, ...members } as Customization;
}

export function rootState(members: Partial<RootState> = {}): RootState {
  return { agents: [], ...members };
}

export function terminalState(members: Partial<TerminalState> = {}): TerminalState {
  return { title: 'Build', content: [], claim: { kind: 'client', clientId: 'desk' }, ...members };
}

export function commandPart(members: Partial<TerminalCommandPart> = {}): TerminalCommandPart {
  return {
    type: 'command',
    commandId: 'cmd-1',
    commandLine: 'make',
    output: '',
    timestamp: BEFORE,
    isComplete: false,
    ...members,
  };
}

export function changesetState(members: Partial<ChangesetState> = {}): ChangesetState {
  return { status: 'ready', files: [], ...members };
}

export function changedFile(id: string, added = 1): ChangesetFile {
  return { id, edit: { diff: { added } } };
}
