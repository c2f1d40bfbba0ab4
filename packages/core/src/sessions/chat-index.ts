/**
 * Which session a chat belongs to, whether it is in memory or not. The name of a default chat says so itself; clients choose
 * the names of others freely, so each of them has a record in the log. The record is stored in the tick that lists the chat.
 */
import { sessionOfDefaultChat } from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import { jsonText, type Log } from '../log/log.js';

const CHAT = 'chat:';

interface IndexedChat {
  readonly session: string;
  /** Of the request that created it: a client that did not get its answer asks again. */
  readonly request?: string;
  /** What is stored under this name belongs to no session: a copy that was never finished, or a chat that was disposed. */
  readonly isLoose?: true;
}

export class ChatIndex {
  readonly #chats = new Map<string, IndexedChat>();
  readonly #bySession = new Map<string, Set<string>>();

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  async load(): Promise<void> {
    await this.log.eachRecord(CHAT, ({ key, value }) => this.#remember(key.slice(CHAT.length), JSON.parse(value)));
  }

  /** The session that lists a chat; undefined when none does. */
  sessionUriOf(chat: string): string | undefined {
    const session = sessionOfDefaultChat(chat);
    if (session !== undefined) return session;
    const known = this.#chats.get(chat);
    return known?.isLoose ? undefined : known?.session;
  }

  /** The chats of a session beside its default one. */
  chatsOf(session: string): readonly string[] {
    return [...(this.#bySession.get(session) ?? [])].filter((chat) => !this.#chats.get(chat)?.isLoose);
  }

  /** Everything that is stored for a session beside its default chat, also what no session lists. */
  storedFor(session: string): readonly string[] {
    return [...(this.#bySession.get(session) ?? [])];
  }

  /** Whether something is stored under a name, or is about to be, listed or not. */
  has(chat: string): boolean {
    return this.#chats.has(chat);
  }

  /** Of the request that created a chat. */
  requestOf(chat: string): string | undefined {
    return this.#chats.get(chat)?.request;
  }

  /** What is stored and no session lists, with the session that it was meant for. */
  loose(): readonly (readonly [chat: string, session: string])[] {
    return [...this.#chats].flatMap(([chat, { session, isLoose }]) => (isLoose ? [[chat, session] as const] : []));
  }

  /** Whether something is stored under a name, listed or not, for another session. */
  isTakenFrom(chat: string, session: string): boolean {
    const known = this.#chats.get(chat);
    return known !== undefined && (!known.isLoose || known.session !== session);
  }

  /** Notes a chat with this tick. It counts at once: what happens in it in the same tick is shown with its session. */
  set(chat: string, session: string, request?: string): void {
    this.#change(chat, { session, ...(request !== undefined && { request }) });
  }

  /** What is stored under this name from now on belongs to no session, unless one lists it in the end. */
  reserve(chat: string, session: string): void {
    this.#change(chat, { session, isLoose: true });
  }

  /** The chat is listed no more with this tick. It counts until the tick has been shown. */
  release(chat: string): void {
    const known = this.#chats.get(chat);
    if (!known) return;
    const loose: IndexedChat = { session: known.session, isLoose: true };
    this.writer.record({ key: CHAT + chat, value: jsonText(loose) });
    this.writer.afterCommit(() => this.#remember(chat, loose));
  }

  /** Nothing of it is stored any more. */
  forget(chat: string): void {
    this.writer.record({ key: CHAT + chat, value: null });
    this.#drop(chat);
  }

  #change(chat: string, next: IndexedChat): void {
    const before = this.#chats.get(chat);
    this.writer.record({ key: CHAT + chat, value: jsonText(next) });
    this.#remember(chat, next);
    this.writer.afterFailure(() => (before ? this.#remember(chat, before) : this.#drop(chat)));
  }

  #remember(chat: string, indexed: IndexedChat): void {
    this.#chats.set(chat, indexed);
    const { session } = indexed;
    const chats = this.#bySession.get(session) ?? new Set();
    this.#bySession.set(session, chats.add(chat));
  }

  #drop(chat: string): void {
    const session = this.#chats.get(chat)?.session;
    this.#chats.delete(chat);
    if (session === undefined) return;
    const chats = this.#bySession.get(session);
    chats?.delete(chat);
    if (chats?.size === 0) this.#bySession.delete(session);
  }
}
