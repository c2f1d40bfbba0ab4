/**
 * A session that begins as a copy of another one at a turn of its default chat. It gets the turns up to that one, and
 * the other chats, unless they belong to a turn that is not copied. The copied chats get new URIs, and references to
 * them are rewritten. Nothing of it is listed before the session is.
 */
import {
  type ChatOrigin,
  type ChatSummary,
  chatUriInCopy,
  defaultChatUri,
  ErrorCode,
  SessionStatus,
  sideContextUri,
} from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import { RequestError } from '../contracts/request-error.js';
import type { ArchivedTurn, Log } from '../log/log.js';
import { nextSlice } from '../util/slices.js';
import type { Chat } from './chat.js';
import type { ChatIndex } from './chat-index.js';
import { COPY_BYTES, copyHistory } from './history.js';
import { CHAT_URI_MAX_CHARACTERS } from './limits.js';
import type { Session } from './session.js';

export interface ForkOptions {
  readonly log: Log;
  readonly writer: Writer;
  readonly chats: ChatIndex;
}

export interface Fork {
  /** The session to copy, with its finished turns archived. */
  readonly source: Session;
  /** The URI of the new session. */
  readonly to: string;
  /** How many turns of the default chat are copied. */
  readonly end: number;
  /** The folders of the new session; undefined when its agent allows only one chat. */
  readonly folders: readonly string[] | undefined;
}

/** New URIs by those in the source. */
type NewNames = ReadonlyMap<string, string>;

/** Copies what a fork begins with, and returns its further chats. */
export async function copyForFork(options: ForkOptions, fork: Fork): Promise<ChatSummary[]> {
  const { source, to, end, folders } = fork;
  const chats = folders ? await chatsToCopy(options.log, fork) : [];
  const names = namesFor(options.chats, fork, chats);
  for (const chat of chats) options.chats.reserve(newName(names, chat.uri), to);
  await copyTurns(options, { from: source.chat.uri, to: defaultChatUri(to), end }, names);
  for (const chat of chats) await copyChat(options, chat, names);
  return chats.map((chat) => summaryInFork(chat, names, folders ?? []));
}

/** The chats to copy: all but those that belong to a turn or a call that is not copied. */
async function chatsToCopy(log: Log, { source, end }: Fork): Promise<Chat[]> {
  const kept = new Set([source.chat]);
  const endOf = (chat: Chat) => (chat === source.chat ? end : chat.turnCount());
  const workers = source.chats.flatMap(({ state: { origin } }) => (origin?.kind === 'tool' ? originOf(origin) : []));
  const calls = new Map<Chat, Promise<ReadonlySet<string>>>();
  const callsOf = (chat: Chat) => {
    const ids = workers.filter(({ chat: parent }) => parent === chat.uri).map(({ toolCallId = '' }) => toolCallId);
    const found = calls.get(chat) ?? callsIn(log, { channel: chat.uri, end: endOf(chat), ids });
    calls.set(chat, found);
    return found;
  };
  const belongs = async ({ state: { origin } }: Chat): Promise<boolean> => {
    const { chat: uri, turnId, toolCallId } = originOf(origin);
    const parent = uri === undefined ? undefined : source.chatAt(uri);
    if (!parent) return origin?.kind !== 'tool';
    if (!kept.has(parent)) return false;
    if (toolCallId !== undefined) return (await callsOf(parent)).has(toolCallId);
    if (turnId === undefined) return true;
    // A turn that was cut off since is copied to neither side.
    return parent.state.activeTurn?.id !== turnId && ((await parent.indexOfTurn(turnId)) ?? 0) < endOf(parent);
  };
  for (let before = 0; before < kept.size; ) {
    before = kept.size;
    for (const chat of source.chats) if (!kept.has(chat) && (await belongs(chat))) kept.add(chat);
  }
  return source.chats.filter((chat) => chat !== source.chat && kept.has(chat));
}

interface Origin {
  readonly chat?: string;
  readonly turnId?: string;
  readonly toolCallId?: string;
}

const originOf = (origin: ChatOrigin | undefined): Origin => (origin ?? {}) as Origin;

/** Which of these calls are in the first turns of a channel. */
async function callsIn(
  log: Log,
  { channel, end, ids }: { readonly channel: string; readonly end: number; readonly ids: readonly string[] },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let start = 0; start < end && found.size < ids.length; ) {
    const page = await log.archivedTurns(channel, { start, end, maxBytes: COPY_BYTES });
    if (page.length === 0) break;
    for (const { json } of page)
      for (const id of ids) if (json.includes(`"toolCallId":${JSON.stringify(id)}`)) found.add(id);
    start += page.length;
    await nextSlice();
  }
  return found;
}

function namesFor(index: ChatIndex, { source, to }: Fork, chats: readonly Chat[]): NewNames {
  if (chats.length === 0) return new Map();
  const names = chats.map(({ uri }): [string, string] => {
    const derived = chatUriInCopy(uri, source.uri, to);
    const isFree = derived !== undefined && derived.length <= CHAT_URI_MAX_CHARACTERS && !index.has(derived);
    return [uri, isFree ? derived : `ahp-chat:/${crypto.randomUUID()}`];
  });
  return new Map([[source.chat.uri, defaultChatUri(to)], ...names]);
}

function newName(names: NewNames, uri: string): string {
  return names.get(uri) ?? uri;
}

async function copyChat(options: ForkOptions, { uri, state }: Chat, names: NewNames): Promise<void> {
  const { log } = options;
  const to = newName(names, uri);
  const { turnCount: end = 0 } = (await log.archiveHead(uri)) ?? {};
  const [last] = await log.archivedTurns(uri, { start: Math.max(0, end - 1), end });
  await copyTurns(options, { from: uri, to, end }, names);
  if (last && (await log.findTurn(to, last.id)) !== end - 1)
    throw new RequestError(ErrorCode.InvalidParams, `/fork: ${uri} was cut off while it was copied: try it again`);
  if (state.origin?.kind !== 'sideChat') return;
  const [from, context] = [sideContextUri(uri), sideContextUri(to)];
  const { turnCount = 0 } = (await log.archiveHead(from)) ?? {};
  await copyHistory(log, { from, to: context, end: turnCount });
  options.writer.storeArchive(context, () => ({
    channel: context,
    head: '{}',
    turns: { start: turnCount, items: [] },
  }));
  await options.writer.settled();
}

interface Copied {
  readonly from: string;
  readonly to: string;
  readonly end: number;
}

/** Copies turns. Those that name no other chat are copied inside the log. */
async function copyTurns({ log, writer }: ForkOptions, copied: Copied, names: NewNames): Promise<void> {
  if (names.size === 0) return copyHistory(log, copied);
  const { from, to, end } = copied;
  for (let start = 0; start < end; ) {
    const page = await log.archivedTurns(from, { start, end, maxBytes: COPY_BYTES });
    if (page.length === 0) return;
    const turns = { start, items: page.map((turn) => withNewNames(turn, names)) };
    writer.storeArchive(to, () => ({ channel: to, head: '{}', turns }));
    await writer.settled();
    start += page.length;
    await nextSlice();
  }
}

/** A chat's URI inside JSON: in a text within a text, the quotes are escaped. */
const NAMED_CHAT = /"ahp-chat:[^"\\]*"/g;

function withNewNames({ id, json }: ArchivedTurn, names: NewNames): ArchivedTurn {
  return { id, json: json.replace(NAMED_CHAT, (name) => `"${newName(names, name.slice(1, -1))}"`) };
}

/** The summary of a copied chat. Nothing is running in it: a worker ends with its call. */
function summaryInFork({ uri, committed }: Chat, names: NewNames, folders: readonly string[]): ChatSummary {
  const { title, modifiedAt, origin, interactivity, workingDirectories: own } = committed;
  const source = originOf(origin).chat;
  return {
    ...{ resource: newName(names, uri), title, status: SessionStatus.Idle, modifiedAt },
    ...(origin && {
      origin: { ...origin, ...(source !== undefined && { chat: newName(names, source) }) } as ChatOrigin,
    }),
    ...(interactivity && { interactivity }),
    ...(own?.every((folder) => folders.includes(folder)) && { workingDirectories: own }),
  };
}
