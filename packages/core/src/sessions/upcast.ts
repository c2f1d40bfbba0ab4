/**
 * Converts what a host with the 0.3.0 model stored of a session. That model had one channel for a session and its
 * conversation; here the conversation is on the channel of the default chat. A log calls this once, when it opens such
 * a host's data.
 */
import type * as Stored from '@atrium/protocol';
import { rootReducer, sessionReducer } from '@atrium/protocol';
import { defaultChatUri, SELECTION_CHANGED, type SessionSummary } from '@atrium/protocol/ahp-1';
import { rootUp, sessionUp, turnUp } from '@atrium/protocol/dialects';
import type { ArchivedTurn } from '../log/log.js';
import { isRecord } from '../util/shape.js';
import { headText } from './history.js';
import type { CatalogueEntry } from './listed-session.js';
import { DAMAGED } from './recovery.js';
import { summaryOf } from './session-summary.js';

/** A listed session of such a host. */
interface StoredListing extends Pick<Stored.SessionState, 'summary' | 'lifecycle'> {
  readonly disposedAt?: number;
}

/** An action after the archive of a session. */
export interface StoredStep {
  /** JSON; empty when it is damaged. */
  readonly action: string;
  readonly time: number;
  readonly isDamaged?: true;
}

export interface StoredSession {
  readonly uri: string;
  /** The session's record in the list, as JSON. */
  readonly listing: string | undefined;
  /** The archived state as JSON; undefined when the log has none, or cannot read it. */
  readonly head: string | undefined;
  /**
   * The log has an archive, but its state cannot be read. Without an archive, the log has all actions that are left.
   */
  readonly isHeadDamaged: boolean;
  /** How many turns are archived. */
  readonly turnCount: number;
  /** Reads the steps after the archive. */
  steps(): Iterable<StoredStep>;
  /** The index of an archived turn. */
  indexOfTurn(turnId: string): number | undefined;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

export interface UpcastSession {
  readonly chat: string;
  readonly sessionHead: string;
  readonly chatHead: string;
  /** How many of the archived turns stay. */
  readonly keptTurns: number;
  /** The turns after those. */
  readonly turns: readonly ArchivedTurn[];
  readonly listing: string;
}

/**
 * Actions that end a turn. An archive is written at the end of a turn, so it never includes what follows the last end.
 */
const ENDS: ReadonlySet<string> = new Set([
  'session/turnComplete',
  'session/turnCancelled',
  'session/error',
  'session/truncated',
]);

/** Converts a session; undefined when nothing is left of it except perhaps turns. */
export function upcastSession(stored: StoredSession): UpcastSession | undefined {
  const listed = listingOf(stored);
  const first = firstState(stored, listed);
  if (!first) return undefined;
  const { state, keptTurns } = replayed(stored, first);
  const chat = defaultChatUri(stored.uri);
  const up = sessionUp(state, chat);
  const { resource, createdAt, modifiedAt } = up.summary;
  const summary = summaryOf(up.session, [up.chat], { resource, createdAt, modifiedAt });
  const disposed = listed?.disposedAt !== undefined && { disposedAt: listed.disposedAt };
  const listing: CatalogueEntry = { summary, lifecycle: up.session.lifecycle, ...disposed };
  return {
    chat,
    sessionHead: JSON.stringify(up.session),
    chatHead: headText(up.chat),
    keptTurns,
    turns: up.chat.turns.map((turn) => ({ id: turn.id, json: JSON.stringify(turn) })),
    listing: JSON.stringify(listing),
  };
}

function listingOf({ listing }: StoredSession): StoredListing | undefined {
  const value: unknown = listing === undefined ? undefined : JSON.parse(listing);
  const isWhole = isRecord(value) && isRecord(value.summary) && typeof value.summary.resource === 'string';
  return isWhole ? (value as unknown as StoredListing) : undefined;
}

/** The archived state without its turns; if that is lost, what the list has. */
function firstState({ head }: StoredSession, listed: StoredListing | undefined): Stored.SessionState | undefined {
  const archived = head === undefined ? undefined : (JSON.parse(head) as Stored.SessionState);
  // The turns of an unfinished import have an empty head.
  const state = (archived as Partial<Stored.SessionState> | undefined)?.summary ? archived : listed;
  if (!state) return undefined;
  const { disposedAt, ...rest } = state as StoredListing;
  return { ...rest, turns: [] };
}

/** The state after everything stored since the archive. Its turns are only those that no archive has. */
function replayed(stored: StoredSession, first: Stored.SessionState) {
  let state = first;
  let keptTurns = stored.turnCount;
  let isDamaged = stored.isHeadDamaged;
  const isMissing = stored.head === undefined && !stored.isHeadDamaged;
  for (const { action: text, time, ...step } of stored.steps()) {
    if (step.isDamaged) {
      isDamaged = true;
      continue;
    }
    const action = JSON.parse(text) as Stored.StateAction;
    if (isMissing && ENDS.has(action.type)) {
      state = first;
      isDamaged = false;
      continue;
    }
    const index = action.type === 'session/truncated' ? cutAt(stored, state, action.turnId ?? undefined) : undefined;
    if (index === undefined) state = sessionReducer(state, action, { now: time });
    else {
      keptTurns = Math.min(keptTurns, index);
      state = { ...sessionReducer(state, { type: action.type }, { now: time }), turns: [] };
    }
  }
  const { activeTurn } = state;
  if (isDamaged && activeTurn) {
    const action = { type: 'session/error', turnId: activeTurn.id, error: DAMAGED } as const;
    state = sessionReducer(state, action, { now: stored.now });
  }
  return { state, keptTurns };
}

/** How many archived turns a cut leaves; undefined when it touches none of them. */
function cutAt(stored: StoredSession, state: Stored.SessionState, turnId: string | undefined): number | undefined {
  if (turnId === undefined) return 0;
  if (state.turns.some(({ id }) => id === turnId)) return undefined;
  const index = stored.indexOfTurn(turnId);
  return index === undefined ? undefined : index + 1;
}

/** The summary of a session, with nothing but what lists show. */
export function summaryUp(summary: Stored.SessionSummary): SessionSummary {
  const chat = defaultChatUri(summary.resource);
  const up = sessionUp({ summary, lifecycle: 'ready', turns: [] }, chat);
  const { resource, createdAt, modifiedAt } = up.summary;
  return summaryOf(up.session, [up.chat], { resource, createdAt, modifiedAt });
}

export { turnUp };

/** Converts a finished turn, as JSON. The placeholder for a damaged turn already has the new form. */
export function upcastTurn(json: string): string {
  const turn = JSON.parse(json) as Stored.Turn;
  return (turn as Partial<Stored.Turn>).userMessage ? JSON.stringify(turnUp(turn)) : json;
}

/** The state of the root channel after the actions that followed it, as JSON. */
export function upcastRoot(json: string, actions: readonly string[]): string {
  const state = actions.reduce(
    (current, action) => rootReducer(current, JSON.parse(action), { now: 0 }),
    JSON.parse(json) as Stored.RootState,
  );
  return JSON.stringify(rootUp(state, defaultChatUri));
}

/** Converts the actions that wait for the end of a turn, as JSON. */
export function upcastDeferred(json: string): string {
  const deferred = JSON.parse(json) as { readonly action: Stored.StateAction; readonly origin: unknown }[];
  return JSON.stringify(
    deferred.flatMap(({ action, origin }) => {
      const selection = selectionUp(action);
      return selection ? { action: { type: SELECTION_CHANGED, ...selection }, origin } : [];
    }),
  );
}

/** The choice of a model or an agent: the only actions that wait for the end of a turn. */
function selectionUp(action: Stored.StateAction) {
  if (action.type === 'session/modelChanged') return { model: action.model };
  return action.type === 'session/agentChanged' ? { agent: action.agent ?? null } : undefined;
}
