/** A session that somebody looks at has been read. */
import { type SessionState, SessionStatus } from '@atrium/protocol';
import { useEffect } from 'react';
import type { OpenSession } from '../host/open-session.js';

export function useMarkRead(session: OpenSession, { summary, activeTurn }: SessionState): void {
  const isUnread = (summary.status & SessionStatus.IsRead) === 0 && !activeTurn;
  useEffect(() => {
    if (!isUnread) return;
    const mark = () => {
      if (document.visibilityState === 'visible') session.dispatch({ type: 'session/isReadChanged', isRead: true });
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [session, isUnread]);
}
