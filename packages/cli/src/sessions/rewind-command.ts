/** The work of `atrium rewind`: shows what would change, asks, goes back, or undoes a rewind. */
import type { Client, OpenSession } from '@atrium/client';
import type { RewindKind } from '@atrium/protocol/ahp-1';
import { isConfirmed } from '../confirm.js';
import { ExitCode, QuietExit, UsageError } from '../exit.js';
import { io, print, printJson, tell } from '../io.js';
import { styleFor } from '../text/style.js';
import { findSession } from './find-session.js';
import { previewLines, previewRewind, rewind, turnAt, undoRewind } from './rewind.js';
import { folderOf } from './summary-text.js';

export interface RewindChoice {
  readonly files?: boolean;
  readonly conversation?: boolean;
  readonly dryRun?: boolean;
  readonly undo?: boolean;
  readonly yes?: boolean;
  readonly chat?: string;
  readonly json?: boolean;
}

interface Named {
  readonly session: string;
  readonly turn: string | undefined;
}

export async function rewindSession(client: Client, { session, turn }: Named, options: RewindChoice): Promise<void> {
  const { resource } = findSession(await client.listSessions(), session);
  if (options.undo) return told(options, { message: await undoRewind(client, resource) });
  const chat = options.chat === undefined ? {} : { chat: options.chat };
  const open = await client.open(resource, { turns: { last: 1 }, ...chat });
  try {
    const place = { channel: open.chat.uri, turnId: await turnIdOf(client, open, turn ?? '') };
    const what: RewindKind = options.files ? 'files' : options.conversation ? 'conversation' : 'both';
    const preview = await previewRewind(client, place);
    if (options.dryRun && options.json) return printJson(preview);
    const style = styleFor(io().stdout, io().env);
    const columns = io().stdout.columns ?? Number.POSITIVE_INFINITY;
    const lines = previewLines(preview, what, { style, columns, folder: folderOf(open.state.session) });
    if (options.dryRun) return lines.forEach(print);
    if (!options.yes) {
      for (const line of lines) tell(line);
      if (!(await isConfirmed('Go back?'))) {
        tell('Nothing was changed.');
        throw new QuietExit(ExitCode.Usage);
      }
    }
    told(options, await rewind(client, { ...place, what, plan: preview.plan }));
  } finally {
    open.close();
  }
}

/** Finds a turn by its number, as `last`, or by its id. */
async function turnIdOf(client: Client, open: OpenSession, name: string): Promise<string> {
  if (name !== 'last' && !/^\d{1,9}$/.test(name)) return name;
  const total = (open.chat.olderCount ?? 0) + open.state.chat.turns.length;
  const turn = await turnAt(client, open.chat.uri, { number: name === 'last' ? -1 : Number(name), total });
  if (turn) return turn.id;
  throw new UsageError(
    total === 0 ? 'nothing was said in it yet' : `there are turns 1 to ${total}, and no turn ${name}`,
  );
}

function told({ json }: RewindChoice, result: { readonly message: string }): void {
  if (json) printJson(result);
  else tell(result.message);
}
