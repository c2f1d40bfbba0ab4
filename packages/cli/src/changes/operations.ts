/** What can be done with changes, as the host offers it. What destroys something is asked for first. */
import type { Client } from '@atrium/client';
import type { ChangesetFile, ChangesetOperation, ChangesetState } from '@atrium/protocol';
import { UsageError } from '../exit.js';
import { plain } from '../sessions/turns.js';
import { printable } from '../text/printable.js';
import { findFile, nameOf, totalsOf, totalsText, uriOf } from './file-state.js';

export interface Wish {
  readonly operationId: string;
  /** Only this file: its name within the folder. */
  readonly file?: string | undefined;
}

/** Something that can be done now: how it is called, what it is about, and what has to be confirmed. */
export interface Offer {
  readonly operation: ChangesetOperation;
  readonly file?: ChangesetFile | undefined;
  readonly what: string;
  readonly question: string | undefined;
}

/** Fails where the host does not offer it, in words that help. */
export function offerOf(state: ChangesetState, wish: Wish, folder: string | undefined): Offer {
  const { operations = [], files, error } = state;
  const operation = operations.find(({ id }) => id === wish.operationId);
  if (!operation) {
    const others = operations.map(({ id }) => id).join(', ');
    const why =
      error?.message ?? (files.length === 0 ? 'nothing is changed there' : `it offers: ${others || 'nothing'}`);
    throw new UsageError(`there is nothing to ${wish.operationId}: ${printable(why)}`);
  }
  const scope = wish.file === undefined ? 'changeset' : 'resource';
  if (!operation.scopes.includes(scope))
    throw new UsageError(`${operation.id} is not for ${wish.file === undefined ? 'all files' : 'single files'}`);
  const file = wish.file === undefined ? undefined : findFile(files, wish.file, folder);
  const what = file ? nameOf(file.edit, folder) : totalsText(totalsOf(files));
  const confirmation = printable(plain(operation.confirmation));
  return { operation, file, what, question: confirmation === '' ? undefined : `${confirmation} ${what}` };
}

/** Says what was done, in the words of the host. */
export async function invoke(client: Client, channel: string, { operation, file }: Offer): Promise<string> {
  const { message } = await client.request('invokeChangesetOperation', {
    channel,
    operationId: operation.id,
    ...(file && { target: { kind: 'resource' as const, resource: uriOf(file.edit) } }),
  });
  return printable(plain(message)) || `${operation.label}: accepted.`;
}
