/** The status of a session as people see it. */
import { ACTIVITY_MASK, SessionStatus, type SessionSummary } from '@atrium/protocol';

export type Activity = 'idle' | 'working' | 'needs-you' | 'error';

export function activityOf({ status }: Pick<SessionSummary, 'status'>): Activity {
  const activity = status & ACTIVITY_MASK;
  if ((activity & SessionStatus.InputNeeded) === SessionStatus.InputNeeded) return 'needs-you';
  if (activity & SessionStatus.InProgress) return 'working';
  return activity & SessionStatus.Error ? 'error' : 'idle';
}

export const ACTIVITY_WORDS: Readonly<Record<Activity, string>> = {
  idle: 'Idle',
  working: 'Working',
  'needs-you': 'Needs you',
  error: 'Failed',
};

export function isUnread({ status }: Pick<SessionSummary, 'status'>): boolean {
  return (status & SessionStatus.IsRead) === 0 && activityOf({ status }) !== 'working';
}

export function isArchived({ status }: Pick<SessionSummary, 'status'>): boolean {
  return (status & SessionStatus.IsArchived) !== 0;
}
