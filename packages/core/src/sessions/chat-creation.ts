/**
 * Creates and removes chats beside the default one: empty ones, copies of another chat up to a turn, and side chats
 * whose agent knows another chat's history. One commit lists a chat, stores it and makes its URI known. Turns copied
 * before that commit are stored under a URI that counts as loose, so the next start forgets them if the host dies in
 * between.
 */
import { createHash } from 'node:crypto';
import {
  type ChatOrigin,
  type ChatState,
  type CreateChatParams,
  channelKind,
  chatReducer,
  ErrorCode,
  isReservedChatUri,
  type Message,
  SessionStatus,
  type SideChatSource,
  sideContextUri,
  type Turn,
} from '@atrium/protocol/ahp-1';
import { Channel } from '../channels/channel.js';
import { RequestError } from '../contracts/request-error.js';
import { shorten } from '../util/text.js';
import type { Chat } from './chat.js';
import { pinnedChats } from './chat-attachments.js';
import { chatRefusal } from './chat-rules.js';
import { forkTitle, Reserved } from './creation.js';
import { copyHistory, parsedTurns, TurnPages } from './history.js';
import {
  CHAT_URI_MAX_CHARACTERS,
  CHOICE_MAX_CHARACTERS,
  SESSION_CHATS_MAX,
  TITLE_MAX_CHARACTERS,
  TURNS_IN_MEMORY,
} from './limits.js';
import type { NewChat, Session } from './session.js';
import type { SessionsInMemory, SessionsInMemoryOptions } from './sessions.js';
import { parentOf } from './workers.js';

export interface ChatCreationOptions extends SessionsInMemoryOptions {
  readonly memory: SessionsInMemory;
}

/** The point where a new chat branches off another. */
interface Branch {
  readonly source: Chat;
  /** How many of its finished turns the new chat gets. */
  readonly turnCount: number;
  /** The running turn, if the branch includes it. */
  readonly running?: Turn;
}

export class ChatCreation {
  readonly #options: ChatCreationOptions;
  readonly #reserved = new Reserved();

  constructor(options: ChatCreationOptions) {
    this.#options = options;
  }

  /** Creates a chat under a URI that the client chose. A client that missed the answer may ask again. */
  async create(params: CreateChatParams): Promise<void> {
    const { channel, chat } = params;
    checkUri(chat);
    let session = await this.#session(channel);
    // No `await` between the last look at the URI and its reservation: two requests must not both find it free.
    while (this.#reserved.has(chat)) {
      await this.#reserved.settled(chat);
      session = await this.#session(channel);
    }
    const request = digestOf(params);
    if (this.#isRepeated(params, request)) return;
    checkAbility(session, params);
    await this.#reserved.during(chat, async () => {
      const message = await this.#checkedMessage(session, params.initialMessage);
      await this.#make(params, message, request);
    });
  }

  /** True when the same request was carried out before. */
  #isRepeated({ channel, chat }: CreateChatParams, request: string): boolean {
    const { chats } = this.#options.catalogue;
    const owner = chats.sessionUriOf(chat);
    if (owner === undefined && !chats.isUsedElsewhere(chat, channel)) return false;
    if (owner === channel && chats.requestOf(chat) === request) return true;
    throw new RequestError(ErrorCode.AlreadyExists, `${chat} is in use: choose another URI`);
  }

  async #session(uri: string): Promise<Session> {
    const session = await this.#options.memory.open(uri);
    if (!session) throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}`);
    if (session.state.lifecycle !== 'failed') return session;
    throw invalid('/channel: the session could not be created; dispose it and create another');
  }

  /** Checks the first message like any other, before anything is stored. */
  async #checkedMessage(session: Session, message: Message | undefined): Promise<Message | undefined> {
    if (!message) return undefined;
    const state = newChatState('', { title: '', origin: { kind: 'user' }, now: 0 });
    const facts = { state, session: session.state, clientId: '', agent: session.backend?.info };
    const action = { type: 'chat/turnStarted' as const, turnId: 'new', startedAt: '', message };
    const refused = chatRefusal(action, facts) ?? session.unknownModel(message.model);
    if (refused !== undefined) throw invalid(`/initialMessage: ${refused}`);
    const pinned = await pinnedChats(message, (uri) => this.#options.open(uri));
    if ('refused' in pinned) throw invalid(`/initialMessage/attachments: ${pinned.refused}`);
    return pinned.message;
  }

  async #make(params: CreateChatParams, message: Message | undefined, request: string): Promise<void> {
    const { chat: uri, source } = params;
    const { writer, catalogue, log } = this.#options;
    const branch = source && (await this.#branch(params.channel, source));
    // Turns left by an earlier attempt under this URI must not end up in the new chat.
    if (catalogue.chats.has(uri)) await this.forgetStored(uri);
    if (branch) await this.#copy(params, branch);
    const recent = source?.kind === 'fork' && branch ? branch.turnCount : 0;
    const start = Math.max(0, recent - TURNS_IN_MEMORY);
    const stored = recent > 0 ? await log.archivedTurns(uri, { start, end: recent }) : [];
    const turns = await parsedTurns(stored.map(({ json }) => json));
    // Everything from here on is one tick. While turns were copied, the session may have left memory or been disposed.
    const session = await this.#session(params.channel);
    checkRoom(session);
    const state = this.#firstState(session, params, { branch, turns });
    catalogue.chats.set(uri, session.uri, request);
    const chat = session.adopt(this.#parts(state, { base: start, archived: recent }));
    if (message) chat.start(message);
    await writer.settled();
  }

  /** Finds the source, and how much of it is copied. Throws when it does not have the turn. */
  async #branch(channel: string, source: NonNullable<CreateChatParams['source']>): Promise<Branch> {
    const { chat: uri, turnId, kind } = source;
    const session = await this.#session(channel);
    const chat = session.chatAt(uri);
    if (!chat) throw new RequestError(ErrorCode.NotFound, `/source/chat: ${uri} is not a chat of ${channel}`);
    const { activeTurn } = chat.state;
    if (activeTurn?.id === turnId) {
      if (kind === 'fork') throw invalid(`/source/turnId: turn ${turnId} is still running: fork a completed one`);
      const { startedAt, message, responseParts } = activeTurn;
      const running: Turn = { id: turnId, startedAt, message, responseParts, state: 'cancelled' };
      return { source: chat, turnCount: await chat.turnCount(), running };
    }
    const index = await chat.indexOfTurn(turnId);
    if (index === undefined) throw new RequestError(ErrorCode.NotFound, `/source/turnId: ${uri} has no turn ${turnId}`);
    await chat.showTurn(index);
    return { source: chat, turnCount: index + 1 };
  }

  /**
   * Copies the turns that the chat begins with. A fork shows them; those of a side chat are stored under a URI that
   * only the host knows.
   */
  async #copy({ chat: uri, channel, source }: CreateChatParams, { source: from, turnCount, running }: Branch) {
    const { catalogue, log, writer } = this.#options;
    const to = source?.kind === 'fork' ? uri : sideContextUri(uri);
    catalogue.chats.reserve(uri, channel);
    // Archive first: only archived turns can be copied.
    from.session.storeArchive([from]);
    await writer.settled();
    await copyHistory(log, { from: from.uri, to, end: turnCount });
    const turnId = source?.turnId ?? '';
    const found = running ? turnCount : ((await log.findTurn(to, turnId)) ?? -1) + 1;
    const { length: copied } = await log.archivedTurns(to, { start: turnCount - 1, end: turnCount });
    if (found !== turnCount || (turnCount > 0 && copied === 0))
      throw new RequestError(ErrorCode.NotFound, `/source/turnId: turn ${turnId} was cut off meanwhile`);
    if (source?.kind === 'fork') return;
    const items = running ? [{ id: running.id, json: JSON.stringify(running) }] : [];
    writer.storeArchive(to, () => ({ channel: to, head: '{}', turns: { start: turnCount, items } }));
    await writer.settled();
  }

  #firstState(
    session: Session,
    { chat: uri, source, workingDirectories, initialMessage }: CreateChatParams,
    made: CreatedChat,
  ) {
    const { branch, turns } = made;
    const inherited = source?.kind === 'fork' ? branch?.source.state.workingDirectories : workingDirectories;
    const title = titleOf(session, { branch, initialMessage, source });
    const origin: ChatOrigin = source ?? { kind: 'user' };
    const state = newChatState(uri, { title, origin, now: this.#options.clock.now() });
    return { ...state, ...(inherited && { workingDirectories: inherited }), turns: [...turns] };
  }

  #parts(state: ChatState, counts: { readonly base: number; readonly archived: number }): NewChat {
    const { resource } = state;
    const lastTime = Date.parse(state.modifiedAt);
    const channel = new Channel<ChatState>(resource, chatReducer, state, { lastTime });
    return { channel, pages: new TurnPages(this.#options.log, resource, counts) };
  }

  /** Opens a chat for a tool's worker, in this tick. */
  worker(session: Session, { uri, origin, title }: WorkerChat, parts: Partial<NewChat>): Chat {
    const now = this.#options.clock.now();
    const state = newChatState(uri, { title: shorten(title, TITLE_MAX_CHARACTERS), origin, now });
    this.#options.catalogue.chats.set(uri, session.uri);
    const made = this.#parts({ ...state, interactivity: 'read-only' }, { base: 0, archived: 0 });
    return session.adopt({ ...made, ...parts });
  }

  /** Removes a chat, and the chats that its tools opened. */
  async dispose(uri: string): Promise<void> {
    while (this.#reserved.has(uri)) await this.#reserved.settled(uri);
    const { catalogue, memory } = this.#options;
    const owner = catalogue.chats.sessionUriOf(uri);
    const session = owner === undefined ? undefined : await memory.open(owner);
    const chat = session?.chatAt(uri);
    if (!session || !chat) throw new RequestError(ErrorCode.NotFound, `there is no chat ${uri}`);
    if (chat === session.chat)
      throw invalid(
        '/channel: the default chat of a session cannot be removed without its session: use disposeSession',
      );
    await this.#reserved.during(uri, () => this.remove(session, chat));
  }

  async remove(session: Session, chat: Chat): Promise<void> {
    const { writer, watchers, catalogue } = this.#options;
    const gone = withWorkers(session, chat);
    for (const each of gone) {
      session.drop(each);
      catalogue.chats.release(each.uri);
    }
    await writer.settled();
    for (const each of gone) {
      watchers.unsubscribeAll(each.uri);
      each.gone();
      void each.close();
      await this.forgetStored(each.uri);
    }
  }

  /** Forgets everything stored under the URI of a chat that no session lists. */
  async forgetStored(uri: string): Promise<void> {
    const { log, writer, records, catalogue } = this.#options;
    await log.forget(sideContextUri(uri));
    await log.forget(uri);
    records.forget(uri);
    catalogue.chats.forget(uri);
    await writer.settled();
  }

  /** Forgets what a crash left behind. */
  async purge(): Promise<void> {
    const { catalogue, records } = this.#options;
    // Chats of a session whose import is unfinished stay or go with it.
    const coming = new Set((await records.unfinished()).map(({ uri }) => uri));
    for (const [uri, session] of catalogue.chats.loose()) {
      if (!this.#reserved.has(uri) && !coming.has(session))
        await this.#reserved.during(uri, () => this.forgetStored(uri));
    }
  }
}

export interface WorkerChat {
  readonly uri: string;
  readonly origin: ChatOrigin;
  readonly title: string;
}

interface CreatedChat {
  readonly branch: Branch | undefined;
  readonly turns: readonly Turn[];
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}

function checkUri(chat: string): void {
  if (chat.length > CHAT_URI_MAX_CHARACTERS)
    throw invalid(`/chat may have at most ${CHAT_URI_MAX_CHARACTERS} characters`);
  if (channelKind(chat) !== 'chat') throw invalid('/chat must be the URI of a chat: ahp-chat:/<id>');
  if (isReservedChatUri(chat)) throw invalid('/chat: names of this form are for chats that the host opens');
}

function checkAbility(session: Session, { chat, source, workingDirectories = [] }: CreateChatParams): void {
  const ability = session.backend?.info.capabilities?.multipleChats;
  if (!ability) throw invalid('the agent of this session has one chat only');
  checkRoom(session);
  if (source?.chat === chat) throw invalid('/source/chat: a chat cannot be its own source');
  if (source && !ability[source.kind])
    throw invalid(`/source/kind: the agent of this session does not offer ${source.kind}`);
  if (isEmptySelection(source)) throw invalid('/source/selection/text must not be empty');
  if (JSON.stringify(source ?? {}).length > CHOICE_MAX_CHARACTERS)
    throw invalid(`/source may have at most ${CHOICE_MAX_CHARACTERS} characters as JSON`);
  const known = session.state.workingDirectories ?? [];
  const foreign = source?.kind === 'fork' ? undefined : workingDirectories.find((folder) => !known.includes(folder));
  if (foreign !== undefined) throw invalid(`/workingDirectories: ${foreign} is not a folder of this session`);
}

function isEmptySelection(source: CreateChatParams['source']): boolean {
  return source?.kind === 'sideChat' && (source as SideChatSource).selection?.text === '';
}

export function checkRoom({ chats }: Session): void {
  if (chats.length < SESSION_CHATS_MAX) return;
  throw invalid(`a session has ${SESSION_CHATS_MAX} chats at most: dispose one that you do not need any more`);
}

/** The title of a new chat. No action changes it later, so it must have one from the start. */
function titleOf(session: Session, { branch, initialMessage, source }: TitleFacts): string {
  const from = branch && (branch.source.state.title || session.state.title);
  if (source?.kind === 'fork' && from !== undefined) return forkTitle(from);
  const words =
    initialMessage?.text ?? (source?.kind === 'sideChat' ? (source as SideChatSource).selection?.text : undefined);
  const line = words?.replace(/\s+/g, ' ').trim();
  return line ? shorten(line, TITLE_MAX_CHARACTERS) : `Chat ${session.chats.length + 1}`;
}

type TitleFacts = Pick<CreatedChat, 'branch'> & Pick<CreateChatParams, 'initialMessage' | 'source'>;

function newChatState(
  resource: string,
  { title, origin, now }: { readonly title: string; readonly origin: ChatOrigin; readonly now: number },
): ChatState {
  return { resource, title, status: SessionStatus.Idle, modifiedAt: new Date(now).toISOString(), origin, turns: [] };
}

/** A chat, the workers of its tools, and theirs. Each appears once: chats from elsewhere may claim any origin. */
function withWorkers(session: Session, chat: Chat): Chat[] {
  const found = new Set([chat]);
  for (const parent of found) {
    for (const worker of session.chats) if (worker !== session.chat && parentOf(worker) === parent) found.add(worker);
  }
  return [...found].reverse();
}

/** A digest that is equal for requests that ask for the same chat. */
function digestOf({ source, workingDirectories, initialMessage }: CreateChatParams): string {
  const asked = JSON.stringify([source ?? null, workingDirectories ?? null, initialMessage ?? null]);
  return createHash('sha256').update(asked).digest('base64url');
}
