/** Small states of 1.0 to test reducers with, and reducers that freeze what they are given: one that mutates throws. */
import type {
  ActiveTurn,
  Annotation,
  ChangesetOperation,
  ChatAction,
  ChatInputRequest,
  ChatState,
  ChatSummary,
  InputRequestResponsePart,
  MarkdownResponsePart,
  McpServerCustomization,
  Message,
  PendingMessage,
  PluginCustomization,
  ResponsePart,
  SessionAction,
  SessionActiveClient,
  SessionInputRequest,
  SessionState,
  SkillCustomization,
  TerminalState,
  ToolCallAuthRequiredState,
  ToolCallCancelledState,
  ToolCallCompletedState,
  ToolCallPendingConfirmationState,
  ToolCallPendingResultConfirmationState,
  ToolCallResponsePart,
  ToolCallRunningState,
  ToolCallState,
  ToolCallStreamingState,
  Turn,
} from '../../../src/ahp-1/index.js';
import { chatReducer, SessionStatus, sessionReducer } from '../../../src/ahp-1/index.js';
import { deepFreeze } from '../../support/fixtures.js';

export const CHAT = 'ahp-chat:/one';
export const BEFORE = '2026-10-01T08:00:00.000Z';
export const STARTED = '2026-10-01T08:15:30.000Z';

export function reduceSession(state: SessionState, ...actions: SessionAction[]): SessionState {
  return actions.reduce((now, action) => sessionReducer(deepFreeze(now), deepFreeze(action)), state);
}

export function reduceChat(state: ChatState, ...actions: ChatAction[]): ChatState {
  return actions.reduce((now, action) => chatReducer(deepFreeze(now), deepFreeze(action)), state);
}

export function sessionState(members: Partial<SessionState> = {}): SessionState {
  return {
    provider: 'echo',
    title: 'Port the parser',
    status: SessionStatus.Idle,
    lifecycle: 'ready',
    activeClients: [],
    chats: [],
    ...members,
  };
}

export function chatSummary(id: string, members: Partial<ChatSummary> = {}): ChatSummary {
  return { resource: `ahp-chat:/${id}`, title: id, status: SessionStatus.Idle, modifiedAt: BEFORE, ...members };
}

export function chatState(members: Partial<ChatState> = {}): ChatState {
  return {
    resource: CHAT,
    title: 'Port the parser',
    status: SessionStatus.Idle,
    modifiedAt: BEFORE,
    turns: [],
    ...members,
  };
}

export function message(text: string, members: Partial<Message> = {}): Message {
  return { text, origin: { kind: 'user' }, ...members };
}

export function pending(id: string, text = `Text of ${id}`): PendingMessage {
  return { id, message: message(text) };
}

/** The id of the turn that runs in `withTurn` and `withCalls`. */
export const TURN = 'turn-now';

/** A chat in which a turn runs. */
export function withTurn(responseParts: ResponsePart[] = [], members: Partial<ChatState> = {}): ChatState {
  const activeTurn: ActiveTurn = { id: TURN, startedAt: STARTED, message: message('Port the parser'), responseParts };
  return chatState({ status: SessionStatus.InProgress, activeTurn, ...members });
}

const WAITING = ['pending-confirmation', 'pending-result-confirmation', 'auth-required'];

/** A chat in which a turn runs that has made these calls; its status is true. */
export function withCalls(...calls: ToolCallState[]): ChatState {
  const waits = calls.some(({ status }) => WAITING.includes(status));
  const status = waits ? SessionStatus.InputNeeded : SessionStatus.InProgress;
  return withTurn(calls.map(toolPart), { status });
}

export function partsOf({ activeTurn }: ChatState): ResponsePart[] {
  return activeTurn?.responseParts ?? [];
}

/** All calls of the running turn. */
export function callsOf(state: ChatState): ToolCallState[] {
  return partsOf(state).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

export function finishedTurn(id: string, members: Partial<Turn> = {}): Turn {
  return { id, message: message(`Text of ${id}`), responseParts: [], state: 'complete', ...members };
}

export function markdown(id: string, content: string): MarkdownResponsePart {
  return { kind: 'markdown', id, content };
}

export function toolPart(toolCall: ToolCallState): ToolCallResponsePart {
  return { kind: 'toolCall', toolCall };
}

export function question(id: string, members: Partial<ChatInputRequest> = {}): ChatInputRequest {
  return { id, message: `Question ${id}`, ...members };
}

export function questionPart(
  request: ChatInputRequest,
  response?: InputRequestResponsePart['response'],
): InputRequestResponsePart {
  return { kind: 'inputRequest', request, ...(response && { response }) };
}

/** The id of the calls below. */
export const CALL = 'call-1';
export const STARTED_CALL = { toolCallId: CALL, toolName: 'search', displayName: 'Search' };
export const PARAMETERS = { invocationMessage: 'Search for commas', toolInput: '{"find":","}' };
const outcome = { success: true, pastTenseMessage: 'Searched for commas' };

export function streaming(members: Partial<ToolCallStreamingState> = {}): ToolCallStreamingState {
  return { status: 'streaming', ...STARTED_CALL, ...members };
}

export function pendingConfirmation(
  members: Partial<ToolCallPendingConfirmationState> = {},
): ToolCallPendingConfirmationState {
  return { status: 'pending-confirmation', ...STARTED_CALL, ...PARAMETERS, ...members };
}

export function running(members: Partial<ToolCallRunningState> = {}): ToolCallRunningState {
  return { status: 'running', ...STARTED_CALL, ...PARAMETERS, confirmed: 'user-action', ...members };
}

export const MCP = { kind: 'mcp', customizationId: 'server-1' } as const;
export const AUTH = { reason: 'required', resource: { resource: 'https://mcp.example' } } as const;

export function authRequired(members: Partial<ToolCallAuthRequiredState> = {}): ToolCallAuthRequiredState {
  return { ...running(), contributor: MCP, status: 'auth-required', auth: AUTH, ...members };
}

export function pendingResult(
  members: Partial<ToolCallPendingResultConfirmationState> = {},
): ToolCallPendingResultConfirmationState {
  return { ...running(), status: 'pending-result-confirmation', ...outcome, ...members };
}

export function completed(members: Partial<ToolCallCompletedState> = {}): ToolCallCompletedState {
  return { ...running(), status: 'completed', ...outcome, ...members };
}

export function cancelled(members: Partial<ToolCallCancelledState> = {}): ToolCallCancelledState {
  return { status: 'cancelled', ...STARTED_CALL, ...PARAMETERS, reason: 'denied', ...members };
}

export function client(clientId: string, members: Partial<SessionActiveClient> = {}): SessionActiveClient {
  return { clientId, tools: [], ...members };
}

export function chatInput(id: string): SessionInputRequest {
  return { kind: 'chatInput', id, chat: CHAT, request: question(`request-${id}`) };
}

export function clientExecution(id: string): SessionInputRequest {
  return { kind: 'toolClientExecution', id, chat: CHAT, turnId: TURN, clientId: 'desk', toolCall: running() };
}

export function skill(id: string, members: Partial<SkillCustomization> = {}): SkillCustomization {
  return { type: 'skill', id, uri: `file:///skills/${id}.md`, name: id, ...members };
}

export function plugin(id: string, members: Partial<PluginCustomization> = {}): PluginCustomization {
  return { type: 'plugin', id, uri: `file:///plugins/${id}`, name: id, ...members };
}

export function server(id: string, members: Partial<McpServerCustomization> = {}): McpServerCustomization {
  return { type: 'mcpServer', id, uri: `file:///servers/${id}`, name: id, state: { kind: 'ready' }, ...members };
}

export function terminalState(members: Partial<TerminalState> = {}): TerminalState {
  const claim = { kind: 'client' as const, clientId: 'desk' };
  return { title: 'Build', content: [], lifecycle: { status: 'running' }, claim, ...members };
}

export function operation(id: string, members: Partial<ChangesetOperation> = {}): ChangesetOperation {
  return { id, label: id, scopes: ['changeset'], status: 'idle', ...members };
}

export function annotation(id: string, members: Partial<Annotation> = {}): Annotation {
  return {
    id,
    origin: { session: 'ahp-session:/one', chat: CHAT, turnId: 'turn-1' },
    resource: 'file:///w/parser.ts',
    resolved: false,
    entries: [{ id: 'entry-1', text: 'Why?' }],
    ...members,
  };
}
