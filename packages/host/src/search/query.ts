/**
 * What a person asks for: words, `"phrases"`, `beginnings*`, excluded `-words`, and filters such as `agent:claude` or
 * `since:7d`, in the text or as members of the request.
 */
import path from 'node:path';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { TextQuery } from '@atrium/core/log/text-index.js';
import { ErrorCode, type Phrase, phraseOf, ROOT_CHANNEL } from '@atrium/protocol/ahp-1';

export const QUERY_MAX_CHARACTERS = 1_000;
/** Words and phrases of one query. */
export const QUERY_TERMS_MAX = 32;
/** A shorter beginning matches so many words that looking them all up takes too long, so it counts as a whole word. */
export const BEGINNING_MIN_CHARACTERS = 3;
export const PAGE_DEFAULT = 20;
export const PAGE_MAX = 100;

export const SESSION_STATES = ['idle', 'working', 'waiting', 'failed', 'unread', 'archived', 'pinned'] as const;
export type SearchedState = (typeof SESSION_STATES)[number];

/** Conditions on the sessions themselves, which the index does not know. */
export interface SessionFilter {
  /** A path, or a part of one. */
  readonly folder?: string | undefined;
  readonly agent?: string | undefined;
  readonly state?: SearchedState | undefined;
  /** Only this session, or this chat. The root channel stands for all. */
  readonly channel?: string | undefined;
}

export interface SearchQuery extends Omit<TextQuery, 'channels'> {
  readonly filter: SessionFilter;
}

type Params = Readonly<Record<string, unknown>>;

const FILTERS = ['folder', 'agent', 'model', 'file', 'state', 'since', 'until'] as const;
type FilterName = (typeof FILTERS)[number];

/** A filter, a phrase in quotes, or a word; each may follow a minus. */
const PIECE = new RegExp(`(-?)(?:(${FILTERS.join('|')}):(?:"([^"]*)"|(\\S+))|"([^"]*)"?|([^\\s"]+))`, 'giu');

/** Throws an error that says what is wrong with the request. */
export function readQuery(params: Params, now: number): SearchQuery {
  const text = stringIn(params, 'query') ?? '';
  if (text.length > QUERY_MAX_CHARACTERS) throw invalid(`/query may have at most ${QUERY_MAX_CHARACTERS} characters`);
  const filters: Partial<Record<FilterName, string>> = {};
  for (const name of FILTERS) {
    const value = stringIn(params, name);
    if (value !== undefined && value !== '') filters[name] = value;
  }
  const [all, none]: [Phrase[], Phrase[]] = [[], []];
  for (const [, minus, name, quoted, plain, phrase, word] of text.matchAll(PIECE)) {
    if (name !== undefined) {
      filters[name.toLowerCase() as FilterName] = quoted ?? plain ?? '';
      continue;
    }
    const term = termOf(phrase ?? word ?? '');
    if (term) (minus === '' ? all : none).push(term);
  }
  if (all.length + none.length > QUERY_TERMS_MAX) throw invalid(`/query may have at most ${QUERY_TERMS_MAX} words`);
  const { file, model, since, until, folder, agent, state } = filters;
  const channel = stringIn(params, 'channel');
  return {
    ...{ all, none, limit: limitIn(params), behind: cursorIn(params) },
    ...(file !== undefined && { file: phraseOf(file) }),
    ...(model !== undefined && { model: phraseOf(model) }),
    ...(since !== undefined && { since: timeOf('since', since, now) }),
    ...(until !== undefined && { until: timeOf('until', until, now) }),
    filter: {
      agent,
      folder: folder && trimmed(folder),
      state: stateOf(state),
      ...(channel !== ROOT_CHANNEL && { channel }),
    },
  };
}

function termOf(text: string): Phrase | undefined {
  const term = phraseOf(text);
  const isPrefix = text.endsWith('*') && (term?.words.at(-1)?.length ?? 0) >= BEGINNING_MIN_CHARACTERS;
  return term && { ...term, isPrefix };
}

/** Whether the query asks for anything at all; an empty field finds nothing. */
export function asksForSomething({ all, none, file, model, since, until, filter }: SearchQuery): boolean {
  const { folder, agent, state } = filter;
  return all.length + none.length > 0 || [file, model, since, until, folder, agent, state].some((x) => x !== undefined);
}

function stringIn(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(`/${name} must be a text`);
  return value;
}

function limitIn({ limit }: Params): number {
  if (limit === undefined) return PAGE_DEFAULT;
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1)
    throw invalid('/limit must be a positive number');
  return Math.min(limit, PAGE_MAX);
}

function cursorIn(params: Params): string | undefined {
  const cursor = stringIn(params, 'cursor');
  if (cursor !== undefined && cursor.length > QUERY_MAX_CHARACTERS) throw invalid('/cursor is not one of ours');
  return cursor;
}

function stateOf(text: string | undefined): SearchedState | undefined {
  const state = SESSION_STATES.find((each) => each === text?.toLowerCase());
  if (text !== undefined && !state) throw invalid(`state: "${text}" is not one of ${SESSION_STATES.join(', ')}`);
  return state;
}

const trimmed = (folder: string) => (folder.length > 1 ? folder.replace(/[\\/]+$/, '') : folder);

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Accepts `2026-03-01`, a whole timestamp, or a time span before now: `30m`, `12h`, `7d`, `2w`. */
function timeOf(name: string, text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/i.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS_MS[unit.toLowerCase()] ?? 0);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  // Days begin in the time zone of the host.
  const time = Date.parse(isDay ? `${text}T00:00:00` : text);
  if (Number.isNaN(time)) throw invalid(`${name}: write a day like 2026-03-01, or 12h, 7d, 2w; not "${text}"`);
  return time;
}

/** Whether a folder is the wanted one or inside it; a relative name matches every folder whose path contains it. */
export function isInFolder(folder: string, wanted: string): boolean {
  if (!path.isAbsolute(wanted)) return folder.toLowerCase().includes(wanted.toLowerCase());
  return folder === wanted || folder.startsWith(wanted.endsWith(path.sep) ? wanted : wanted + path.sep);
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, `atrium/search: ${message}`);
}
