/** Small states and actions to test with. */
import type {
  ChatState,
  Message,
  SessionState,
  SessionSummary,
  StateAction,
  TerminalState,
  Turn,
} from '@atrium/protocol/ahp-1';

export const ROOT = 'ahp-root://';
/** Two sessions, and the chat of each. */
export const SESSION = 'ahp-session:/one';
export const OTHER_SESSION = 'ahp-session:/two';
export const ONE = 'ahp-chat:/one';
export const TWO = 'ahp-chat:/two';

export const NOON = '2026-11-17T12:00:00.000Z';

export const message = (text: string): Message => ({ text, origin: { kind: 'user' } });

export function summary(resource: string, members: Partial<SessionSummary> = {}): SessionSummary {
  return { resource, provider: 'echo', title: 'Untitled', status: 1, createdAt: NOON, modifiedAt: NOON, ...members };
}

/** A session with one chat. */
export function session(resource: string, members: Partial<SessionState> = {}): SessionState {
  const chat = resource.replace('ahp-session', 'ahp-chat');
  return {
    provider: 'echo',
    title: 'Untitled',
    status: 1,
    lifecycle: 'ready',
    activeClients: [],
    chats: [{ resource: chat, title: '', status: 1, modifiedAt: NOON }],
    defaultChat: chat,
    ...members,
  };
}

export function chat(resource: string, members: Partial<ChatState> = {}): ChatState {
  return { resource, title: '', status: 1, modifiedAt: NOON, draft: message('Untitled'), turns: [], ...members };
}

export function turn(id: string): Turn {
  return { id, startedAt: NOON, duration: 1, message: message(id), responseParts: [], state: 'complete' };
}

/** Turns `t0` to `t<count - 1>`. */
export function turns(count: number): Turn[] {
  return Array.from({ length: count }, (_, index) => turn(`t${index}`));
}

export function terminal(members: Partial<TerminalState> = {}): TerminalState {
  const claim = { kind: 'client', clientId: 'me' } as const;
  return { title: 'Build', content: [], lifecycle: { status: 'running' }, claim, ...members };
}

export const titled = (title: string) => ({ type: 'session/titleChanged', title }) satisfies StateAction;

export const drafted = (text: string) => ({ type: 'chat/draftChanged', draft: message(text) }) satisfies StateAction;

export const queued = (id: string) =>
  ({ type: 'chat/pendingMessageSet', kind: 'queued', id, message: message(id) }) satisfies StateAction;

export const started = (turnId: string) =>
  ({ type: 'chat/turnStarted', turnId, startedAt: NOON, message: message(turnId) }) satisfies StateAction;

export const ended = (turnId: string) => ({ type: 'chat/turnComplete', turnId, duration: 1 }) satisfies StateAction;
