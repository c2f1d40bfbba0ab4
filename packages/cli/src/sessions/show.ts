/** `atrium sessions show`: a session from its first turn to its last, or the newest turns of it. */

import type { Client } from '@atrium/client';
import type { Turn } from '@atrium/protocol';
import { io } from '../io.js';
import { print, printJson } from '../output.js';
import { printable } from '../text/printable.js';
import { styleFor } from '../text/style.js';
import { readSession } from './export.js';
import { findSession, shortId } from './reference.js';
import { turnText } from './transcript.js';
import { ago, folderText, placeText, stateOf } from './words.js';

export interface ShowOptions {
  readonly json?: boolean;
  readonly turns?: number;
  readonly full?: boolean;
}

const COLUMNS_MAX = 100;

export async function show(
  client: Client,
  name: string,
  { json, turns: last, full = false }: ShowOptions,
): Promise<void> {
  const summary = findSession(await client.listSessions(), name);
  const { state, total, pages } = await readSession(client, summary.resource);
  const skipped = last === undefined ? 0 : Math.max(0, total - last);
  const turns: Turn[] = [];
  const style = styleFor(io().stdout, io().env);
  const hint = `the whole: atrium sessions show ${shortId(summary.resource)} --full`;
  const columns = Math.min(io().stdout.columns ?? COLUMNS_MAX, COLUMNS_MAX);
  const options = { style, columns, hint, isWhole: full };
  if (!json) {
    const { title, provider, modifiedAt, workingDirectory } = summary;
    print(`${style.bold(printable(title))}  ${style.dim(shortId(summary.resource))}`);
    const places = new Set([placeText(summary), folderText(workingDirectory)]);
    const facts = [provider, ...places, stateOf(summary), ago(modifiedAt, Date.now())];
    print(`${style.dim([...facts, `${total} ${total === 1 ? 'turn' : 'turns'}`].filter(Boolean).join(' · '))}\n`);
    if (skipped > 0)
      print(style.dim(`… ${skipped} earlier ${skipped === 1 ? 'turn' : 'turns'} (left out by --turns ${last})\n`));
  }
  let index = 0;
  for await (const page of pages()) {
    for (const turn of page) {
      if (index++ < skipped) continue;
      if (json) turns.push(turn);
      else print(turnText(turn, options));
    }
  }
  if (json) printJson({ ...state, turns });
  else if (state.activeTurn) print(turnText(state.activeTurn, options));
}
