/**
 * A session from elsewhere, such as a file: its turns arrive in pages that fit into messages, and then its state. The
 * host checks all of it, and permissions given elsewhere do not count here.
 */
import {
  type AnnotationsState,
  annotationsReducer,
  type ChatSummary,
  channelKind,
  defaultChatUri,
  ErrorCode,
  isReservedChatUri,
  type ResponsePart,
  SessionStatus,
  type SessionSummary,
  sideContextUri,
  type ToolCallState,
  type Turn,
} from '@atrium/protocol/ahp-1';
import {
  type Checked,
  checkAction,
  checkClientRequestResult,
  describeProblem,
} from '@atrium/protocol/ahp-1/validation';
import { checkClientRequestResult as checkOlderResult } from '@atrium/protocol/validation';
import { RequestError } from '../contracts/request-error.js';
import type { ArchivedTurn } from '../log/log.js';
import { shorten } from '../util/text.js';
import { annotationsRefusal, NO_ANNOTATIONS } from './annotations.js';
import type { FirstState } from './creation.js';
import {
  CHAT_URI_MAX_CHARACTERS,
  CHOICE_MAX_CHARACTERS,
  SESSION_CHATS_MAX,
  SUMMARY_MAX_CHARACTERS,
  TITLE_MAX_CHARACTERS,
} from './limits.js';
import { summaryUp, turnUp } from './upcast.js';

/** More turns than any real session has. */
export const IMPORT_MAX_TURNS = 100_000;

export interface ImportPage {
  readonly channel: string;
  /** The index of the page's first turn; all earlier turns have been imported. */
  readonly start: number;
  readonly turns: readonly ArchivedTurn[];
  /** The session's summary, with the last page, which makes the session. */
  readonly summary: SessionSummary | undefined;
  /** The chat of the turns; absent for the default one, whose turns come first. */
  readonly chat?: string | undefined;
  /** The turns are what the agent of this side chat knows from the start, not turns of the chat. */
  readonly isContext?: boolean;
  /** The session's annotations, also with the last page. */
  readonly annotations?: AnnotationsState | undefined;
  /** The session's further chats, also with the last page. Their turns have been imported already. */
  readonly chats?: readonly ChatSummary[] | undefined;
}

/** Reads a page; undefined while a large turn is not complete. `sender` identifies who sends its pieces. */
export function readImportPage(params: Readonly<Record<string, unknown>>, sender: object): ImportPage | undefined {
  const { channel, chat, context, start, state } = params;
  if (typeof channel !== 'string') throw invalid('/channel must be a string');
  if (chat !== undefined) checkChat(chat);
  if (context !== undefined && (typeof context !== 'boolean' || chat === undefined))
    throw invalid('/context must be true or false, beside a /chat');
  const isContext = context === true;
  if (typeof start !== 'number' || !Number.isInteger(start) || start < 0 || start > IMPORT_MAX_TURNS)
    throw invalid(`/start must be a whole number up to ${IMPORT_MAX_TURNS}`);
  const turns =
    params.piece === undefined
      ? params.turns
      : readPiece(params.piece, {
          channel: storedAt({ channel, chat: chat as string | undefined, isContext }),
          start,
          sender,
        });
  if (params.piece !== undefined && turns === undefined) return undefined;
  const further = chat !== undefined && { chat: String(chat), ...(isContext && { isContext }) };
  const page = { channel, start, turns: readTurns(turns), ...further };
  if (state === undefined) return { ...page, summary: undefined };
  const summary = readSummary(state);
  return { ...page, summary, annotations: readAnnotations(state, channel), chats: readChats(state, channel) };
}

/** The channel under which the turns of a page are stored. */
export function storedAt({ channel, chat, isContext }: Pick<ImportPage, 'channel' | 'chat' | 'isContext'>): string {
  if (chat === undefined) return defaultChatUri(channel);
  return isContext ? sideContextUri(chat) : chat;
}

function checkChat(chat: unknown): void {
  const isUsable = typeof chat === 'string' && channelKind(chat) === 'chat' && !isReservedChatUri(chat);
  if (!isUsable || chat.length > CHAT_URI_MAX_CHARACTERS)
    throw invalid('/chat must be the URI of a chat: ahp-chat:/<id>');
}

/** Reads the further chats. A worker ends with its call, and nothing waits any more, so only their past is imported. */
function readChats(given: unknown, session: string): ChatSummary[] {
  const { chats = [] } = given as { readonly chats?: unknown };
  if (!Array.isArray(chats) || chats.length >= SESSION_CHATS_MAX)
    throw invalid(`/state/chats must be a list of fewer than ${SESSION_CHATS_MAX}`);
  const known = new Set([defaultChatUri(session)]);
  return chats.map((summary: unknown) => {
    const checked = valid(checkAction({ type: 'session/chatAdded', summary }), '/state/chats') as {
      summary: ChatSummary;
    };
    const { resource, title, origin, interactivity, modifiedAt } = checked.summary;
    checkChat(resource);
    if (JSON.stringify(origin ?? {}).length > CHOICE_MAX_CHARACTERS)
      throw invalid(`/state/chats: an origin may have at most ${CHOICE_MAX_CHARACTERS} characters as JSON`);
    if (known.has(resource)) throw invalid(`/state/chats: ${resource} occurs twice`);
    known.add(resource);
    return {
      ...{
        resource,
        title: shorten(title, TITLE_MAX_CHARACTERS),
        status: SessionStatus.Idle,
        modifiedAt: dated(modifiedAt),
      },
      ...(origin && { origin }),
      ...(interactivity && { interactivity }),
      ...(origin?.kind === 'tool' && { interactivity: 'read-only' as const }),
    };
  });
}

/**
 * Reads annotations one by one, with the checks for clients. They belong to the new session, and to no chat or turn of
 * the old one.
 */
function readAnnotations(given: unknown, session: string): AnnotationsState | undefined {
  const { annotations } = given as { readonly annotations?: unknown };
  if (annotations === undefined) return undefined;
  if (!Array.isArray(annotations)) throw invalid('/state/annotations must be a list');
  return annotations.reduce((state: AnnotationsState, annotation: object) => {
    const action = { type: 'annotations/set', annotation: { ...annotation, origin: { session } } };
    const checked = valid(checkAction(action), '/state/annotations');
    const reason = annotationsRefusal(checked, { state, session, isChat: () => false });
    if (reason !== undefined) throw invalid(`/state/annotations: ${reason}`);
    return annotationsReducer(state, checked);
  }, NO_ANNOTATIONS);
}

function readPiece(piece: unknown, place: { channel: string; start: number; sender: object }): unknown[] | undefined {
  const { at, text, isLast } = (piece ?? {}) as Partial<Record<'at' | 'text' | 'isLast', unknown>>;
  if (typeof at !== 'number' || typeof text !== 'string' || typeof isLast !== 'boolean')
    throw invalid('/piece must have a number at, a string text and a boolean isLast');
  const { channel, start, sender } = place;
  const { json, problem } = gathered(sender, { channel, start, at, text, isLast });
  if (problem !== undefined) throw invalid(`/piece ${problem}`);
  if (json === undefined) return undefined;
  try {
    return [JSON.parse(json)];
  } catch {
    throw invalid('/piece: the pieces together must be the JSON of a turn');
  }
}

function readTurns(turns: unknown): ArchivedTurn[] {
  const checked = isList(turns, 'message') ? turnsOfModel(turns) : turnsOfOlderModel(turns);
  if (new Set(checked.map(({ id }) => id)).size < checked.length) throw invalid('/turns must have different ids');
  return checked.map((turn) => ({ id: turn.id, json: JSON.stringify(withoutReferences(turn)) }));
}

/**
 * Replaces references to tool input by text. A reference would name a content of another host, or a file of this
 * machine that nobody chose.
 */
function withoutReferences(turn: Turn): Turn {
  const responseParts = turn.responseParts.map((part): ResponsePart => {
    if (part.kind !== 'toolCall' || !('toolInput' in part.toolCall)) return part;
    const { toolInput, ...toolCall } = part.toolCall;
    return typeof toolInput === 'object' ? { ...part, toolCall: toolCall as ToolCallState } : part;
  });
  return { ...turn, responseParts };
}

function isList(items: unknown, member: string): boolean {
  return Array.isArray(items) && items.some((item) => typeof item === 'object' && item !== null && member in item);
}

function turnsOfModel(turns: unknown): Turn[] {
  // Turns in our model, checked as an action that carries turns.
  return (valid(checkAction({ type: 'chat/turnsLoaded', turns }), '') as { turns: Turn[] }).turns;
}

/** Turns exported by hosts before 1.0. */
function turnsOfOlderModel(turns: unknown): Turn[] {
  return valid(checkOlderResult('fetchTurns', { turns, hasMore: false }), '').turns.map(turnUp);
}

function readSummary(state: unknown): SessionSummary {
  const summary = typeof state === 'object' && state !== null && 'summary' in state ? state.summary : undefined;
  const isOfModel = typeof (summary as Partial<SessionSummary> | undefined)?.createdAt === 'string';
  const checked = isOfModel ? summaryOfModel(summary) : summaryOfOlderModel(summary);
  if (!checked) throw invalid('/state/summary must be a summary');
  if (JSON.stringify(checked).length > SUMMARY_MAX_CHARACTERS)
    throw invalid(`/state/summary may have at most ${SUMMARY_MAX_CHARACTERS} characters`);
  return { ...checked, createdAt: dated(checked.createdAt), modifiedAt: dated(checked.modifiedAt) };
}

/** A date in the one form that is stored: lists are sorted by the text of their dates. */
function dated(text: string): string {
  const time = new Date(text);
  const year = time.getUTCFullYear();
  if (year >= 0 && year <= 9_999) return time.toISOString();
  throw invalid('/state/summary: createdAt and modifiedAt must be dates');
}

function summaryOfModel(summary: unknown): SessionSummary | undefined {
  return valid(checkClientRequestResult('listSessions', { items: [summary] }), '/state/summary').items[0];
}

function summaryOfOlderModel(summary: unknown): SessionSummary | undefined {
  const [checked] = valid(checkOlderResult('listSessions', { items: [summary] }), '/state/summary').items;
  return checked && summaryUp(checked);
}

function valid<T>(checked: Checked<T>, place: string): T {
  if (checked.ok) return checked.value;
  throw invalid(`${place}${place === '' ? '' : ': '}${describeProblem(checked.problem)}`);
}

export function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, `atrium/importSession: ${message}`);
}

/**
 * A new session with the past of an old one: its title, its dates, and where it comes from. No date is later than now.
 */
export function withPast(state: FirstState, { title, _meta, ...past }: SessionSummary): FirstState {
  const createdAt = earlier(past.createdAt, state.summary.createdAt);
  const modifiedAt = earlier(past.modifiedAt, state.summary.modifiedAt);
  const source = sourceOf(_meta);
  const marked = source && { _meta: { ...state.session._meta, [IMPORTED_FROM]: source } };
  return {
    session: { ...state.session, title, ...marked },
    chat: { ...state.chat, modifiedAt },
    summary: { ...state.summary, title, createdAt, modifiedAt, ...marked },
  };
}

/** Member of a session's `_meta` that shows people in which program it was started. */
export const IMPORTED_FROM = 'atrium/importedFrom';

function sourceOf(meta: SessionSummary['_meta']): Record<string, string> | undefined {
  const { program, name, id } = (meta?.[IMPORTED_FROM] ?? {}) as Record<string, unknown>;
  const isText = (text: unknown): text is string => typeof text === 'string' && text.length <= SOURCE_MAX_CHARACTERS;
  return isText(program) && isText(name) && isText(id) ? { program, name, id } : undefined;
}

const SOURCE_MAX_CHARACTERS = 200;

function earlier(time: string, other: string): string {
  return time < other ? time : other;
}

/** No conversation makes a larger turn. */
export const IMPORT_TURN_MAX_CHARACTERS = 64 * 2 ** 20;

export interface TurnPiece {
  readonly channel: string;
  /** The index of the turn. */
  readonly start: number;
  /** How many of its characters came before. */
  readonly at: number;
  readonly text: string;
  readonly isLast: boolean;
}

interface Unfinished {
  readonly channel: string;
  readonly start: number;
  readonly texts: string[];
  length: number;
}

const unfinished = new WeakMap<object, Unfinished>();

/** Collects pieces. Returns the whole text with the last piece, and a problem when a piece does not fit. */
export function gathered(sender: object, piece: TurnPiece): { readonly json?: string; readonly problem?: string } {
  const { channel, start, at, text, isLast } = piece;
  const known = at === 0 ? { channel, start, texts: [], length: 0 } : unfinished.get(sender);
  unfinished.delete(sender);
  if (!known || known.channel !== channel || known.start !== start || known.length !== at)
    return { problem: 'must follow the piece before it: begin it again with /at 0' };
  if (at + text.length > IMPORT_TURN_MAX_CHARACTERS)
    return { problem: `belongs to a turn of more than ${IMPORT_TURN_MAX_CHARACTERS} characters` };
  known.texts.push(text);
  known.length += text.length;
  if (isLast) return { json: known.texts.join('') };
  unfinished.set(sender, known);
  return {};
}
