/** The chats of a session: their order, what each is doing, and which of them wait for a person. */
import {
  ACTIVITY_MASK,
  type ChatOrigin,
  type ChatSummary,
  isStanding,
  type SessionInputRequest,
  type SessionState,
  SessionStatus,
} from '@atrium/protocol/ahp-1';
import { NoSessionError, UsageError } from '../exit.js';
import { printable } from '../text/printable.js';
import { activityOf } from './summary-text.js';
import { plain } from './turn-text.js';

export interface ChatRow {
  readonly chat: ChatSummary;
  /** How many calls are between it and a chat of people: a worker is nested below the chat whose tool opened it. */
  readonly depth: number;
  readonly isDefault: boolean;
  /** The request that waits, in words; undefined if none does. */
  readonly asks: string | undefined;
}

/** The default chat first, then the others as the host lists them; each with its workers below it. */
export function chatTree(session: SessionState): ChatRow[] {
  const shown = session.chats.filter(({ interactivity }) => interactivity !== 'hidden');
  const known = new Set(shown.map(({ resource }) => resource));
  const parentOf = ({ resource, origin }: ChatSummary) => {
    const parent = workerParent(origin);
    return parent !== undefined && parent !== resource && known.has(parent) ? parent : undefined;
  };
  const rows: ChatRow[] = [];
  const listed = new Set<string>();
  const list = (chat: ChatSummary, depth: number): void => {
    if (listed.has(chat.resource)) return;
    listed.add(chat.resource);
    const isDefault = chat.resource === session.defaultChat;
    rows.push({ chat, depth, isDefault, asks: asksOf(session, chat) });
    for (const each of shown) if (parentOf(each) === chat.resource) list(each, depth + 1);
  };
  const tops = shown.filter((chat) => parentOf(chat) === undefined);
  for (const chat of tops.filter(({ resource }) => resource === session.defaultChat)) list(chat, 0);
  for (const chat of tops) list(chat, 0);
  // Two chats that name each other as their origin have no top.
  for (const chat of shown) list(chat, 0);
  return rows;
}

/** The chat whose tool opened it; undefined for chats of people. */
export function workerParent(origin: ChatOrigin | undefined): string | undefined {
  return origin?.kind === 'tool' && 'chat' in origin ? String(origin.chat) : undefined;
}

/** The chat that this one came from: it branched off there, or a tool there opened it. */
export function originChat(origin: ChatOrigin | undefined): string | undefined {
  return origin && 'chat' in origin ? String(origin.chat) : undefined;
}

const KINDS: Readonly<Record<string, string>> = { fork: 'fork', sideChat: 'side chat', tool: 'worker' };

export function kindWord({ chat, isDefault }: Pick<ChatRow, 'chat' | 'isDefault'>): string {
  return isDefault ? 'main' : (KINDS[chat.origin?.kind ?? ''] ?? 'chat');
}

/** The default chat goes by the name of its session. */
export function chatName(session: Pick<SessionState, 'title' | 'defaultChat'>, chat: ChatSummary): string {
  const own = chat.title || (chat.resource === session.defaultChat ? session.title : '');
  return printable(own) || 'without a title';
}

/** The chat's request to a person. Questions about the session, such as trust, appear in every chat. */
function asksOf({ inputNeeded = [] }: SessionState, { resource, status }: ChatSummary): string | undefined {
  const entry = inputNeeded.find((each) => each.chat === resource && !isStanding(each) && isForPeople(each));
  if (entry) return questionOf(entry);
  // Not every host lists the requests that wait, but all say that one does.
  const isWaiting = inputNeeded.length === 0 && (status & ACTIVITY_MASK) === SessionStatus.InputNeeded;
  return isWaiting ? 'it asks you' : undefined;
}

function isForPeople({ kind }: SessionInputRequest): boolean {
  return kind !== 'toolClientExecution';
}

function questionOf(entry: SessionInputRequest): string {
  if (entry.kind === 'chatInput')
    return printable(entry.request.message ?? entry.request.questions?.[0]?.message ?? '');
  if (entry.kind === 'toolConfirmation') {
    const { toolCall } = entry;
    const title = 'confirmationTitle' in toolCall ? plain(toolCall.confirmationTitle) : '';
    return printable(title || plain(toolCall.invocationMessage) || toolCall.displayName);
  }
  return entry.kind === 'toolAuthentication' ? `${printable(entry.toolCall.displayName)} needs you to sign in` : '';
}

/** The state in a word or two. A worker has one task: when it rests, the task is done. */
export function chatState({ chat, asks }: ChatRow): string {
  if (asks !== undefined) return 'asks you';
  const activity = activityOf(chat);
  return activity === 'idle' && chat.origin?.kind === 'tool' ? 'done' : activity;
}

/** Finds a chat by its number in the list, its URI, or a part of its title. */
export function findChat(session: SessionState, reference: string): ChatSummary {
  const rows = chatTree(session);
  const numbered = /^\d{1,4}$/.test(reference) ? rows[Number(reference) - 1] : undefined;
  const exact = numbered ?? rows.find(({ chat }) => chat.resource === reference);
  if (exact) return exact.chat;
  const wanted = reference.toLowerCase();
  const [first, ...more] = rows.filter(({ chat }) => chatName(session, chat).toLowerCase().includes(wanted));
  if (first && more.length > 0) throw new UsageError(`${more.length + 1} chats fit "${reference}": use the number`);
  if (!first) throw new NoSessionError(`there is no chat "${reference}" in this session`, 'atrium chats <session>');
  return first.chat;
}
