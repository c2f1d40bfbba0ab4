/** Which changes of a session are meant: those of a turn, of the whole session, or all that is not committed. */
import type { ChangesetSummary, SessionState } from '@atrium/protocol';
import { UsageError } from '../exit.js';
import { callsIn } from '../sessions/turns.js';

export const VIEWS = ['turn', 'session', 'uncommitted'] as const;
export type ViewName = (typeof VIEWS)[number];

/** How the views are called where people read of them. */
export const VIEW_WORDS: Readonly<Record<ViewName, string>> = {
  turn: 'Last turn',
  session: 'This session',
  uncommitted: 'Not committed',
};

export function isView(word: string): word is ViewName {
  return (VIEWS as readonly string[]).includes(word);
}

/** What is shown when nobody says: the last turn that used tools, or else the whole session. */
export function defaultView(state: SessionState): ViewName {
  return lastTurnWithCalls(state) === undefined ? 'session' : 'turn';
}

/** The channel of a view. Fails with what to do where there is none. */
export function viewUri(state: SessionState, view: ViewName): string {
  const { changesets = [] } = state.summary;
  if (changesets.length === 0)
    throw new UsageError('the host shows no changes here: the folder of the session is not on its machine');
  if (view === 'turn') return turnUri(state, lastTurnWithCalls(state));
  const entry = entryOf(state, view);
  if (entry) return entry.uriTemplate;
  throw new UsageError(
    view === 'uncommitted' ? 'the folder is in no Git repository: nothing can be uncommitted' : 'there is no such view',
  );
}

/** The entry of the catalogue, with its sums; that of single turns has none. */
export function entryOf({ summary: { changesets = [] } }: SessionState, view: ViewName): ChangesetSummary | undefined {
  return changesets.find(({ uriTemplate }) => uriTemplate.endsWith(`/${view}`));
}

export function turnUri({ summary: { changesets = [] } }: SessionState, turnId: string | undefined): string {
  if (turnId === undefined) throw new UsageError('no turn has used a tool so far, so none has changed anything');
  const template = changesets.find(({ uriTemplate }) => /^[^{]*\{turnId\}$/.test(uriTemplate))?.uriTemplate;
  if (template === undefined) throw new UsageError('the host does not tell turns apart');
  return template.replace('{turnId}', encodeURIComponent(turnId));
}

function lastTurnWithCalls({ turns, activeTurn }: SessionState): string | undefined {
  const all = activeTurn ? [...turns, activeTurn] : turns;
  return all.findLast((turn) => callsIn(turn).length > 0)?.id;
}
