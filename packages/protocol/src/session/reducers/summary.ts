/** What the session list shows: title, model, agent, flags, activity, changes. */
import { withMembers, withoutMember } from '../../reducing.js';
import type { SessionState } from '../state/session-state.js';
import type { SessionSummary } from '../state/session-summary.js';
import { SessionStatus } from '../status.js';
import type { SessionHandlers } from './family.js';
import { withFlag } from './status.js';

export const summaryHandlers: SessionHandlers<
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
