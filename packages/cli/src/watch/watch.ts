/** Follows one session action by action, or the list of all sessions. */

import type { Client } from '@atrium/client';
import type { SessionSummary } from '@atrium/protocol';
import { connectionNotes } from '../connect/connection-notes.js';
import { ExitCode, QuietExit } from '../exit.js';
import { io } from '../io.js';
import { print, printJson, tell } from '../output.js';
import { findSession, shortId } from '../sessions/reference.js';
import { activityOf, sessionRow } from '../sessions/words.js';
import { Lines } from './lines.js';

export async function watchOne(client: Client, name: string, isJson: boolean): Promise<void> {
  const { resource } = findSession(await client.listSessions(), name);
  const session = await client.subscribe(resource, { turns: { last: 1 } });
  const lines = new Lines(print);
  const actions = session.actions();
  tell(`Watching ${shortId(resource)}. Ctrl+C ends it.`);
  tellAbsence(client);
  const follow = async () => {
    for await (const envelope of actions) {
      if (envelope.rejectionReason !== undefined) continue;
      if (isJson) printJson(envelope);
      else lines.add(envelope.action);
    }
    lines.end();
  };
  await Promise.race([follow(), interrupted()]);
}

/** A change that no person would notice in the list makes no line. */
export async function watchAll(client: Client, isJson: boolean): Promise<void> {
  const list = await client.sessions();
  const known = new Map<string, SessionSummary>();
  let isFirst = true;
  tell('Watching all sessions. Ctrl+C ends it.');
  tellAbsence(client);
  const follow = async () => {
    for await (const items of list) {
      const found = changes(known, items);
      const news = isFirst ? found.map(([, summary]) => ['present', summary] as const) : found;
      isFirst = false;
      for (const [change, summary] of news) {
        if (isJson) printJson({ change, summary });
        else print([change.padEnd(7), ...sessionRow(summary, Date.now())].join('  '));
      }
    }
  };
  await Promise.race([follow(), interrupted()]);
}

/** Whoever sees nothing has to know that nothing can be seen. */
function tellAbsence(client: Client): void {
  client.onStatus(connectionNotes(tell, { gone: 'Waiting for it.', refused: '' }));
}

type Change = 'added' | 'changed' | 'removed';

function changes(known: Map<string, SessionSummary>, items: readonly SessionSummary[]): [Change, SessionSummary][] {
  const present = new Set(items.map(({ resource }) => resource));
  const found: [Change, SessionSummary][] = [];
  for (const [uri, summary] of known) {
    if (present.has(uri)) continue;
    found.push(['removed', summary]);
    known.delete(uri);
  }
  for (const summary of items) {
    const before = known.get(summary.resource);
    known.set(summary.resource, summary);
    if (!before) found.push(['added', summary]);
    else if (before.title !== summary.title || activityOf(before) !== activityOf(summary))
      found.push(['changed', summary]);
  }
  return found;
}

function interrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      io().signals.once(signal, () => reject(new QuietExit(ExitCode.Interrupted)));
    }
  });
}
