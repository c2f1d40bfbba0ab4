/** The views that a session has: the host names them a moment after it has opened the session. */
import type { Subscription } from '@atrium/client';
import { type ViewName, viewUri } from './views.js';

/** A large repository is looked at first. */
const CATALOGUE_MAX_MS = 5_000;

/** The channel of a view, as soon as it is known. Fails with what to do where there is none. */
export async function channelOf(session: Subscription, view: ViewName): Promise<string> {
  await catalogued(session);
  return viewUri(session.state, view);
}

/** Waits until the views are named; not for ever, since some sessions have none. */
export function catalogued(session: Subscription): Promise<void> {
  const isThere = () => (session.state.summary.changesets?.length ?? 0) > 0;
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      off();
      resolve();
    };
    const timer = setTimeout(end, CATALOGUE_MAX_MS);
    const off = session.onChange(() => isThere() && end());
    if (isThere()) end();
  });
}
