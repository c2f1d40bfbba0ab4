/** The work of `atrium changes`: lists changes, prints differences and runs operations. */

import type { Client, OpenSession } from '@atrium/client';
import { isConfirmed } from '../confirm.js';
import { io, print, printJson, tell } from '../io.js';
import { findSession } from '../sessions/find-session.js';
import { folderOf } from '../sessions/summary-text.js';
import { styleFor } from '../text/style.js';
import { diffLine, diffOf, fileLines, totalsOf, totalsText } from './changes-view.js';
import { channelOf, defaultView, readChangeset, VIEW_WORDS, type ViewName } from './changeset.js';
import { commit, invoke, offerOf } from './operations.js';

/** How many turns the command loads to find the last one that used a tool. */
const TURNS_LOOKED_AT = 20;

export interface ChangesOptions {
  readonly url?: string;
  readonly json?: boolean;
  readonly diff?: boolean;
  readonly view?: ViewName;
  readonly file?: string;
  /** A further folder of the session. */
  readonly folder?: string;
  readonly yes?: boolean;
  readonly message?: string;
}

export async function listChanges(client: Client, name: string, options: ChangesOptions): Promise<void> {
  await inSession(client, name, async (open) => {
    const { state } = open;
    const view = options.view ?? (options.folder === undefined ? defaultView(state) : 'uncommitted');
    const changeset = await readChangeset(client, await channelOf(open, view, options.folder));
    const folder = folderOf(state.session);
    if (options.json) return printJson({ view, ...changeset });
    const style = styleFor(io().stdout, io().env);
    const columns = io().stdout.columns ?? Number.POSITIVE_INFINITY;
    if (!options.diff) {
      const { files } = changeset;
      tell(`${VIEW_WORDS[view]}: ${files.length === 0 ? 'no changes' : totalsText(totalsOf(files))}`);
      for (const line of fileLines(changeset, { style, columns, folder })) print(line);
      return;
    }
    for (const { edit } of changeset.files) {
      const lines = await diffOf({ client, isLocal: options.url === undefined }, edit, folder);
      // A pipe gets the plain difference.
      const shown = io().stdout.isTTY ? lines.map((line) => diffLine(line, { style, columns })) : lines;
      print(shown.join('\n'));
    }
  });
}

export interface OperationChoice {
  readonly operationId: string;
  readonly view: ViewName;
}

export async function runOperation(
  client: Client,
  name: string,
  { operationId, view }: OperationChoice,
  options: ChangesOptions,
): Promise<void> {
  await inSession(client, name, async (open) => {
    const { state } = open;
    const channel = await channelOf(open, view, options.folder);
    const changeset = await readChangeset(client, channel);
    const offer = offerOf(changeset, { operationId, file: options.file }, folderOf(state.session));
    if (offer.question !== undefined && !options.yes && !(await isConfirmed(offer.question)))
      return tell('Nothing was changed.');
    const isCommit = operationId === 'commit';
    const done = isCommit
      ? await commit({ client, open, channel, message: options.message }, offer)
      : await invoke(client, channel, offer);
    if (options.json) printJson({ operation: operationId, view, message: done ?? '' });
    else tell(done ?? 'Nothing was committed.');
  });
}

async function inSession(client: Client, name: string, work: (open: OpenSession) => Promise<void>): Promise<void> {
  const { resource } = findSession(await client.listSessions(), name);
  const open = await client.open(resource, { turns: { last: TURNS_LOOKED_AT } });
  try {
    await work(open);
  } finally {
    open.close();
  }
}
