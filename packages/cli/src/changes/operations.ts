/** Operations on changes that the host offers, such as revert, stage and commit. Destructive ones carry a question. */
import type { Client, OpenSession } from '@atrium/client';
import type { ChangesetFile, ChangesetOperation, ChangesetState } from '@atrium/protocol/ahp-1';
import { UsageError } from '../exit.js';
import { type OpenRequest, openRequests, plain } from '../sessions/turn-text.js';
import { printable } from '../text/printable.js';
import { findFile, nameOf, stagedWord, totalsOf, totalsText, uriOf } from './changes-view.js';
import { settled } from './changeset.js';

interface OperationRequest {
  readonly operationId: string;
  /** Only this file: its name within the folder. */
  readonly file?: string | undefined;
}

/** An operation that the host offers now: its file, its description, and the question to ask first. */
export interface Offer {
  readonly operation: ChangesetOperation;
  readonly file?: ChangesetFile | undefined;
  readonly what: string;
  readonly question: string | undefined;
}

/** If the host does not offer the operation, throws an error that names the alternatives. */
export function offerOf(state: ChangesetState, wish: OperationRequest, folder: string | undefined): Offer {
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

/** Resolves with the host's description of what it did. */
export async function invoke(client: Client, channel: string, { operation, file }: Offer): Promise<string> {
  const { message } = await client.request('invokeChangesetOperation', {
    channel,
    operationId: operation.id,
    ...(file && { target: { kind: 'resource' as const, resource: uriOf(file.edit) } }),
  });
  return printable(plain(message)) || `${operation.label}: accepted.`;
}

// A commit: the host asks for its message in the session, and the result shows in the changeset.

/** Hooks of a repository may run whole test suites. */
const COMMIT_MAX_MS = 5 * 60_000;
const QUESTION = /^commit-/;

interface CommitOptions {
  readonly client: Client;
  readonly open: OpenSession;
  /** The channel of the uncommitted changes. */
  readonly channel: string;
  /** The message; without it, the person is asked. */
  readonly message?: string | undefined;
}

/** Resolves with the result, or undefined when the person declines. Rejects with Git's message. */
export async function commit(options: CommitOptions, offer: Offer): Promise<string | undefined> {
  const { client, open, channel } = options;
  const changeset = await client.subscribe(channel, { kind: 'changeset' });
  try {
    await settled(changeset, ({ status }) => status !== 'computing', COMMIT_MAX_MS);
    const actions = open.chat.actions();
    await invoke(client, channel, offer);
    const { request, chat } = await asked(open);
    const { id } = request;
    if (options.message !== undefined) void client.dispatch(chat, answer(id, options.message)).catch(() => {});
    for await (const { action } of actions) {
      if (action.type !== 'chat/inputCompleted' || action.requestId !== id) continue;
      if (action.response !== 'accept') return undefined;
      break;
    }
    const isDone = doneAfter(changeset.state);
    await settled(changeset, (state) => isFailed(state) || isDone(state), COMMIT_MAX_MS);
    if (isFailed(changeset.state)) throw new Error(changeset.state.error?.message ?? 'the commit failed');
    return isDone(changeset.state)
      ? 'Committed.'
      : 'The commit takes long. What is not committed shows when it is done.';
  } finally {
    changeset.close();
  }
}

/** An incomplete list is not a failure. */
function isFailed({ status, error }: ChangesetState): boolean {
  return status === 'error' && error?.errorType !== 'incomplete';
}

/**
 * The commit is done when no file that was staged still is; if none was staged, when a changed file has left the list.
 */
function doneAfter({ files: before }: ChangesetState): (now: ChangesetState) => boolean {
  const staged = before.filter((file) => stagedWord(file) !== '');
  return ({ files }) => {
    const now = new Map(files.map((file) => [file.id, file]));
    const isLeft = ({ id }: ChangesetFile) => now.has(id) && stagedWord(now.get(id) ?? {}) !== '';
    return staged.length > 0 ? !staged.some(isLeft) : before.some(({ id }) => !now.has(id));
  };
}

function asked(open: OpenSession): Promise<OpenRequest> {
  const find = () => openRequests(open.state).find(({ request }) => QUESTION.test(request.id));
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = find();
      if (!found) return;
      for (const off of offs) off();
      resolve(found);
    };
    const offs = [open.onChange(look), open.session.onGone(reject)];
    look();
  });
}

function answer(requestId: string, message: string) {
  const value = { kind: 'text' as const, value: message };
  const answers = { message: { state: 'submitted' as const, value } };
  return { type: 'chat/inputCompleted' as const, requestId, response: 'accept' as const, answers };
}
