/** Looks into several sessions at once: only at what they are, not at what was said. */
import type { Client } from '@atrium/client';
import type { SessionState } from '@atrium/protocol';
import { findSession, newestFirst } from './reference.js';

/** Looking brings a session into the host's memory; older ones hardly have visitors. */
const LOOK_MAX_SESSIONS = 50;

/** The session that is named, or the newest ones. */
export async function lookInto(client: Client, name: string | undefined): Promise<SessionState[]> {
  const items = await client.listSessions();
  const chosen = name === undefined ? newestFirst(items).slice(0, LOOK_MAX_SESSIONS) : [findSession(items, name)];
  return Promise.all(
    chosen.map(async ({ resource }) => {
      const session = await client.subscribe(resource, { turns: { last: 1 } });
      const { state } = session;
      session.close();
      return state;
    }),
  );
}
