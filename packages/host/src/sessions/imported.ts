/**
 * A session that comes from elsewhere, such as a file: its turns in pages that fit into messages, and at the end what it
 * was. Nothing of it is believed unchecked, and what it was allowed to do elsewhere it is not allowed here.
 */
import { ErrorCode, type SessionState, type SessionSummary, type Turn } from '@atrium/protocol';
import { type Checked, checkClientRequestResult, describeProblem } from '@atrium/protocol/validation';
import type { ArchivedTurn } from '../log/log.js';
import { RequestError } from '../wire/request-error.js';

/** A session longer than this is nobody's. */
export const IMPORT_MAX_TURNS = 100_000;

export interface ImportPage {
  readonly channel: string;
  /** The index of the first turn of the page; all before it are here already. */
  readonly start: number;
  readonly turns: readonly ArchivedTurn[];
  /** With the last page: what the session was. It exists from then on. */
  readonly summary: SessionSummary | undefined;
}

export function readImportPage(params: Readonly<Record<string, unknown>>): ImportPage {
  const { channel, start, turns, state } = params;
  if (typeof channel !== 'string') throw invalid('/channel must be a string');
  if (typeof start !== 'number' || !Number.isInteger(start) || start < 0 || start > IMPORT_MAX_TURNS)
    throw invalid(`/start must be a whole number up to ${IMPORT_MAX_TURNS}`);
  return { channel, start, turns: readTurns(turns), summary: state === undefined ? undefined : readSummary(state) };
}

function readTurns(turns: unknown): ArchivedTurn[] {
  const { turns: checked } = valid(checkClientRequestResult('fetchTurns', { turns, hasMore: false }), '');
  if (new Set(checked.map(({ id }) => id)).size < checked.length) throw invalid('/turns must have different ids');
  return checked.map((turn: Turn) => ({ id: turn.id, json: JSON.stringify(turn) }));
}

function readSummary(state: unknown): SessionSummary {
  const summary = typeof state === 'object' && state !== null && 'summary' in state ? state.summary : undefined;
  const [checked] = valid(checkClientRequestResult('listSessions', { items: [summary] }), '/state/summary').items;
  if (!checked) throw invalid('/state/summary must be a summary');
  return checked;
}

function valid<T>(checked: Checked<T>, place: string): T {
  if (checked.ok) return checked.value;
  throw invalid(`${place}${place === '' ? '' : ': '}${describeProblem(checked.problem)}`);
}

export function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, `atrium/importSession: ${message}`);
}

/** A new session that looks like the old one: its name and its dates. */
export function withPast(state: SessionState, { title, createdAt, modifiedAt }: SessionSummary): SessionState {
  return { ...state, summary: { ...state.summary, title, createdAt, modifiedAt } };
}
