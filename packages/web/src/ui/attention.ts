/** Tells those who cannot see the list, or look at another tab, that a session needs them. */
import { useEffect } from 'react';
import { useHost } from '../host/context.js';
import { plural } from '../model/format.js';
import { activityOf, isArchived } from '../model/sessions.js';
import { useStore } from '../model/store.js';

/** The sentence to say; it changes only when the number does. */
export function useAttention(): string {
  const { link } = useHost();
  const sessions = useStore(link.sessions) ?? [];
  const count = sessions.filter((item) => !isArchived(item) && activityOf(item) === 'needs-you').length;
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Atrium` : 'Atrium';
  }, [count]);
  return count > 0 ? `${plural(count, 'session')} waiting for you` : '';
}
