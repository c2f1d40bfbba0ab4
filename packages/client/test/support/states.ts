/** Small states and actions to test with. */
import type { SessionState, SessionSummary, StateAction, TerminalState, Turn } from '@atrium/protocol';

export const ROOT = 'ahp-root://';
export const ONE = 'ahp-session:/one';
export const TWO = 'ahp-session:/two';

export function summary(resource: string, members: Partial<SessionSummary> = {}): SessionSummary {
  return { resource, provider: 'echo', title: 'Untitled', status: 1, createdAt: 1, modifiedAt: 1, ...members };
}

export function session(resource: string, members: Partial<SessionState> = {}): SessionState {
  return { summary: summary(resource), lifecycle: 'ready', turns: [], ...members };
}

export function turn(id: string): Turn {
  return { id, userMessage: { text: id }, responseParts: [], state: 'complete' };
}

/** Turns `t0` to `t<count - 1>`. */
export function turns(count: number): Turn[] {
  return Array.from({ length: count }, (_, index) => turn(`t${index}`));
}

export function terminal(members: Partial<TerminalState> = {}): TerminalState {
  return { title: 'Build', content: [], claim: { kind: 'client', clientId: 'me' }, ...members };
}

export const titled = (title: string) => ({ type: 'session/titleChanged', title }) satisfies StateAction;

export const queued = (id: string) =>
  ({ type: 'session/pendingMessageSet', kind: 'queued', id, userMessage: { text: id } }) satisfies StateAction;

export const started = (turnId: string) =>
  ({ type: 'session/turnStarted', turnId, userMessage: { text: turnId } }) satisfies StateAction;

export const ended = (turnId: string) => ({ type: 'session/turnComplete', turnId }) satisfies StateAction;
