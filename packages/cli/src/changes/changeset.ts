/**
 * The changes of a session, read once: which view is meant (the last turn, the session, uncommitted), its channel, its
 * state.
 */
import type { Client, OpenSession, OpenSessionState, Subscription } from '@atrium/client';
import type { Changeset, ChangesetState, ChatState } from '@atrium/protocol/ahp-1';
import { UsageError } from '../exit.js';
import { callsIn } from '../sessions/turn-text.js';

export const VIEWS = ['turn', 'session', 'uncommitted'] as const;
export type ViewName = (typeof VIEWS)[number];

/** The names of the views for people. */
export const VIEW_WORDS: Readonly<Record<ViewName, string>> = {
  turn: 'Last turn',
  session: 'This session',
  uncommitted: 'Not committed',
};

export function isView(word: string): word is ViewName {
  return (VIEWS as readonly string[]).includes(word);
}

/** The default: the last turn that used tools, or else the whole session. */
export function defaultView({ chat }: OpenSessionState): ViewName {
  return lastTurnWithCalls(chat) === undefined ? 'session' : 'turn';
}

/** The channel of a view. If there is none, throws an error that says what to do. */
function viewUri(state: OpenSessionState, view: ViewName, folder: string | undefined): string {
  if (catalogueOf(state).length === 0)
    throw new UsageError(
      'the host shows no changes here: it keeps none, or the folder of the session is not on its machine',
    );
  if (view === 'turn') return turnUri(state, lastTurnWithCalls(state.chat));
  const entry = entryOf(state, view, folder);
  if (entry) return entry.uriTemplate;
  if (folder !== undefined)
    throw new UsageError(
      `nothing is known of uncommitted changes in "${folder}": name a further folder of the session that is in a Git repository`,
    );
  throw new UsageError(
    view === 'uncommitted'
      ? 'the folder is not in a Git repository: nothing can be uncommitted'
      : 'there is no such view',
  );
}

/** The chat's own changes if it has some, else those of the session. */
function catalogueOf({ session, chat }: OpenSessionState): readonly Changeset[] {
  return [...(chat.changesets ?? []), ...(session.changesets ?? [])];
}

/**
 * The entry of the catalogue, with its sums; the entry for single turns has no sums. Hosts name a further folder at the
 * end of the
 * label of its view.
 */
export function entryOf(state: OpenSessionState, view: ViewName, folder?: string): Changeset | undefined {
  const entries = entriesOf(state, view);
  return folder === undefined ? entries[0] : entries.find(({ label }) => label.endsWith(` ${folder}`));
}

/** One entry for each folder of the session that has such a view, in the order of the folders. */
export function entriesOf(state: OpenSessionState, view: ViewName): readonly Changeset[] {
  return catalogueOf(state).filter(({ changeKind, uriTemplate }) => changeKind === view && !uriTemplate.includes('{'));
}

export function turnUri(state: OpenSessionState, turnId: string | undefined): string {
  if (turnId === undefined) throw new UsageError('no turn has used a tool so far, so none has changed anything');
  const template = catalogueOf(state).find(({ uriTemplate }) =>
    /^[^{]*\{turnId\}[^{]*$/.test(uriTemplate),
  )?.uriTemplate;
  if (template === undefined) throw new UsageError('the host does not tell turns apart');
  return template.replace('{turnId}', encodeURIComponent(turnId));
}

function lastTurnWithCalls({ turns, activeTurn }: ChatState): string | undefined {
  const all = activeTurn ? [...turns, activeTurn] : turns;
  return all.findLast((turn) => callsIn(turn).length > 0)?.id;
}

// The host names the views a moment after it has opened the session.

/** The host needs time to examine a large repository. */
const CATALOGUE_MAX_MS = 5_000;

/** The channel of a view. Waits until the host has named it. */
export async function channelOf(open: OpenSession, view: ViewName, folder?: string): Promise<string> {
  await catalogued(open);
  return viewUri(open.state, view, folder);
}

/** Waits until the host has named the views, up to a limit: some sessions have none. */
function catalogued(open: OpenSession): Promise<void> {
  const isThere = () => catalogueOf(open.state).length > 0;
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      off();
      resolve();
    };
    const timer = setTimeout(end, CATALOGUE_MAX_MS);
    const off = open.onChange(() => isThere() && end());
    if (isThere()) end();
  });
}

/** A large repository takes a while; after this time the command shows partial results. */
const READY_MAX_MS = 30_000;

export async function readChangeset(client: Client, uri: string): Promise<ChangesetState> {
  const changeset = await client.subscribe(uri, { kind: 'changeset' });
  try {
    await settled(changeset, ({ status }) => status !== 'computing', READY_MAX_MS);
    const { state } = changeset;
    // The host sends them in the order in which it found them.
    return { ...state, files: state.files.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  } finally {
    changeset.close();
  }
}

/** Waits until `isReady`. False after `maxMs`, or when the changeset is gone. */
export function settled(
  changeset: Subscription<'changeset'>,
  isReady: (state: ChangesetState) => boolean,
  maxMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (value: boolean) => {
      clearTimeout(timer);
      for (const off of offs) off();
      resolve(value);
    };
    const timer = setTimeout(() => end(false), maxMs);
    const offs = [changeset.onChange((state) => isReady(state) && end(true)), changeset.onGone(() => end(false))];
    if (isReady(changeset.state)) end(true);
  });
}
